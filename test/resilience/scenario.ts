import { setTimeout as dormir } from 'node:timers/promises'
import type { Arnes } from './harness.ts'
import type { ScenarioResult } from './ledger.ts'

export interface ScenarioScale {
  times: number
  /** Of isolation: what waits behind the endpoint that hangs. Of the receiver that is down: for how long, in seconds. Of the killed worker: how many proofs. */
  size?: number
}

export interface Scenario {
  clave: string
  titulo: string
  /** Why it can't be tried here, in words. */
  missing?: () => Promise<string | undefined>
  correr: (scale: ScenarioScale) => Promise<ScenarioResult>
  /** For `npm test`, and for `npm run test:faults`. */
  ci: ScenarioScale
  complete: ScenarioScale
}

export const randomBetween = (min: number, max: number, azar = Math.random) => min + azar() * (max - min)

/** A receiver that takes its time. */
export const handleSlowly: Arnes['receptor']['handle'] = async () => {
  await dormir(randomBetween(0, 40))
  return 204
}
