import type { Deps } from '../deps.ts'
import { keyConflict, type RequestKey } from '../idempotencia/idempotencia.ts'
import { readGuides } from './guia.ts'
import { type Candidate, type Cuenta, createCandidates } from './strict.ts'
import type { VeredictoDeGuia } from './writing.ts'

/** Results of a request with a key; undefined in the place of an entry that is no candidate and has no guide. */
interface Once {
  veredictos: (VeredictoDeGuia | undefined)[]
  /** True if an equal request has created the guides. */
  repetida: boolean
}

/**
 * Creates guides without a reference at most once for each key. The key commits with the guides, and stores their codes
 * by position. So a repetition gives the same guides, and creates none in the place of a guide that was rejected then.
 * @param candidatas guides to create, by position; undefined in the place of other entries
 * @throws Problema 409 if the key belongs to another request
 */
export async function createOnce(
  { db, escritura }: Pick<Deps, 'db' | 'escritura'>,
  cuenta: Cuenta,
  key: RequestKey,
  candidatas: readonly (Candidate | undefined)[],
): Promise<Once> {
  const escritas = await createCandidates(
    escritura,
    cuenta,
    candidatas.filter((una) => una !== undefined),
    {
      fila: key.fila,
      identificador: (codigoDe) => candidatas.map((una) => (una && codigoDe(una.datos)) ?? '').join(),
    },
  )
  // Nothing was written if an equal request has the key, or if each guide was rejected. The first request is looked up
  // only then, which spares a first request the reading.
  const anterior = escritas.some((una) => 'fila' in una) ? undefined : await key.anterior()
  if (anterior === undefined) return { veredictos: candidatas.map((una) => una && escritas.shift()), repetida: false }
  const codigos = anterior.split(',')
  const filas = await readGuides(db, cuenta, codigos)
  const veredictos = candidatas.map((una, i) => {
    const fila = filas.get(codigos[i]!)
    return fila ? { fila, repetida: true } : una && { problema: notThen(key) }
  })
  return { veredictos, repetida: true }
}

const notThen = ({ fila }: RequestKey) =>
  keyConflict(
    fila.idempotencia,
    'ya se usó, y aquella vez esta guía no se creó. Para crearla ahora, envíela con una clave nueva.',
  )
