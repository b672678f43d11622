import type { Cliente } from './cliente.js'
import type { Evento } from './evento.js'
import type { ListarEventosData, PaginaDelFlujo } from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Listado } from './paginas.js'

/** Desde dónde y de cuántos en cuántos se lee el flujo de eventos. */
export type FiltrosDelFlujo = NonNullable<ListarEventosData['query']>

/** El flujo de eventos de todas sus guías. */
export class RecursoEventos {
  readonly #listar: Cliente['listar']

  /** @internal */
  constructor({ listar }: Cliente) {
    this.#listar = listar
  }

  /**
   * Sigue los eventos de todas sus guías, en orden y sin huecos. Sin `cursor` empieza por el primero, o donde diga `desde`
   * (un instante o `ahora`); `tipo` y `guia` dejan solo los que le interesan.
   *
   * `cursor_siguiente` viene siempre: guárdelo y vuelva con él cuando quiera para recibir solo lo nuevo. El recorrido
   * termina cuando está al día, con una página vacía.
   *
   * ```ts
   * for await (const { datos, cursor_siguiente } of api.eventos.listar({ cursor, desde: 'ahora', limite: 100 }).paginas()) {
   *   for (const evento of datos) await atender(evento)
   *   await guardar(cursor_siguiente)
   * }
   * ```
   */
  listar(filtros: FiltrosDelFlujo = {}, opciones?: OpcionesDeSolicitud): Listado<Evento, PaginaDelFlujo> {
    return this.#listar('listarEventos', { query: filtros }, opciones, (pagina) => pagina.datos.length > 0)
  }
}
