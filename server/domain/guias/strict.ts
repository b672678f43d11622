import type { Identities } from '../../api/http/identity.ts'
import type { GuiaIndividual } from '../../generado/contrato/tipos/index.ts'
import { type Problema, problemOfFaults } from '../../platform/errors.ts'
import { explicarInverosimil } from './advertencias.ts'
import type { DatosDeGuia } from './campos.ts'
import { normalizar } from './datos.ts'
import { esInverosimil } from './lugares.ts'
import type { GuideWriter, VeredictoDeGuia } from './writing.ts'

type Cuenta = Identities['llaveDeComercio']

/**
 * Guide to create, which satisfies the contract. If `estricto` is true, an implausible location still rejects it;
 * otherwise the location only causes a warning.
 */
export interface Candidate {
  datos: DatosDeGuia
  estricto: boolean
}

/** Converts a valid request into a candidate. The request's `estricto` takes precedence over the merchant's setting. */
export const toCandidate = (guia: GuiaIndividual, cuenta: Cuenta): Candidate => ({
  datos: normalizar(guia, cuenta),
  estricto: guia.estricto ?? cuenta.estricto,
})

/**
 * Creates guides, except those rejected for an implausible location. Returns the results in the order of `candidatas`.
 */
export async function createCandidates(
  escritura: GuideWriter,
  cuenta: Cuenta,
  candidatas: readonly Candidate[],
): Promise<VeredictoDeGuia[]> {
  const rechazables = candidatas.filter(esRechazable).map(({ datos }) => datos)
  const rechazadas = rechazables.length > 0 ? await rechazar(escritura, cuenta, rechazables) : NINGUNA
  const admitidas = candidatas.flatMap(({ datos }) => (rechazadas.has(datos) ? [] : [datos]))
  const escritas = await escritura.crear(cuenta.comercioId, cuenta.modo, admitidas)
  return candidatas.map(({ datos }) => {
    const problema = rechazadas.get(datos)
    return problema ? { problema } : escritas.shift()!
  })
}

const esRechazable = ({ datos: { advertencias }, estricto }: Candidate) =>
  estricto && advertencias.some(({ codigo }) => esInverosimil(codigo))

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
  return new Map(
    nuevas.map((datos) => [datos, problemOfFaults('validacion', explicarInverosimil(datos, datos.lat === null))]),
  )
}
