import type { Deps } from '../deps.ts'
import { keyConflict, type RequestKey } from '../idempotencia/idempotencia.ts'
import { warnOfEnd } from '../records/advertencias.ts'
import { readGuides } from '../records/guiaLookup.ts'
import { type Candidate, type Cuenta, createCandidates } from './strict.ts'
import type { GuiaVerdict } from './writing.ts'

/** Results of a request with a key; undefined in the place of an entry that is no candidate and has no guide. */
interface Once {
  verdicts: (GuiaVerdict | undefined)[]
  /** True if an equal request has created the guides. */
  repetida: boolean
}

/**
 * Creates guides without a reference at most once for each key. The key commits with the guides, and stores their codes
 * by position. So a repetition gives the same guides, and creates none in the place of a guide that was rejected then.
 * @param candidates guides to create, by position; undefined in the place of other entries
 * @throws Problema 409 if the key belongs to another request
 */
export async function createOnce(
  { db, escritura }: Pick<Deps, 'db' | 'escritura'>,
  cuenta: Cuenta,
  key: RequestKey,
  candidates: readonly (Candidate | undefined)[],
): Promise<Once> {
  const written = await createCandidates(
    escritura,
    cuenta,
    candidates.filter((candidate) => candidate !== undefined),
    {
      row: key.row,
      identificador: (codeOf) => candidates.map((candidate) => (candidate && codeOf(candidate.datos)) ?? '').join(),
    },
  )
  // Nothing was written if an equal request has the key, or if each guide was rejected. The first request is looked up
  // only then, which spares a first request the reading.
  const previous = written.some((candidate) => 'row' in candidate) ? undefined : await key.anterior()
  if (previous === undefined)
    return { verdicts: candidates.map((candidate) => candidate && written.shift()), repetida: false }
  const codes = previous.split(',')
  const rows = await readGuides(db, cuenta, codes)
  const verdicts = candidates.map((candidate, i) => {
    const row = rows.get(codes[i]!)
    return row ? { row: warnOfEnd(row, null), repetida: true } : candidate && { problema: notCreatedThen(key) }
  })
  return { verdicts, repetida: true }
}

const notCreatedThen = ({ row }: RequestKey) =>
  keyConflict(
    row.idempotencia,
    'ya se usó, y aquella vez esta guía no se creó. Para crearla ahora, envíela con una clave nueva.',
  )
