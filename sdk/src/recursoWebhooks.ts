import type { Cliente } from './cliente.js'
import { ErrorGuias } from './errores.js'
import { esEnsayo, esEntregaDeWebhook, esNada, esRecuperacion, esWebhook, esWebhookConSecreto } from './formas.js'
import type {
  CodigoDeEntregaDeWebhook,
  CodigoDeWebhook,
  EnsayoDeRecuperacion,
  EntregaDeWebhook,
  EntregaDeWebhookConIntentos,
  ListarEntregasDeWebhookData,
  ListarWebhooksData,
  PaginaDeEntregasDeWebhook,
  PaginaDeWebhooks,
  Recuperacion,
  RecuperacionParaCrear as RecuperacionDelContrato,
  RotacionDeSecreto,
  Webhook,
  WebhookConSecreto,
  WebhookParaCambiar,
  WebhookParaCrear,
} from './generado/types.gen.js'
import { claveDe, type OpcionesConClave, type OpcionesDeSolicitud } from './opciones.js'
import type { Listado } from './paginas.js'
import { Solicitud } from './solicitud.js'

/** Filtros de la lista de webhooks: el cursor y el tamaño de la página. */
export type FiltrosDeWebhooks = NonNullable<ListarWebhooksData['query']>

/** Filtros de las entregas de un webhook, con el cursor y el tamaño de la página. */
export type FiltrosDeEntregasDeWebhook = NonNullable<ListarEntregasDeWebhookData['query']>

/** Datos de una recuperación: desde cuándo se vuelven a enviar los eventos a un webhook, y cuáles. */
// Sending and counting are two methods, because with `ensayo` among the data, the type of the answer would depend on a
// value.
export interface RecuperacionParaCrear extends Omit<RecuperacionDelContrato, 'ensayo'> {
  /** Miembro que no se usa aquí: para contar sin enviar nada, llame a `ensayarRecuperacion`. */
  ensayo?: never
}

/**
 * Sus webhooks: la dirección que recibe cada evento y el resultado de cada envío. La llave necesita el alcance
 * `webhooks:admin`.
 */
