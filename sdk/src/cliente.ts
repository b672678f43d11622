import { esPagina, type Forma, type OperacionDeLista } from './formas.js'
import type { OpcionesConClave, OpcionesDeSolicitud } from './opciones.js'
import { Listado, type Pagina } from './paginas.js'
import { armar, type Datos, type DatosDeAlguna, type Operacion, type Salida } from './pedido.js'
import { Solicitud } from './solicitud.js'
import type { Enviar } from './transporte.js'

/** Page type of a list operation, and the type of the elements in a page. */
type PaginaDe<O extends OperacionDeLista> = Extract<Salida<O>, Pagina<unknown>>
type ElementoDe<O extends OperacionDeLista> = PaginaDe<O>['datos'][number]

/** Client that the resources use: it calls the contract's operations by name. */
export type Cliente = ReturnType<typeof crearCliente>

/** Creates the client of the resources over the function that sends requests. */
export function crearCliente(enviar: Enviar) {
  /** Calls an operation at once, and checks its answer with `forma`. */
  function pedir<O extends Exclude<Operacion, OperacionDeLista>, T extends Salida<O>>(
    operacion: O,
    datos: Datos<O>,
    opciones: OpcionesConClave | undefined,
    forma: Forma<T>,
  ): Solicitud<T> {
    return new Solicitud(enviar(() => armar(operacion, datos), forma, opciones))
  }

  /**
   * Walks a list page by page. Sends no request before the list is used, and copies the filters now: later changes to
   * the object have no effect.
   */
  function listar<O extends OperacionDeLista>(
    operacion: O,
    datos: Datos<O>,
    opciones: OpcionesDeSolicitud | undefined,
    hayMas?: (pagina: PaginaDe<O>) => boolean,
  ): Listado<ElementoDe<O>, PaginaDe<O>> {
    const { query, ...resto }: DatosDeAlguna = datos
    const filtros = Object.fromEntries(
      Object.entries(query ?? {}).map(([nombre, valor]) => [nombre, Array.isArray(valor) ? [...valor] : valor]),
    )
    return new Listado<ElementoDe<O>, PaginaDe<O>>(
      filtros.cursor,
      (cursor) =>
        enviar(() => armar(operacion, { ...resto, query: { ...filtros, cursor } }), esPagina<PaginaDe<O>>, opciones),
      hayMas,
    )
  }

  return { enviar, pedir, listar }
}
