import { collectAudit } from '../data/audit.ts'
import type { Deps } from '../deps.ts'
import { hacerEslabon, leerCadenas } from './cadena.ts'
import { sellar } from './sello.ts'

/**
 * Makes the next link of each record's chain, and seals the days that are over; does nothing when there is nothing new.
 * @returns whether there may be another link to make: who asks for it rests in between, because a merchant's burst is
 * hashed beside what his neighbours do
 */
export async function encadenar(deps: Pick<Deps, 'db' | 'reloj' | 'log' | 'secretos' | 'ajustes'>): Promise<boolean> {
  const { db, reloj } = deps
  await collectAudit(db)
  let hay = false
  for (const cadena of await leerCadenas(db, false)) if (await hacerEslabon(db, cadena, reloj())) hay = true
  await sellar(deps)
  return hay
}
