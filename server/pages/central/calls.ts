import type { Request } from 'express'
import type { CallOperation } from '../../api/contract/calls.ts'
import type { Comercio, GuiaDeOperacion, Repartidor } from '../../generated/contract/types/index.ts'
import { FormError, readForm } from '../form.ts'

/** Names of merchants, by their code. */
export type MerchantNames = ReadonlyMap<string, string>

/** Maximum number of merchants in a filter's list. */
export const FILTER_CHOICES = 100
/** Maximum number of merchants that one request can read; the contract has the same limit. */
const MERCHANTS_PER_REQUEST = 100
/** Maximum number of pages of couriers that are read. */
const MAX_PAGES = 5

const byCode = (comercios: readonly Pick<Comercio, 'comercio' | 'nombre'>[]): MerchantNames =>
  new Map(comercios.map(({ comercio, nombre }) => [comercio, nombre]))

/** Reads the names of the merchants of guides. Beyond the maximum of one request, merchants are shown by their code. */
export async function namesOf(
  call: CallOperation,
  req: Request,
  guias: readonly Pick<GuiaDeOperacion, 'comercio'>[],
): Promise<MerchantNames> {
  const comercio = [...new Set(guias.map((guia) => guia.comercio))].slice(0, MERCHANTS_PER_REQUEST)
  if (comercio.length === 0) return new Map()
  const { body } = await call(req, 'listarComercios', { query: { comercio, limite: String(comercio.length) } })
  return byCode(body.datos)
}

/** Reads the names of the newest merchants, for a filter's list. */
export async function newestMerchants(call: CallOperation, req: Request): Promise<MerchantNames> {
  const { body } = await call(req, 'listarComercios', { query: { limite: String(FILTER_CHOICES) } })
  return byCode(body.datos)
}

/**
 * Reads a list page after page, 100 entries in each.
 * @param read reads one page with these parameters
 * @param enough number of entries after which no other page is read
 * @returns the entries, and true if there are more
 */
export async function readPages<T>(
  max: number,
  read: (query: Record<string, string>) => Promise<{ body: { datos: T[]; cursor_siguiente: string | null } }>,
  enough = Number.POSITIVE_INFINITY,
): Promise<{ datos: T[]; more: boolean }> {
  const datos: T[] = []
  let cursor: string | null = ''
  for (let i = 0; i < max && cursor !== null && datos.length < enough; i++) {
    const { body } = await read({ limite: '100', ...(cursor && { cursor }) })
    datos.push(...body.datos)
    cursor = body.cursor_siguiente
  }
  return { datos, more: cursor !== null }
}

/** Reads couriers, newest first, at most 500. */
export const readCouriers = async (call: CallOperation, req: Request): Promise<Repartidor[]> =>
  (await readPages(MAX_PAGES, (query) => call(req, 'listarRepartidores', { query }))).datos

/** Reads a posted form; undefined if it is not a form of these pages. */
export async function formOf<Field extends string, ListField extends string = never>(
  req: Request,
  fields: readonly Field[],
  listFields: readonly ListField[] = [],
): Promise<(Record<Field, string> & Record<ListField, string[]>) | undefined> {
  try {
    return await readForm(req, fields, listFields)
  } catch (error) {
    if (error instanceof FormError) return undefined
    throw error
  }
}
