import type { ResourceClient } from './client.js'
import type { AvanceSimulado, CodigoDeGuia, DecisionSimulada, Guia, UbicacionSimulada } from './generated/types.gen.js'
import type { OpcionesConClave, OpcionesDeSolicitud } from './options.js'
import type { Solicitud } from './request.js'
import { isGuia } from './shapes.js'

/**
 * Simulador de entregas: usted hace de repartidor y de destinatario, sin esperar a nadie. Funciona solo con llaves
 * `guia_test_…`. Con una llave `guia_live_…`, cada llamada es un `ErrorAlcance` (`solo_en_test`).
 */
export class RecursoSimulador {
  readonly #request: ResourceClient['request']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ request }: ResourceClient) {
    this.#request = request
  }

  /**
   * Mueve una guía de prueba como lo haría una lectura del repartidor, con las mismas reglas y el mismo aviso a sus
   * webhooks. Un cambio que el estado actual no admite es un `ErrorConflicto`; `transiciones` dice qué cambios admite.
   * Repetir la llamada es otra lectura, menos con la misma `claveDeIdempotencia`. `entregado` trae una prueba de entrega de
   * muestra (con `sin_firma`, sin la firma), e `intento_fallido`, una foto.
   *
   * ```ts
   * const camino = ['recolectado', 'en_ruta', 'entregado'] as const
   * for (const estado of camino) await api.simulador.avanzar(guia, { estado })
   * ```
   */
  avanzar(guia: CodigoDeGuia, cambio: AvanceSimulado, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('POST /simulador/guias/{guia}/avanzar', { path: { guia }, body: cambio }, opciones, isGuia)
  }

  /**
   * Contesta por el destinatario de una guía de prueba: confirma el lugar, deja vencer la solicitud (`vencida`) o no
   * recibe el mensaje (`fallida`). Sin `respuesta`, confirma el centro del municipio declarado. Enviar el mismo
   * resultado otra vez no cambia nada.
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
    return this.#request(
      'POST /simulador/guias/{guia}/confirmar-ubicacion',
      { path: { guia }, body: respuesta },
      opciones,
      isGuia,
    )
  }

  /**
   * Decide por el destinatario de una guía de prueba, tras un intento fallido, como en la página de su enlace; también si en
   * su cuenta no decide quien recibe. Con `ninguna`, el plazo vence ahora y se aplica lo que diga su cuenta.
   *
   * ```ts
   * await api.simulador.decidir(guia, { eleccion: 'vecino', vecino: { nombre: 'Rosa Caal' } })
   * await api.simulador.decidir(otra, { eleccion: 'ninguna' })
   * ```
   *
   * @throws {ErrorConflicto} `decision_tomada`, con la `decision` que vale, o `decision_no_admitida`
   */
  decidir(guia: CodigoDeGuia, decision: DecisionSimulada, opciones?: OpcionesConClave): Solicitud<Guia> {
    return this.#request('POST /simulador/guias/{guia}/decidir', { path: { guia }, body: decision }, opciones, isGuia)
  }
}
