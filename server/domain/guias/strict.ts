import type { Identities } from '../../api/http/identity.ts'
import type { GuiaIndividual } from '../../generated/contract/types/index.ts'
import { type Problema, problemOfFaults } from '../../platform/errors.ts'
import { explainImplausible, explainNulls, isRefusedIfStrict } from '../records/advertencias.ts'
import { normalizeGuia } from '../records/guiaData.ts'
import type { GuiaData } from '../records/guiaFields.ts'
import type { GuiaVerdict, GuideWriter, KeyOfGuides } from './writing.ts'

export type Cuenta = Identities['llaveDeComercio']

/**
 * Guide to create, which satisfies the contract. If `estricto` is true, an implausible location, or a null in place of
 * the location or the reference, still rejects it; otherwise they only cause warnings.
 */
export interface Candidate {
  datos: GuiaData
  estricto: boolean
}

/**
 * Converts a valid request into a candidate. The request's `estricto` takes precedence over the merchant's setting.
 * @param nulls places of the request's members that were null, as JSON Pointers
 */
export const toCandidate = (guia: GuiaIndividual, cuenta: Cuenta, nulls?: readonly string[]): Candidate => ({
  datos: normalizeGuia(guia, cuenta, nulls),
  estricto: guia.estricto ?? cuenta.estricto,
})

/**
 * Creates guides, except those that `estricto` rejects. Returns the results in the order of `candidates`.
 * @param key see {@link GuideWriter}
 */
export async function createCandidates(
  writing: GuideWriter,
  cuenta: Cuenta,
  candidates: readonly Candidate[],
  key?: KeyOfGuides,
): Promise<GuiaVerdict[]> {
  const refusable = candidates.filter(isRefusable).map(({ datos }) => datos)
  const refused = refusable.length > 0 ? await refuse(writing, cuenta, refusable) : NONE_REFUSED
  const admittedGuias = candidates.flatMap(({ datos }) => (refused.has(datos) ? [] : [datos]))
  const written = await writing.create(cuenta.comercioId, cuenta.modo, admittedGuias, key)
  return candidates.map(({ datos }) => {
    const problema = refused.get(datos)
    return problema ? { problema } : written.shift()!
  })
}

const isRefusable = ({ datos: { advertencias }, estricto }: Candidate) =>
  estricto && advertencias.some(({ codigo }) => isRefusedIfStrict(codigo))

const NONE_REFUSED: ReadonlyMap<GuiaData, Problema> = new Map()

/**
 * Returns the problem of each rejected guide. A repeated creation is not rejected, even if `estricto` was set after the
 * first request.
 */
async function refuse(
  { readRepeated }: GuideWriter,
  { comercioId, modo }: Cuenta,
  refusable: readonly GuiaData[],
): Promise<ReadonlyMap<GuiaData, Problema>> {
  const repetidas = await readRepeated(comercioId, modo, refusable)
  const newGuias = refusable.filter((datos) => !repetidas.has(datos))
  const faultsOf = (datos: GuiaData) => [...explainImplausible(datos, datos.lat === null), ...explainNulls(datos)]
  return new Map(newGuias.map((datos) => [datos, problemOfFaults('validacion', faultsOf(datos))]))
}
