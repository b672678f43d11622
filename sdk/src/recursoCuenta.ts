import type { Cliente } from './cliente.js'
import type { Cuenta } from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Solicitud } from './solicitud.js'

/** La cuenta de la llave. */
export class RecursoCuenta {
  readonly #pedir: Cliente['pedir']

  /** @internal */
  constructor({ pedir }: Cliente) {
    this.#pedir = pedir
  }

  /**
   * De qué comercio es la llave, su modo, sus permisos y los ajustes de la cuenta. Sirve para comprobar que funciona.
   *
   * ```ts
   * const { nombre, modo, pais } = await api.cuenta.obtener()
   * ```
   */
  obtener(opciones?: OpcionesDeSolicitud): Solicitud<Cuenta> {
    return this.#pedir('obtenerCuenta', {}, opciones)
  }
}
