/**
 * The least by which an answer is known to be this API's and of this operation; what else is in it may grow with the
 * server. Types come from the contract.
 */
import type { Guia, LoteCreado, Problema } from './generado/types.gen.js'
import type { Pagina } from './paginas.js'

const esObjeto = (datos: unknown): datos is Record<string, unknown> => typeof datos === 'object' && datos !== null

export const esGuia = <T extends Guia>(datos: unknown): datos is T => esObjeto(datos) && typeof datos.guia === 'string'

export const esLote = (datos: unknown): datos is LoteCreado => esObjeto(datos) && Array.isArray(datos.resultados)

export const esPagina = <P extends Pagina<unknown>>(datos: unknown): datos is P =>
  esObjeto(datos) && Array.isArray(datos.datos)

export const esProblema = (datos: unknown): datos is Problema => esObjeto(datos) && typeof datos.codigo === 'string'
