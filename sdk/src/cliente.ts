import { esPagina, FORMAS, type Forma, type OperacionDeLista, type OperacionDeUnaRespuesta } from './formas.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import { Listado, type Pagina } from './paginas.js'
import { armar, type Datos, type DatosDeAlguna, type Operacion, type Salida } from './pedido.js'
import { Solicitud } from './solicitud.js'
import type { Enviar } from './transporte.js'

/** A page of a list, and what a page has in it. */
type PaginaDe<O extends OperacionDeLista> = Extract<Salida<O>, Pagina<unknown>>
type ElementoDe<O extends OperacionDeLista> = PaginaDe<O>['datos'][number]

/** What the resources call: the operations of the contract by their names. */
export type Cliente = ReturnType<typeof crearCliente>

export function crearCliente(enviar: Enviar) {
  /** Calls an operation, at once. Of one that answers in more than one way, `forma` says which way is meant. */
  function pedir<O extends OperacionDeUnaRespuesta>(
    operacion: O,
    datos: Datos<O>,
    opciones: OpcionesDeSolicitud | undefined,
  ): Solicitud<Salida<O>>
  function pedir<O extends Operacion, T extends Salida<O>>(
    operacion: O,
    datos: Datos<O>,
    opciones: OpcionesDeSolicitud | undefined,
    forma: Forma<T>,
  ): Solicitud<T>
  function pedir(
    operacion: OperacionDeUnaRespuesta,
    datos: DatosDeAlguna,
    opciones: OpcionesDeSolicitud | undefined,
    forma: Forma<unknown> = FORMAS[operacion],
  ): Solicitud<unknown> {
    return new Solicitud(enviar(() => armar(operacion, datos), forma, opciones))
  }

  /** Walks a list; it asks nothing before it is used, and then with the filters as they are now. */
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
