import type { Cliente } from './cliente.js'
import type { AvanceSimulado, CodigoDeGuia, Guia, UbicacionSimulada } from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Solicitud } from './solicitud.js'

/**
 * Hacer de repartidor y de destinatario, sin esperar a nadie. Solo con llaves `guia_test_…`: con una `guia_live_…` cada
 * llamada es un `ErrorAlcance` (`solo_en_test`).
 */
export class RecursoSimulador {
  readonly #pedir: Cliente['pedir']

  /** @internal */
  constructor({ pedir }: Cliente) {
    this.#pedir = pedir
  }

  /**
   * Mueve una guía de prueba como lo haría una lectura del repartidor, con las mismas reglas y el mismo aviso a sus
   * webhooks. Un cambio que su estado no admite es un `ErrorConflicto` que dice en `transiciones` los que sí; repetir la
   * llamada es otra lectura. `entregado` trae una prueba de entrega de muestra, e `intento_fallido`, una foto.
   *
   * ```ts
   * for (const estado of ['recolectado', 'en_ruta', 'entregado'] as const) await api.simulador.avanzar(guia, { estado })
   * ```
   */
  avanzar(guia: CodigoDeGuia, cambio: AvanceSimulado, opciones?: OpcionesDeSolicitud): Solicitud<Guia> {
    return this.#pedir('simularAvance', { path: { guia }, body: cambio }, opciones)
  }

  /**
   * Contesta por el destinatario de una guía de prueba: dice dónde es, deja vencer la solicitud (`vencida`) o no recibe
   * el mensaje (`fallida`). Sin respuesta, confirma el centro del municipio declarado. El mismo resultado otra vez no
   * cambia nada.
   *
   * ```ts
   * await api.simulador.confirmarUbicacion(guia)
   * await api.simulador.confirmarUbicacion(otra, { resultado: 'vencida' })
   * ```
   */
  confirmarUbicacion(
    guia: CodigoDeGuia,
    respuesta?: UbicacionSimulada,
    opciones?: OpcionesDeSolicitud,
  ): Solicitud<Guia> {
    return this.#pedir('simularUbicacion', { path: { guia }, body: respuesta }, opciones)
  }
}
