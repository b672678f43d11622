import { setTimeout as sleep } from 'node:timers/promises'
import type { Harness } from './harness.ts'
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
  run: (scale: ScenarioScale) => Promise<ScenarioResult>
  /** For `npm test`, and for `npm run test:faults`. */
  ci: ScenarioScale
  complete: ScenarioScale
}

export const randomBetween = (min: number, max: number, random = Math.random) => min + random() * (max - min)

/** A receiver that takes its time. */
export const handleSlowly: Harness['receptor']['handle'] = async () => {
  await sleep(randomBetween(0, 40))
  return 204
}
