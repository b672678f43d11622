import type { Cliente } from './cliente.js'
import { ErrorGuias } from './errores.js'
import { esEnsayo, esRecuperacion } from './formas.js'
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
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Listado } from './paginas.js'
import { Solicitud } from './solicitud.js'

/** Desde dónde y de cuántos en cuántos se listan los webhooks. */
export type FiltrosDeWebhooks = NonNullable<ListarWebhooksData['query']>

/** Qué entregas de un webhook se listan, desde dónde y de cuántas en cuántas. */
export type FiltrosDeEntregasDeWebhook = NonNullable<ListarEntregasDeWebhookData['query']>

/** Desde cuándo se vuelven a enviar los eventos a un webhook, y cuáles. */
// Sending and counting are two methods here: with `ensayo` among the data, the type of the answer would hang on a value.
export interface RecuperacionParaCrear extends Omit<RecuperacionDelContrato, 'ensayo'> {
  /** Un ensayo no se pide aquí: para contar sin enviar nada, use `ensayarRecuperacion`. */
  ensayo?: never
}

/**
 * Sus webhooks: adónde se envía cada evento, y qué fue de cada envío. La llave necesita el alcance `webhooks:admin`.
 */
export class RecursoWebhooks {
  readonly #pedir: Cliente['pedir']
  readonly #listar: Cliente['listar']

  /** @internal */
  constructor({ pedir, listar }: Cliente) {
    this.#pedir = pedir
    this.#listar = listar
  }

  /**
   * Registra una dirección para recibir los eventos del modo de esta llave. Sin `tipos`, todos.
   *
   * **Guarde `secreto`**: con él se comprueba cada envío (`verificarWebhook`), y solo se muestra aquí. Si se pierde la
   * respuesta, busque el webhook con `listar()` y pida otro secreto con `rotarSecreto`.
   *
   * ```ts
   * const { webhook, secreto } = await api.webhooks.crear({
   *   url: 'https://tienda.ejemplo.com/guias/eventos',
   *   tipos: ['guia.*', 'ubicacion.confirmada'],
   * })
   * ```
   */
  crear(webhook: WebhookParaCrear, opciones?: OpcionesDeSolicitud): Solicitud<WebhookConSecreto> {
    return this.#pedir('crearWebhook', { body: webhook }, opciones)
  }

  /**
   * Sus webhooks, del más antiguo al más reciente, sin sus secretos. Con `await`, una página; con `for await`, todos.
   */
  listar(filtros: FiltrosDeWebhooks = {}, opciones?: OpcionesDeSolicitud): Listado<Webhook, PaginaDeWebhooks> {
    return this.#listar('listarWebhooks', { query: filtros }, opciones)
  }

  /** Da el webhook: su dirección, su estado, cómo van sus envíos y con qué versiones del secreto se firma. */
  obtener(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#pedir('obtenerWebhook', { path: { webhook } }, opciones)
  }

  /**
   * Cambia la dirección, los tipos, la descripción o el estado de un webhook; lo demás queda como está.
   *
   * `{ estado: 'pausado' }` deja de enviar y guarda los eventos; `{ estado: 'activo' }` los envía. También reactiva uno
   * `deshabilitado`; lo que se perdió mientras tanto se pide con `recuperar`.
   */
  cambiar(webhook: CodigoDeWebhook, cambios: WebhookParaCambiar, opciones?: OpcionesDeSolicitud): Solicitud<Webhook> {
    return this.#pedir('cambiarWebhook', { path: { webhook }, body: cambios }, opciones)
  }

