import type { Identities } from '../../api/http/identity.ts'
import type { GuiaIndividual } from '../../generado/contrato/tipos/index.ts'
import { type Problema, problemOfFaults } from '../../platform/errors.ts'
import { explainNulls, explicarInverosimil, isRefusedIfStrict } from './advertencias.ts'
import type { DatosDeGuia } from './campos.ts'
import { normalizar } from './datos.ts'
import type { GuideWriter, KeyOfGuides, VeredictoDeGuia } from './writing.ts'

export type Cuenta = Identities['llaveDeComercio']

/**
 * Guide to create, which satisfies the contract. If `estricto` is true, an implausible location, or a null in place of
 * the location or the reference, still rejects it; otherwise they only cause warnings.
 */
export interface Candidate {
  datos: DatosDeGuia
  estricto: boolean
}

/**
 * Converts a valid request into a candidate. The request's `estricto` takes precedence over the merchant's setting.
 * @param nulls places of the request's members that were null, as JSON Pointers
 */
export const toCandidate = (guia: GuiaIndividual, cuenta: Cuenta, nulls?: readonly string[]): Candidate => ({
  datos: normalizar(guia, cuenta, nulls),
  estricto: guia.estricto ?? cuenta.estricto,
})

/**
 * Creates guides, except those that `estricto` rejects. Returns the results in the order of `candidatas`.
 * @param key see {@link GuideWriter}
 */
export async function createCandidates(
  escritura: GuideWriter,
  cuenta: Cuenta,
  candidatas: readonly Candidate[],
  key?: KeyOfGuides,
): Promise<VeredictoDeGuia[]> {
  const rechazables = candidatas.filter(esRechazable).map(({ datos }) => datos)
  const rechazadas = rechazables.length > 0 ? await rechazar(escritura, cuenta, rechazables) : NINGUNA
  const admitidas = candidatas.flatMap(({ datos }) => (rechazadas.has(datos) ? [] : [datos]))
  const escritas = await escritura.crear(cuenta.comercioId, cuenta.modo, admitidas, key)
  return candidatas.map(({ datos }) => {
    const problema = rechazadas.get(datos)
    return problema ? { problema } : escritas.shift()!
  })
}

const esRechazable = ({ datos: { advertencias }, estricto }: Candidate) =>
  estricto && advertencias.some(({ codigo }) => isRefusedIfStrict(codigo))

const NINGUNA: ReadonlyMap<DatosDeGuia, Problema> = new Map()

/**
 * Returns the problem of each rejected guide. A repeated creation is not rejected, even if `estricto` was set after the
 * first request.
 */
async function rechazar(
  { leerRepetidas }: GuideWriter,
  { comercioId, modo }: Cuenta,
  rechazables: readonly DatosDeGuia[],
): Promise<ReadonlyMap<DatosDeGuia, Problema>> {
  const repetidas = await leerRepetidas(comercioId, modo, rechazables)
  const nuevas = rechazables.filter((datos) => !repetidas.has(datos))
  const faultsOf = (datos: DatosDeGuia) => [...explicarInverosimil(datos, datos.lat === null), ...explainNulls(datos)]
  return new Map(nuevas.map((datos) => [datos, problemOfFaults('validacion', faultsOf(datos))]))
}