export class RecursoWebhooks {
  readonly #pedir: Cliente['pedir']
  readonly #listar: Cliente['listar']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ pedir, listar }: Cliente) {
    this.#pedir = pedir
    this.#listar = listar
  }

  /**
   * Registra una dirección para recibir los eventos del modo de esta llave. Sin `tipos`, recibe todos.
   *
   * **Guarde `secreto`**: con él se comprueba cada envío (`verificarWebhook`), y solo se muestra aquí. Si se pierde la
   * respuesta, el SDK repite la solicitud con la misma `idempotencia`, y recibe el mismo webhook y el mismo secreto.
   * Pasadas 24 horas, pida otro secreto con `rotarSecreto`.
   *
   * ```ts
   * const { webhook, secreto } = await api.webhooks.crear({
   *   url: 'https://tienda.ejemplo.com/guias/eventos',
   *   tipos: ['guia.*', 'ubicacion.confirmada'],
   * })
   * ```
   */
  crear(webhook: WebhookParaCrear, opciones?: OpcionesDeSolicitud): Solicitud<WebhookConSecreto> {
    return this.#pedir('POST /webhooks', { body: webhook }, opciones, esWebhookConSecreto)
  }

  /**
   * Lista sus webhooks, del más antiguo al más reciente, sin sus secretos. Con `await` da una página; con `for await`,
   * todos.
   */
  listar(filtros: FiltrosDeWebhooks = {}, opciones?: OpcionesDeSolicitud): Listado<Webhook, PaginaDeWebhooks> {
    return this.#listar('GET /webhooks', { query: filtros }, opciones)
  }

  /** Da el webhook: su dirección, su estado, cómo van sus envíos y qué versiones del secreto firman. */
  obtener(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#pedir('GET /webhooks/{webhook}', { path: { webhook } }, opciones, esWebhook)
  }

  /**
   * Cambia la dirección, los tipos, la descripción o el estado de un webhook; lo demás queda como está.
   *
   * `{ estado: 'pausado' }` deja de enviar y guarda los eventos. `{ estado: 'activo' }` los envía, y también reactiva
   * un webhook `deshabilitado`. Pida con `recuperar` los eventos que perdió mientras tanto.
   */
  cambiar(webhook: CodigoDeWebhook, cambios: WebhookParaCambiar, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#pedir('PATCH /webhooks/{webhook}', { path: { webhook }, body: cambios }, opciones, esWebhook)
  }

  /** Elimina un webhook: deja de enviarle, y borra sus entregas y sus secretos. La eliminación no se puede deshacer. */
  eliminar(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<void> {
    return this.#pedir('DELETE /webhooks/{webhook}', { path: { webhook } }, opciones, esNada)
  }

  /**
   * Crea un secreto nuevo del webhook, que se muestra **solo en esta respuesta**. Durante `solapamiento_horas` (24 si
   * falta), cada envío lleva las dos firmas: cambie el secreto en su servidor sin perder ningún envío. Cada llamada
   * crea otro secreto, menos la que repite una `idempotencia`.
   */
  rotarSecreto(
    webhook: CodigoDeWebhook,
    rotacion?: RotacionDeSecreto,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<WebhookConSecreto> {
    return this.#pedir(
      'POST /webhooks/{webhook}/rotar-secreto',
      { path: { webhook }, body: rotacion },
      opciones,
      esWebhookConSecreto,
    )
  }

  /**
   * Envía al webhook un `webhook.prueba` firmado, una sola vez, también si el webhook está pausado o deshabilitado.
   * Devuelve la entrega antes de que el aviso salga. Pida la entrega después, con `obtenerEntrega`, para ver qué
   * contestó su servidor.
   */
  probar(webhook: CodigoDeWebhook, opciones?: OpcionesConClave): Solicitud<EntregaDeWebhook> {
    return this.#pedir(
      'POST /webhooks/{webhook}/probar',
      { path: { webhook }, body: claveDe(opciones) },
      opciones,
      esEntregaDeWebhook,
    )
  }

  /**
   * Vuelve a enviar los eventos registrados desde una fecha que este webhook no recibió, primero los más antiguos. Con
   * `todas`, envía también los que recibió. Es un trabajo del servicio, que sigue solo: mire su avance con
   * `obtenerRecuperacion`. Cada webhook admite un trabajo a la vez.
   *
   * ```ts
   * const desde = new Date(Date.now() - 6 * 60 * 60 * 1000).toISOString()
   * const { recuperacion } = await api.webhooks.recuperar(webhook, { desde })
   * ```
   */
  recuperar(
    webhook: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    // Without TypeScript, a caller may still ask for a rehearsal here. The request must not be sent for real, and its
    // answer would have another type.
    if (recuperacion?.ensayo) return new Solicitud(Promise.reject(new ErrorGuias(ENSAYO)))
    const datos = { path: { webhook }, body: recuperacion }
    return this.#pedir('POST /webhooks/{webhook}/recuperar', datos, opciones, esRecuperacion)
  }

  /** Cuenta lo que enviaría `recuperar` con los mismos datos, sin enviar nada. */
  ensayarRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EnsayoDeRecuperacion> {
    const datos = { path: { webhook }, body: { ...recuperacion, ensayo: true } }
    return this.#pedir('POST /webhooks/{webhook}/recuperar', datos, opciones, esEnsayo)
  }

  /** Da el avance de una recuperación de un webhook. */
  obtenerRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: string,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    return this.#pedir(
      'GET /webhooks/{webhook}/recuperaciones/{recuperacion}',
      { path: { webhook, recuperacion } },
      opciones,
      esRecuperacion,
    )
  }

  /**
   * Lista las entregas de un webhook, enviadas o por enviar, de la más reciente a la más antigua. Con `await` da una
   * página; con `for await`, todas. Las entregas terminadas se guardan 90 días.
   *
   * ```ts
   * const entregas = api.webhooks.entregas(webhook, { estado: 'fallida' })
   * for await (const { entrega, ultimo_error } of entregas) console.log(entrega, ultimo_error)
   * ```
   */
  entregas(
    webhook: CodigoDeWebhook,
    filtros: FiltrosDeEntregasDeWebhook = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<EntregaDeWebhook, PaginaDeEntregasDeWebhook> {
    return this.#listar('GET /webhooks/{webhook}/entregas', { path: { webhook }, query: filtros }, opciones)
  }

  /**
   * Da una entrega de un webhook, con el cuerpo que se firma y con cada intento: qué contestó su servidor y cuánto
   * tardó cada fase.
   */
  obtenerEntrega(
    webhook: CodigoDeWebhook,
    entrega: CodigoDeEntregaDeWebhook,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EntregaDeWebhookConIntentos> {
    return this.#pedir(
      'GET /webhooks/{webhook}/entregas/{entrega}',
      { path: { webhook, entrega } },
      opciones,
      esEntregaDeWebhook,
    )
  }

  /**
   * Envía otra vez el mismo evento, ahora, aunque su servidor ya lo haya recibido o el webhook esté pausado. El envío
   * lleva el mismo `webhook-id`, así que su servidor puede reconocerlo.
   */
  reenviar(
    webhook: CodigoDeWebhook,
    entrega: CodigoDeEntregaDeWebhook,
    opciones?: OpcionesConClave,
  ): Solicitud<EntregaDeWebhook> {
    return this.#pedir(
      'POST /webhooks/{webhook}/entregas/{entrega}/reenviar',
      { path: { webhook, entrega }, body: claveDe(opciones) },
      opciones,
      esEntregaDeWebhook,
    )
  }
}

const ENSAYO = 'Para contar sin enviar nada use api.webhooks.ensayarRecuperacion.'
