import {
  type AnyOperationData,
  buildRequest,
  type Operacion,
  type OperationData,
  type OperationOutput,
} from './call.js'
import type { OpcionesConClave, OpcionesDeSolicitud } from './options.js'
import { Listado, type Pagina } from './pages.js'
import { Solicitud } from './request.js'
import { type Forma, isPage, type ListOperation } from './shapes.js'
import type { Transport } from './transport.js'

/** Page type of a list operation, and the type of the elements in a page. */
type PageOf<O extends ListOperation> = Extract<OperationOutput<O>, Pagina<unknown>>
type ElementOf<O extends ListOperation> = PageOf<O>['datos'][number]

/** Client that the resources use: it calls the contract's operations by name. */
export type ResourceClient = ReturnType<typeof createResourceClient>

/** Creates the client of the resources over the function that sends requests. */
export function createResourceClient(send: Transport) {
  /** Calls an operation at once, and checks its answer with `forma`. */
  function request<O extends Exclude<Operacion, ListOperation>, T extends OperationOutput<O>>(
    operacion: O,
    datos: OperationData<O>,
    opciones: OpcionesConClave | undefined,
    forma: Forma<T>,
  ): Solicitud<T> {
    return new Solicitud(send(() => buildRequest(operacion, datos), forma, opciones))
  }

  /**
   * Walks a list page by page. Sends no request before the list is used, and copies the filters now: later changes to
   * the object have no effect.
   */
  function listar<O extends ListOperation>(
    operacion: O,
    datos: OperationData<O>,
    opciones: OpcionesDeSolicitud | undefined,
    hasMore?: (pagina: PageOf<O>) => boolean,
  ): Listado<ElementOf<O>, PageOf<O>> {
    const { query, ...otherData }: AnyOperationData = datos
    const filters = Object.fromEntries(
      Object.entries(query ?? {}).map(([nombre, valor]) => [nombre, Array.isArray(valor) ? [...valor] : valor]),
    )
    return new Listado<ElementOf<O>, PageOf<O>>(
      filters.cursor,
      (cursor) =>
        send(
          () => buildRequest(operacion, { ...otherData, query: { ...filters, cursor } }),
          isPage<PageOf<O>>,
          opciones,
        ),
      hasMore,
    )
  }

  return { send, request, listar }
}
