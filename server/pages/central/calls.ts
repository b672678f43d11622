import type { Request } from 'express'
import type { CallOperation, GoodResponse } from '../../api/contract/calls.ts'
import type { Comercio, GuiaDeOperacion, Repartidor } from '../../generado/contrato/tipos/index.ts'
import { FormError, readForm } from '../form.ts'

/** Names of merchants, by their code. */
export type MerchantNames = ReadonlyMap<string, string>

/** Maximum number of merchants in a filter's list. */
export const FILTER_CHOICES = 100
/** Maximum number of merchants that one request can read; the contract has the same limit. */
const MERCHANTS_PER_REQUEST = 100
/** Maximum number of pages of couriers that are read. */
const PAGINAS = 5

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

/** Reads couriers, newest first, at most 500. */
export async function readCouriers(call: CallOperation, req: Request): Promise<Repartidor[]> {
  const read: Repartidor[] = []
  let cursor: string | null = ''
  for (let i = 0; i < PAGINAS && cursor !== null; i++) {
    const { body }: GoodResponse<'listarRepartidores'> = await call(req, 'listarRepartidores', {
      query: { limite: '100', ...(cursor && { cursor }) },
    })
    read.push(...body.datos)
    cursor = body.cursor_siguiente
  }
  return read
}

/** Reads a posted form; undefined if it is not a form of these pages. */
export async function formOf<Campo extends string, Lista extends string = never>(
  req: Request,
  campos: readonly Campo[],
  listas: readonly Lista[] = [],
): Promise<(Record<Campo, string> & Record<Lista, string[]>) | undefined> {
  try {
    return await readForm(req, campos, listas)
  } catch (error) {
    if (error instanceof FormError) return undefined
    throw error
  }
}
