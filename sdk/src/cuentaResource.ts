import type { ResourceClient } from './client.js'
import type { Cuenta, LineaDeBitacora, ListarBitacoraData, PaginaDeBitacora } from './generated/types.gen.js'
import type { OpcionesDeSolicitud } from './options.js'
import type { Listado } from './pages.js'
import type { Solicitud } from './request.js'
import { isAccount } from './shapes.js'

/** Filtros de la bitácora, con el cursor y el tamaño de la página. */
export type FiltrosDeBitacora = NonNullable<ListarBitacoraData['query']>

/** La cuenta a la que pertenece la llave. */
export class RecursoCuenta {
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
   * Da el comercio de la llave, su modo, sus permisos y los ajustes de la cuenta. Sirve para comprobar que la llave
   * funciona.
   *
   * ```ts
   * const { nombre, modo, pais } = await api.cuenta.obtener()
   * ```
   */
  obtener(opciones?: OpcionesDeSolicitud): Solicitud<Cuenta> {
    return this.#request('GET /cuenta', {}, opciones, isAccount)
  }

  /**
   * Lista quién cambió sus llaves, sus webhooks y sus ajustes, y quién del servicio miró sus guías. Va de lo más
   * reciente a lo más antiguo. La llave necesita el alcance `bitacora:leer`.
   *
   * ```ts
   * for await (const { accion, quien, creado_en } of api.cuenta.bitacora()) console.log(creado_en, accion, quien.tipo)
   * ```
   */
  bitacora(
    filtros: FiltrosDeBitacora = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<LineaDeBitacora, PaginaDeBitacora> {
    return this.#list('GET /bitacora', { query: filtros }, opciones)
  }
}
