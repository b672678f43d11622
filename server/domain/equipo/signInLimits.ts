import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'

/**
 * Counts a person's sign-in against the limit of the network, before any look-up.
 * @returns function that undoes the count, for a sign-in that succeeds
 * @throws Problema 429
 */
export function limitSignIns({ signInLimit }: Pick<Deps, 'signInLimit'>, network: string): () => void {
  const de = `persona ${network}`
  const delaySeconds = signInLimit.take(de)
  if (delaySeconds > 0)
    throw new Problema('demasiadas_solicitudes', `Demasiados intentos. Espere ${delaySeconds} segundos y repita.`, {
      headers: { 'Retry-After': String(delaySeconds) },
    })
  return () => signInLimit.giveBack(de)
}
