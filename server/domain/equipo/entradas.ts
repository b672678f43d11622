import { Problema } from '../../platform/errors.ts'
import type { Deps } from '../deps.ts'

/**
 * Counts a person's sign-in against the limit of the network, before any look-up.
 * @returns function that undoes the count, for a sign-in that succeeds
 * @throws Problema 429
 */
export function limitarEntradas({ limiteDeEntrada }: Pick<Deps, 'limiteDeEntrada'>, red: string): () => void {
  const de = `persona ${red}`
  const espera = limiteDeEntrada.take(de)
  if (espera > 0)
    throw new Problema('demasiadas_solicitudes', `Demasiados intentos. Espere ${espera} segundos y repita.`, {
      cabeceras: { 'Retry-After': String(espera) },
    })
  return () => limiteDeEntrada.giveBack(de)
}
