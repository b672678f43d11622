import { esPagina } from './formas.js'
import { listarDepartamentos, listarMunicipios } from './generado/sdk.gen.js'
import type {
  Departamento,
  ListarDepartamentosData,
  ListarMunicipiosData,
  Municipio,
  PaginaDeDepartamentos,
  PaginaDeMunicipios,
} from './generado/types.gen.js'
import type { OpcionesDeSolicitud } from './opciones.js'
import { Listado } from './paginas.js'
import type { Enviar } from './transporte.js'

/** De qué país se listan los departamentos, desde dónde y de cuántos en cuántos. */
export type FiltrosDeDepartamentos = NonNullable<ListarDepartamentosData['query']>

/** De qué departamento se listan los municipios, cuáles, desde dónde y de cuántos en cuántos. */
export type FiltrosDeMunicipios = ListarMunicipiosData['query']

/** Los departamentos y municipios que el servicio conoce. */
export class RecursoCatalogo {
  readonly #enviar: Enviar

  /** @internal */
  constructor(enviar: Enviar) {
    this.#enviar = enviar
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
    const query = { ...filtros }
    return new Listado<Departamento, PaginaDeDepartamentos>(query.cursor, (cursor) =>
      this.#enviar(
        esPagina<PaginaDeDepartamentos>,
        (comunes) =>
          listarDepartamentos({ ...comunes, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } }),
        opciones,
      ),
    )
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
    const query = { ...filtros }
    return new Listado<Municipio, PaginaDeMunicipios>(query.cursor, (cursor) =>
      this.#enviar(
        esPagina<PaginaDeMunicipios>,
        (comunes) => listarMunicipios({ ...comunes, query: { ...query, ...(cursor === undefined ? {} : { cursor }) } }),
        opciones,
      ),
    )
  }
}
