import { ErrorGuias } from './errores.js'
import { esEnsayo, esEntrega, esNada, esPagina, esRecuperacion, esWebhook, esWebhookConSecreto } from './formas.js'
import {
  cambiarWebhook,
  crearWebhook,
  eliminarWebhook,
  listarEntregas,
  listarWebhooks,
  obtenerEntrega,
  obtenerRecuperacion,
  obtenerWebhook,
  probarWebhook,
  recuperarEntregas,
  reenviarEntrega,
  rotarSecreto,
} from './generado/sdk.gen.js'
import type {
  CodigoDeEntrega,
  CodigoDeWebhook,
  EnsayoDeRecuperacion,
  Entrega,
  EntregaConIntentos,
  ListarEntregasData,
  ListarWebhooksData,
  PaginaDeEntregas,
  PaginaDeWebhooks,
  Recuperacion,
  RecuperacionParaCrear as RecuperacionDelContrato,
  RotacionDeSecreto,
  Webhook,
  WebhookConSecreto,
  WebhookParaCambiar,
  WebhookParaCrear,
} from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import { Listado } from './paginas.js'
import { revisar } from './rutas.js'
import { Solicitud } from './solicitud.js'
import { cuerpo, type Enviar } from './transporte.js'

/** Desde dónde y de cuántos en cuántos se listan los webhooks. */
export type FiltrosDeWebhooks = NonNullable<ListarWebhooksData['query']>

/** Qué entregas se listan, desde dónde y de cuántas en cuántas. */
export type FiltrosDeEntregas = NonNullable<ListarEntregasData['query']>

/** Desde cuándo, y qué, volver a enviar. */
// Sending and counting are two methods here: with `ensayo` among the data, the type of the answer would hang on a value.
export interface RecuperacionParaCrear extends Omit<RecuperacionDelContrato, 'ensayo'> {
  /** Para contar sin enviar nada, use `ensayarRecuperacion`. */
  ensayo?: never
}

/** Sus webhooks: adónde se envía cada evento, y qué fue de cada envío. La llave necesita el alcance `webhooks:admin`. */
export class RecursoWebhooks {
  readonly #enviar: Enviar

  /** @internal */
  constructor(enviar: Enviar) {
    this.#enviar = enviar
  }

  /**
   * Registra una dirección para recibir los eventos del modo de esta llave. Sin `tipos`, todos.
   *
   * **Guarde `secreto`**: con él se comprueba cada envío (`verificarWebhook`), y solo se muestra aquí. Si se pierde la
   * respuesta, busque el webhook con `listar()` y pida otro secreto con `rotarSecreto`.
   *
   * ```ts
   * const { id, secreto } = await api.webhooks.crear({
   *   url: 'https://tienda.ejemplo.com/guias/eventos',
   *   tipos: ['guia.*', 'ubicacion.confirmada'],
   * })
   * ```
   */
  crear(webhook: WebhookParaCrear, opciones?: OpcionesDeSolicitud): Solicitud<WebhookConSecreto> {
    return new Solicitud(
      this.#enviar(esWebhookConSecreto, (comunes) => crearWebhook({ ...comunes, ...cuerpo(webhook) }), opciones),
    )
  }

