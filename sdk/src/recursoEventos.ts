import type { Cliente } from './cliente.js'
import type { Evento } from './evento.js'
import type { ListarEventosData, PaginaDelFlujo } from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Listado } from './paginas.js'

/** Filtros del flujo de eventos, con su principio, el cursor y el tamaño de la página. */
export type FiltrosDelFlujo = NonNullable<ListarEventosData['query']>

/** El flujo de eventos de todas sus guías. */
export class RecursoEventos {
  readonly #listar: Cliente['listar']

  /** @internal */
  constructor({ listar }: Cliente) {
    this.#listar = listar
  }

  /**
   * Lista los eventos de todas sus guías, en orden y sin huecos. Sin `cursor`, empieza por el primero o donde diga
   * `desde` (un instante o `ahora`). `tipo` y `guia` dejan solo los eventos que le interesan.
   *
   * `cursor_siguiente` viene siempre: guárdelo y páselo después como `cursor` para recibir solo lo nuevo. El recorrido
   * termina cuando está al día, con una página vacía.
   *
   * ```ts
   * const eventos = api.eventos.listar({ cursor, desde: 'ahora', limite: 100 })
   * for await (const { datos, cursor_siguiente } of eventos.paginas()) {
   *   for (const evento of datos) await atender(evento)
   *   await guardar(cursor_siguiente)
   * }
   * ```
   */
  listar(filtros: FiltrosDelFlujo = {}, opciones?: OpcionesDeSolicitud): Listado<Evento, PaginaDelFlujo> {
    return this.#listar('GET /eventos', { query: filtros }, opciones, (pagina) => pagina.datos.length > 0)
  }
}
