import type { Deps } from '../deps.ts'
import { hacerEslabon, REGISTROS } from './cadena.ts'
import { sellar } from './sello.ts'

/** Links of a record made in one round: 100,000 lines. */
const ESLABONES = 20

/** Goes on with the chains of both records, and seals the days that are over; does nothing when there is nothing new. */
export async function encadenar(deps: Pick<Deps, 'db' | 'reloj' | 'log' | 'secretos' | 'ajustes'>): Promise<void> {
  const { db, reloj } = deps
  for (const registro of REGISTROS) {
    let hay = true
    for (let hechos = 0; hay && hechos < ESLABONES; hechos++) hay = await hacerEslabon(db, registro, reloj())
  }
  await sellar(deps)
}
