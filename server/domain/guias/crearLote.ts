import { setImmediate as yieldTurn } from 'node:timers/promises'
import type { Falla, GuiaIndividual, ResultadoCreado, ResultadoFallido } from '../../generated/contract/types/index.ts'
import { MAX_BATCH_FAULTS, MAX_FAULTS, type Problema, problemOfFaults } from '../../platform/errors.ts'
import { requestKey } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { advertenciasOf } from '../records/guiaPresentation.ts'
import { createOnce } from './createOnce.ts'
import { type Candidate, createCandidates, toCandidate } from './strict.ts'

/** Faulty entries after which other requests of the process get their turn: explaining one costs up to half a millisecond. */
const FAULTY_PER_TURN = 8

/**
 * Creates a batch of guides. Answers 200 to any body that is a list of 1 to 100 entries. Each entry has its own result,
 * identified by `indice`.
 */
export const crearLote: Handler<'crearLote'> = async (input, deps) => {
  const { body, identity, requestId } = input
  const { escritura, validacion, settings } = deps
  const { admit, explain } = validacion.validatorFor('GuiaIndividual')
  // Only the envelope was validated (`x-sobre`). An entry, or the batch's pickup, may still be any JSON value.
  const sentEntries: readonly unknown[] = body.guias
  const entries = sentEntries.map((entry) => withDefaults(entry, body))
  const candidates = entries.map((entry) => {
    const admitted = admit(entry, identity)
    return admitted && toCandidate(admitted.value as GuiaIndividual, identity, admitted.nulls)
  })
  // Only entries without a reference need the key.
  const keyed = sentEntries.map((one) => typeof (one as { external_ref?: unknown } | null)?.external_ref !== 'string')
  const key = keyed.includes(true) ? requestKey(deps, 'crearLote', input) : undefined
  const once = key
    ? await createOnce(
        deps,
        identity,
        key,
        candidates.map((candidate, i) => (keyed[i] ? candidate : undefined)),
      )
    : undefined
  const otherCandidates = candidates.filter(
    (candidate, i): candidate is Candidate => candidate !== undefined && !(once && keyed[i]),
  )
  const written = await createCandidates(escritura, identity, otherCandidates)
  const failed = (indice: number, external_ref: string | null, problema: Problema): ResultadoFallido => ({
    indice,
    ok: false,
    external_ref,
    error: problema.present(requestId, settings.publicUrl),
  })

  let faultQuota = MAX_BATCH_FAULTS
  let faultyLeft = candidates.filter((candidate, i) => !candidate && !once?.verdicts[i]).length
  const explainEntry = (index: number): ResultadoFallido => {
    // One fault is reserved for each remaining invalid entry. Earlier entries use what is left of the batch's limit.
    faultyLeft--
    const maxFaults = Math.min(MAX_FAULTS, Math.max(1, faultQuota - faultyLeft))
    const { listedFaults, omittedCount } = explain(entries[index], maxFaults, identity)
    faultQuota -= listedFaults.length
    const faults = listedFaults.map((fault) => attribute(fault, sentEntries[index], body))
    return failed(index, referencia(sentEntries[index]), problemOfFaults('validacion', faults, omittedCount))
  }
  const resultados: (ResultadoCreado | ResultadoFallido)[] = []
  for (const [index, candidate] of candidates.entries()) {
    const verdict = once && keyed[index] ? once.verdicts[index] : candidate && written.shift()
    if (!verdict) {
      resultados.push(explainEntry(index))
      if (faultyLeft % FAULTY_PER_TURN === 0) await yieldTurn()
      continue
    }
    resultados.push(
      'problema' in verdict
        ? failed(index, candidate?.datos.external_ref ?? null, verdict.problema)
        : toCreatedResult(index, verdict.row, verdict.repetida),
    )
  }
  const advertencias = validacion.warnUnknownMembers('LoteParaCrear', body)
  const headers = once?.repetida ? ({ 'Idempotent-Replayed': 'true' } as const) : {}
  return { status: 200, headers, body: { ...countResults(resultados), resultados, advertencias } }
}

function countResults(results: readonly (ResultadoCreado | ResultadoFallido)[]) {
  const fallidas = results.filter(({ ok }) => !ok).length
  const repetidas = results.filter((result) => result.ok && result.repetida).length
  return { ok: fallidas === 0, creadas: results.length - repetidas - fallidas, repetidas, fallidas }
}

/** Values of a batch that apply to entries without their own. Null counts as absent. */
interface EntryDefaults {
  recogida?: unknown
  estricto?: unknown
}

const isGuia = (entry: unknown): entry is EntryDefaults =>
  typeof entry === 'object' && entry !== null && !Array.isArray(entry)

/**
 * Returns an entry with the batch's `recogida` and `estricto` where the entry has none. A member that is undefined
 * counts as absent.
 */
function withDefaults(entry: unknown, lote: EntryDefaults): unknown {
  if (!isGuia(entry)) return entry
  const recogida = entry.recogida ?? lote.recogida ?? undefined
  const estricto = entry.estricto ?? lote.estricto ?? undefined
  if (recogida === entry.recogida && estricto === entry.estricto) return entry
  return { ...entry, recogida, estricto }
}

const LOTE_MEMBERS = [
  {
    path: /^\/recogida(\/|$)/,
    donde: 'en la recogida del lote',
    isOwn: ({ recogida }: EntryDefaults) => (recogida ?? null) !== null,
  },
  {
    path: /^\/estricto$/,
    donde: 'en el estricto del lote',
    isOwn: ({ estricto }: EntryDefaults) => (estricto ?? null) !== null,
  },
]

/**
 * Adds to a fault's message that the value comes from the batch, if it does. The `campo` is the same in an entry and in
 * a batch.
 */
function attribute(fault: Falla, entry: unknown, lote: EntryDefaults): Falla {
  const loteMember = LOTE_MEMBERS.find(({ path }) => path.test(fault.campo))
  if (!loteMember || !isGuia(entry) || loteMember.isOwn(entry) || !loteMember.isOwn(lote)) return fault
  return { ...fault, mensaje: `${loteMember.donde}, ${fault.mensaje}` }
}

const toCreatedResult = (indice: number, row: GuiaRow, repetida: boolean): ResultadoCreado => ({
  indice,
  ok: true,
  guia: row.guia,
  estado: row.estado,
  external_ref: row.external_ref,
  repetida,
  advertencias: advertenciasOf(row),
})

/**
 * Returns the entry's `external_ref` as sent; null if it is not a string of at most 128 characters. The merchant uses
 * the reference to match the result with the entry, even when the reference is the fault.
 */
function referencia(entry: unknown): string | null {
  const ref = (entry as { external_ref?: unknown } | null)?.external_ref
  return typeof ref === 'string' && [...ref].length <= 128 ? ref : null
}