  /** Elimina un webhook: deja de enviarle, y borra sus entregas y sus secretos. No se puede deshacer. */
  eliminar(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<void> {
    return this.#pedir('eliminarWebhook', { path: { webhook } }, opciones)
  }

  /**
   * Crea un secreto nuevo del webhook, que se muestra **solo en esta respuesta**. Durante `solapamiento_horas` (24 si falta) cada
   * envío lleva las dos firmas: cambie el secreto en su servidor sin perder ninguno. Cada llamada crea otro.
   */
  rotarSecreto(
    webhook: CodigoDeWebhook,
    rotacion?: RotacionDeSecreto,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<WebhookConSecreto> {
    return this.#pedir('rotarSecreto', { path: { webhook }, body: rotacion }, opciones)
  }

  /**
   * Envía al webhook un `webhook.prueba` firmado, una sola vez, también si el webhook está pausado o deshabilitado. Devuelve la
   * entrega del aviso, por salir: pídala después con `obtenerEntrega` para ver qué contestó su servidor.
   */
  probar(webhook: CodigoDeWebhook, opciones?: OpcionesDeSolicitud): Solicitud<EntregaDeWebhook> {
    return this.#pedir('probarWebhook', { path: { webhook } }, opciones)
  }

  /**
   * Vuelve a enviar los eventos registrados desde una fecha que este webhook no recibió, lo más antiguo primero; con
   * `todas`, también los que recibió. Es un trabajo: siga su avance con `obtenerRecuperacion`. Uno a la vez por webhook.
   *
   * ```ts
   * const { recuperacion } = await api.webhooks.recuperar(webhook, { desde: '2026-11-20T15:00:00Z' })
   * ```
   */
  recuperar(
    webhook: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    // Who writes JavaScript may ask for a rehearsal here: it must neither be sent for real nor come back as another type.
    if (recuperacion?.ensayo) return new Solicitud(Promise.reject(new ErrorGuias(ENSAYO)))
    const datos = { path: { webhook }, body: recuperacion }
    return this.#pedir('recuperarEntregasDeWebhook', datos, opciones, esRecuperacion)
  }

  /** Cuenta cuánto enviaría `recuperar` con los mismos datos, sin enviar nada. */
  ensayarRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: RecuperacionParaCrear,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EnsayoDeRecuperacion> {
    const datos = { path: { webhook }, body: { ...recuperacion, ensayo: true } }
    return this.#pedir('recuperarEntregasDeWebhook', datos, opciones, esEnsayo)
  }

  /** Dice por dónde va una recuperación de un webhook. */
  obtenerRecuperacion(
    webhook: CodigoDeWebhook,
    recuperacion: string,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Recuperacion> {
    return this.#pedir('obtenerRecuperacion', { path: { webhook, recuperacion } }, opciones)
  }

  /**
   * Lo que se envió o se va a enviar a un webhook, de lo más reciente a lo más antiguo. Con `await`, una página; con
   * `for await`, todo. Las terminadas se guardan 90 días.
   *
   * ```ts
   * for await (const { entrega, ultimo_error } of api.webhooks.entregas(webhook, { estado: 'fallida' })) console.log(entrega, ultimo_error)
   * ```
   */
  entregas(
    webhook: CodigoDeWebhook,
    filtros: FiltrosDeEntregasDeWebhook = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<EntregaDeWebhook, PaginaDeEntregasDeWebhook> {
    return this.#listar('listarEntregasDeWebhook', { path: { webhook }, query: filtros }, opciones)
  }

  /**
   * Da una entrega de un webhook, el cuerpo que se firma y cada intento: qué contestó su servidor y cuánto tardó cada
   * fase.
   */
  obtenerEntrega(
    webhook: CodigoDeWebhook,
    entrega: CodigoDeEntregaDeWebhook,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EntregaDeWebhookConIntentos> {
    return this.#pedir('obtenerEntregaDeWebhook', { path: { webhook, entrega } }, opciones)
  }

  /**
   * Envía otra vez el mismo evento, ahora, también si su servidor ya lo había recibido o el webhook está pausado. Lleva el mismo
   * `webhook-id`, así que su servidor puede reconocerlo.
   */
  reenviar(
    webhook: CodigoDeWebhook,
    entrega: CodigoDeEntregaDeWebhook,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<EntregaDeWebhook> {
    return this.#pedir('reenviarEntregaDeWebhook', { path: { webhook, entrega } }, opciones)
  }
}

const ENSAYO = 'Para contar sin enviar nada use api.webhooks.ensayarRecuperacion(webhook, { desde }).'
