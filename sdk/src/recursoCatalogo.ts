import type { Cliente } from './cliente.js'
import type {
  Departamento,
  ListarDepartamentosData,
  ListarMunicipiosData,
  Municipio,
  PaginaDeDepartamentos,
  PaginaDeMunicipios,
} from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import type { Listado } from './paginas.js'

/** De qué país se listan los departamentos, desde dónde y de cuántos en cuántos. */
export type FiltrosDeDepartamentos = NonNullable<ListarDepartamentosData['query']>

/** De qué departamento se listan los municipios, cuáles, desde dónde y de cuántos en cuántos. */
export type FiltrosDeMunicipios = ListarMunicipiosData['query']

/** Los departamentos y municipios que el servicio conoce. */
export class RecursoCatalogo {
  readonly #listar: Cliente['listar']

  /** @internal */
  constructor({ listar }: Cliente) {
    this.#listar = listar
  }

  /**
   * Los departamentos, por país y por nombre.
   *
   * ```ts
   * for await (const { codigo, nombre } of api.catalogo.departamentos({ pais: 'GT' })) ofrecer(codigo, nombre)
   * ```
   */
  departamentos(
    filtros: FiltrosDeDepartamentos = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<Departamento, PaginaDeDepartamentos> {
    return this.#listar('listarDepartamentos', { query: filtros }, opciones)
  }

  /**
   * Los municipios de un departamento, dado por su código o por su nombre. Si no existe, un `ErrorNoEncontrado` que
   * nombra los más parecidos.
   *
   * ```ts
   * const { datos } = await api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'santa' })
   * ```
   */
  municipios(filtros: FiltrosDeMunicipios, opciones?: OpcionesDeSolicitud): Listado<Municipio, PaginaDeMunicipios> {
    return this.#listar('listarMunicipios', { query: filtros }, opciones)
  }
}