  /** Sus webhooks, del más antiguo al más reciente, sin sus secretos. Con `await`, una página; con `for await`, todos. */
  listar(filtros: FiltrosDeWebhooks = {}, opciones?: OpcionesDeSolicitud): Listado<Webhook, PaginaDeWebhooks> {
    const query = { ...filtros }
    return new Listado<Webhook, PaginaDeWebhooks>(query.cursor, (cursor) =>
      this.#enviar(
        esPagina<PaginaDeWebhooks>,
        (comunes) => listarWebhooks({ ...comunes, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } }),
        opciones,
      ),
    )
  }

  /** El webhook, su estado, cómo van sus envíos y con qué versiones del secreto se firma. */
  obtener(id: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return new Solicitud(
      this.#enviar(esWebhook, (comunes) => obtenerWebhook({ ...comunes, path: deWebhook(id) }), opciones),
    )
  }

  /**
   * Cambia la dirección, los tipos, la descripción o el estado; lo demás queda como está.
   *
   * `{ estado: 'pausado' }` deja de enviar y guarda los eventos; `{ estado: 'activo' }` los envía. También reactiva uno
   * `deshabilitado`; lo que se perdió mientras tanto se pide con `recuperar`.
   */
  cambiar(id: CodigoDeWebhook, cambios: WebhookParaCambiar, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return new Solicitud(
      this.#enviar(
        esWebhook,
        (comunes) => cambiarWebhook({ ...comunes, path: deWebhook(id), ...cuerpo(cambios) }),
        opciones,
      ),
    )
  }

  /** Deja de enviarle y borra sus entregas y sus secretos. No se puede deshacer. */
  eliminar(id: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<void> {
    return new Solicitud(
      this.#enviar(esNada, (comunes) => eliminarWebhook({ ...comunes, path: deWebhook(id) }), opciones),
    )
  }

  /**
   * Crea un secreto nuevo, que se muestra **solo en esta respuesta**. Durante `solapamiento_horas` (24 si falta) cada
   * envío lleva las dos firmas: cambie el secreto en su servidor sin perder ninguno. Cada llamada crea otro.
   */
  rotarSecreto(
    id: CodigoDeWebhook,
    rotacion?: RotacionDeSecreto,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<WebhookConSecreto> {
    return new Solicitud(
      this.#enviar(
        esWebhookConSecreto,
        (comunes) => rotarSecreto({ ...comunes, path: deWebhook(id), ...(rotacion ? cuerpo(rotacion) : {}) }),
        opciones,
      ),
    )
  }

  /**
   * Envía un `webhook.prueba` firmado, una sola vez, también si el webhook está pausado o deshabilitado. Devuelve la
   * entrega, por salir: pídala después con `obtenerEntrega` para ver qué contestó su servidor.
   */
  probar(id: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<Entrega> {
    return new Solicitud(
      this.#enviar(esEntrega<Entrega>, (comunes) => probarWebhook({ ...comunes, path: deWebhook(id) }), opciones),
    )
  }

  /**
   * Vuelve a enviar los eventos registrados desde una fecha que este webhook no recibió, lo más antiguo primero; con
   * `todas`, también los que recibió. Es un trabajo: siga su avance con `obtenerRecuperacion`. Uno a la vez por webhook.
   *
   * ```ts
   * const { id } = await api.webhooks.recuperar(webhook, { desde: '2026-11-20T15:00:00Z' })
   * ```
   */
  recuperar(
    id: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    return new Solicitud(
      this.#enviar(
        esRecuperacion,
        (comunes) => recuperarEntregas({ ...comunes, path: deWebhook(id), ...cuerpo(sinEnsayo(recuperacion)) }),
        opciones,
      ),
    )
  }

  /** Cuánto enviaría `recuperar` con los mismos datos; no envía nada. */
  ensayarRecuperacion(
    id: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EnsayoDeRecuperacion> {
    return new Solicitud(
      this.#enviar(
        esEnsayo,
        (comunes) =>
          recuperarEntregas({ ...comunes, path: deWebhook(id), ...cuerpo({ ...recuperacion, ensayo: true }) }),
        opciones,
        true,
      ),
    )
  }

  /** Por dónde va una recuperación. */
  obtenerRecuperacion(
    id: CodigoDeWebhook,
    recuperacion: string,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    return new Solicitud(
      this.#enviar(
        esRecuperacion,
        (comunes) =>
          obtenerRecuperacion({
            ...comunes,
            path: {
              ...deWebhook(id),
              recuperacion: revisar(recuperacion, 'identificador de la recuperación', 'rec_9W2KQ8WZ1MTA'),
            },
          }),
        opciones,
      ),
    )
  }

  /**
   * Lo que se envió o se va a enviar a un webhook, de lo más reciente a lo más antiguo. Con `await`, una página; con
   * `for await`, todo. Las terminadas se guardan 90 días.
   *
   * ```ts
   * for await (const { id, ultimo_error } of api.webhooks.entregas(webhook, { estado: 'fallida' })) console.log(id, ultimo_error)
   * ```
   */
  entregas(
    id: CodigoDeWebhook,
    filtros: FiltrosDeEntregas = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<Entrega, PaginaDeEntregas> {
    const query = { ...filtros }
    return new Listado<Entrega, PaginaDeEntregas>(query.cursor, (cursor) =>
      this.#enviar(
        esPagina<PaginaDeEntregas>,
        (comunes) =>
          listarEntregas({
            ...comunes,
            path: deWebhook(id),
            query: { ...query, ...(cursor === undefined ? {} : { cursor }) },
          }),
        opciones,
      ),
    )
  }

  /** La entrega, el cuerpo que se firma y cada intento: qué contestó su servidor y cuánto tardó cada fase. */
  obtenerEntrega(
    id: CodigoDeWebhook,
    entrega: CodigoDeEntrega,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EntregaConIntentos> {
    return new Solicitud(
      this.#enviar(
        esEntrega<EntregaConIntentos>,
        (comunes) => obtenerEntrega({ ...comunes, path: deEntrega(id, entrega) }),
        opciones,
      ),
    )
  }

  /**
   * Envía otra vez el mismo evento, ahora, también si ya se había entregado o el webhook está pausado. Lleva el mismo
   * `webhook-id`, así que su servidor puede reconocerlo.
   */
  reenviar(id: CodigoDeWebhook, entrega: CodigoDeEntrega, opciones?: OpcionesDeSolicitud): Solicitud<Entrega> {
    return new Solicitud(
      this.#enviar(
        esEntrega<Entrega>,
        (comunes) => reenviarEntrega({ ...comunes, path: deEntrega(id, entrega) }),
        opciones,
      ),
    )
  }
}

const deWebhook = (id: unknown) => ({ webhook: revisar(id, 'identificador del webhook', 'wh_4T8WQ2ZK7NHB') })

const deEntrega = (id: unknown, entrega: unknown) => ({
  ...deWebhook(id),
  entrega: revisar(entrega, 'identificador de la entrega', 'ent_4T8WQ2ZK7NHB_7K3M9QX2A1B4_1'),
})

/** Who writes JavaScript may ask for a rehearsal here: it must neither be sent for real nor come back as another type. */
function sinEnsayo(recuperacion: RecuperacionDelContrato): RecuperacionDelContrato {
  if (!recuperacion?.ensayo) return recuperacion
  throw new ErrorGuias('Para contar sin enviar nada use api.webhooks.ensayarRecuperacion(id, { desde }).')
}
