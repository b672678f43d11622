import type { ResourceClient } from './client.js'
import { ErrorGuias } from './errors.js'
import type {
  AvisoDeWebhook,
  AvisoDeWebhookConIntentos,
  CodigoDeAvisoDeWebhook,
  CodigoDeWebhook,
  RecuperacionParaCrear as ContractRecuperacionParaCrear,
  EnsayoDeRecuperacion,
  ListarAvisosDeWebhookData,
  ListarWebhooksData,
  PaginaDeAvisosDeWebhook,
  PaginaDeWebhooks,
  Recuperacion,
  RotacionDeSecreto,
  Webhook,
  WebhookConSecreto,
  WebhookParaCambiar,
  WebhookParaCrear,
} from './generated/types.gen.js'
import type { ConFechas, OpcionesConClave, OpcionesDeSolicitud } from './options.js'
import type { Listado } from './pages.js'
import { Solicitud } from './request.js'
import { isAvisoDeWebhook, isNothing, isRecovery, isRehearsal, isWebhook, isWebhookWithSecreto } from './shapes.js'

/** Filtros de la lista de webhooks: el cursor y el tamaño de la página. */
export type FiltrosDeWebhooks = NonNullable<ListarWebhooksData['query']>

/** Filtros de los avisos de un webhook, con el cursor y el tamaño de la página. */
export type FiltrosDeAvisosDeWebhook = NonNullable<ListarAvisosDeWebhookData['query']>

/** Datos de una recuperación: desde cuándo se vuelven a enviar los eventos a un webhook, y cuáles. */
// Sending and counting are two methods, because with `ensayo` among the data, the type of the answer would depend on a
// value.
export interface RecuperacionParaCrear extends ConFechas<Omit<ContractRecuperacionParaCrear, 'ensayo'>> {
  /** Miembro que no se usa aquí: para contar sin enviar nada, llame a `ensayarRecuperacion`. */
  ensayo?: never
}

/**
 * Sus webhooks: la dirección que recibe cada evento y el resultado de cada envío. La llave necesita el alcance
 * `webhooks:admin`.
 */
