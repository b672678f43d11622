import type { ResourceClient } from './client.js'
import type {
  Departamento,
  ListarDepartamentosData,
  ListarMunicipiosData,
  Municipio,
  PaginaDeDepartamentos,
  PaginaDeMunicipios,
} from './generated/types.gen.js'
import type { OpcionesDeSolicitud } from './options.js'
import type { Listado } from './pages.js'

/** Filtros de los departamentos: el país, el cursor y el tamaño de la página. */
export type FiltrosDeDepartamentos = NonNullable<ListarDepartamentosData['query']>

/** Filtros de los municipios: el departamento, el texto que se busca, el cursor y el tamaño de la página. */
export type FiltrosDeMunicipios = ListarMunicipiosData['query']

/** Los departamentos y municipios que el servicio conoce. */
export class RecursoCatalogo {
  readonly #list: ResourceClient['listar']

  /**
   * Creates the resource; only the client `Guias` calls it.
   * @internal
   */
  constructor({ listar }: ResourceClient) {
    this.#list = listar
  }

  /**
   * Lista los departamentos, ordenados por país y por nombre.
   *
   * ```ts
   * for await (const { codigo, nombre } of api.catalogo.departamentos({ pais: 'GT' })) ofrecer(codigo, nombre)
   * ```
   */
  departamentos(
    filtros: FiltrosDeDepartamentos = {},
    opciones?: OpcionesDeSolicitud,
  ): Listado<Departamento, PaginaDeDepartamentos> {
    return this.#list('GET /catalogo/departamentos', { query: filtros }, opciones)
  }

  /**
   * Lista los municipios de un departamento, dado por su código o por su nombre. Si el departamento no existe, falla
   * con un `ErrorNoEncontrado` que nombra los más parecidos.
   *
   * ```ts
   * const { datos } = await api.catalogo.municipios({ departamento: 'GT-SA', buscar: 'santa' })
   * ```
   */
  municipios(filtros: FiltrosDeMunicipios, opciones?: OpcionesDeSolicitud): Listado<Municipio, PaginaDeMunicipios> {
    return this.#list('GET /catalogo/municipios', { query: filtros }, opciones)
  }
}