export class RecursoWebhooks {
  readonly #request: ResourceClient['request']
  readonly #list: ResourceClient['listar']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ request, listar }: ResourceClient) {
    this.#request = request
    this.#list = listar
  }

  /**
   * Registra una dirección para recibir los eventos del modo de esta llave. Sin `tipos`, recibe todos.
   *
   * **Guarde `secreto`**: con él se comprueba cada envío (`verificarWebhook`), y solo se muestra aquí. Si se pierde la
   * respuesta, el SDK repite la solicitud con la misma clave, y recibe el mismo webhook y el mismo secreto.
   * Pasadas 24 horas, pida otro secreto con `rotarSecreto`.
   *
   * ```ts
   * const { webhook, secreto } = await api.webhooks.crear({
   *   url: 'https://tienda.ejemplo.com/guias/eventos',
   *   tipos: ['guia.*', 'ubicacion.confirmada'],
   * })
   * ```
   */
  crear(webhook: WebhookParaCrear, opciones?: OpcionesConClave): Solicitud<WebhookConSecreto> {
    return this.#request('POST /webhooks', { body: webhook }, opciones, isWebhookWithSecreto)
  }

  /**
   * Lista sus webhooks, del más antiguo al más reciente, sin sus secretos. Con `await` da una página; con `for await`,
   * todos.
   */
  listar(filtros: FiltrosDeWebhooks = {}, opciones?: OpcionesDeSolicitud): Listado<Webhook, PaginaDeWebhooks> {
    return this.#list('GET /webhooks', { query: filtros }, opciones)
  }

  /** Da el webhook: su dirección, su estado, cómo van sus envíos y qué versiones del secreto firman. */
  obtener(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#request('GET /webhooks/{webhook}', { path: { webhook } }, opciones, isWebhook)
  }

  /**
   * Cambia la dirección, los tipos, la descripción o el estado de un webhook; lo demás queda como está.
   *
   * `{ estado: 'pausado' }` deja de enviar y guarda los eventos. `{ estado: 'activo' }` los envía, y también reactiva
   * un webhook `deshabilitado`. Pida con `recuperar` los eventos que perdió mientras tanto.
   */
  cambiar(webhook: CodigoDeWebhook, cambios: WebhookParaCambiar, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#request('PATCH /webhooks/{webhook}', { path: { webhook }, body: cambios }, opciones, isWebhook)
  }

  /** Elimina un webhook: deja de enviarle, y borra sus avisos y sus secretos. La eliminación no se puede deshacer. */
  eliminar(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<void> {
    return this.#request('DELETE /webhooks/{webhook}', { path: { webhook } }, opciones, isNothing)
  }

  /**
   * Crea un secreto nuevo del webhook, que se muestra **solo en esta respuesta**. Durante `solapamiento_horas` (24 si
   * falta), cada envío lleva las dos firmas: cambie el secreto en su servidor sin perder ningún envío. Cada llamada
   * crea otro secreto, menos la que repite una `claveDeIdempotencia`.
   */
  rotarSecreto(
    webhook: CodigoDeWebhook,
    rotacion?: RotacionDeSecreto,
    opciones?: OpcionesConClave,
  ): Solicitud<WebhookConSecreto> {
    return this.#request(
      'POST /webhooks/{webhook}/rotar-secreto',
      { path: { webhook }, body: rotacion },
      opciones,
      isWebhookWithSecreto,
    )
  }

  /**
   * Envía al webhook un `webhook.prueba` firmado, una sola vez, también si el webhook está pausado o deshabilitado.
   * Devuelve el aviso antes de que salga. Pídalo después, con `obtenerAviso`, para ver qué
   * contestó su servidor.
   */
  probar(webhook: CodigoDeWebhook, opciones?: OpcionesConClave): Solicitud<AvisoDeWebhook> {
    return this.#request('POST /webhooks/{webhook}/probar', { path: { webhook } }, opciones, isAvisoDeWebhook)
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
    opciones?: OpcionesConClave,
  ): Solicitud<Recuperacion> {
    // Without TypeScript, a caller may still ask for a rehearsal here. The request must not be sent for real, and its
    // answer would have another type.
    if (recuperacion?.ensayo) return new Solicitud(Promise.reject(new ErrorGuias(REHEARSAL_HINT)))
    const datos = { path: { webhook }, body: recuperacion }
    return this.#request('POST /webhooks/{webhook}/recuperar', datos, opciones, isRecovery)
  }

  /** Cuenta lo que enviaría `recuperar` con los mismos datos, sin enviar nada. */
  ensayarRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EnsayoDeRecuperacion> {
    const datos = { path: { webhook }, body: { ...recuperacion, ensayo: true } }
    return this.#request('POST /webhooks/{webhook}/recuperar', datos, opciones, isRehearsal)
  }

  /** Da el avance de una recuperación de un webhook. */
  obtenerRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: string,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    return this.#request(
      'GET /webhooks/{webhook}/recuperaciones/{recuperacion}',
      { path: { webhook, recuperacion } },
      opciones,
      isRecovery,
    )
  }

  /**
   * Lista los avisos de un webhook, enviados o por enviar, del más reciente al más antiguo. Con `await` da una
   * página; con `for await`, todos. Los avisos terminados se guardan 90 días.
   *
   * ```ts
   * const avisos = api.webhooks.avisos(webhook, { estado: 'fallido' })
   * for await (const { aviso, ultimo_error } of avisos) console.log(aviso, ultimo_error)
   * ```
   */
  avisos(
    webhook: CodigoDeWebhook,
    filtros: FiltrosDeAvisosDeWebhook = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<AvisoDeWebhook, PaginaDeAvisosDeWebhook> {
    return this.#list('GET /webhooks/{webhook}/avisos', { path: { webhook }, query: filtros }, opciones)
  }

  /**
   * Da un aviso de un webhook, con el cuerpo que se firma y con cada intento: qué contestó su servidor y cuánto
   * tardó cada fase.
   */
  obtenerAviso(
    webhook: CodigoDeWebhook,
    aviso: CodigoDeAvisoDeWebhook,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<AvisoDeWebhookConIntentos> {
    return this.#request(
      'GET /webhooks/{webhook}/avisos/{aviso}',
      { path: { webhook, aviso } },
      opciones,
      isAvisoDeWebhook,
    )
  }

  /**
   * Envía otra vez el mismo evento, ahora, aunque su servidor ya lo haya recibido o el webhook esté pausado. El envío
   * lleva el mismo `webhook-id`, así que su servidor puede reconocerlo.
   */
  reenviar(
    webhook: CodigoDeWebhook,
    aviso: CodigoDeAvisoDeWebhook,
    opciones?: OpcionesConClave,
  ): Solicitud<AvisoDeWebhook> {
    return this.#request(
      'POST /webhooks/{webhook}/avisos/{aviso}/reenviar',
      { path: { webhook, aviso } },
      opciones,
      isAvisoDeWebhook,
    )
  }
}

const REHEARSAL_HINT = 'Para contar sin enviar nada use api.webhooks.ensayarRecuperacion.'
