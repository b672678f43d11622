// The service's own code of who may send, played in virtual time against receivers that fail by chance: each seed is a
// story of its own, and the same each time.

import { describe, expect, it } from 'vitest'
import { SECOND_MS } from '../../../server/platform/time/units.ts'
import { createRandom } from '../../random.ts'
import type { ReceiverModel } from './simulation/pump.ts'
import { answerAfter, neverAnswer, type SimulationCase, simular } from './simulation/simulate.ts'

const COSTS = { sending: 0.1, helpers: 0, postgres: 0.05, receptor: 0.05, disco: 1 }

const con = (more: Partial<SimulationCase>): SimulationCase => ({
  seed: 1,
  cores: 2,
  processes: 1,
  endpoints: 20,
  comercios: 20,
  costs: COSTS,
  responder: () => answerAfter(5),
  ...more,
})

/** Receivers of all kinds, two of ten ill, and processes that are killed at any moment. */
function recordedHistory(seed: number): SimulationCase {
  const random = createRandom(seed)
  const entre = (from: number, hasta: number) => from + Math.floor(random() * (hasta - from + 1))
  const processes = entre(1, 4)
  const males: ReceiverModel[] = [
    neverAnswer,
    answerAfter(2_000),
    () => ({ ms: 5, succeeded: false }),
    (random) => ({ ms: 5, succeeded: random() < 0.5 }),
    (_random, now) => ({ ms: 5, succeeded: now > 20 * SECOND_MS }),
  ]
  return con({
    seed,
    processes,
    endpoints: entre(10, 60),
    comercios: entre(1, 10),
    backlog: entre(0, 500),
    perSecond: entre(50, 400),
    durationMs: 10 * SECOND_MS,
    responder: (endpoint) =>
      endpoint % 10 < 2 ? males[(endpoint + seed) % males.length]! : answerAfter(entre(1, 200)),
    deaths: Array.from({ length: entre(0, 3) }, () => ({
      processIndex: entre(0, processes - 1),
      en: entre(0, 12) * SECOND_MS,
    })),
  })
}

describe('the simulation of what is sent', () => {
  it('gives the same for the same seed, and something else for another', () => {
    expect(simular(recordedHistory(7))).toEqual(simular(recordedHistory(7)))
    expect(simular(recordedHistory(7))).not.toEqual(simular(recordedHistory(8)))
  })

  it.each([
    ['as many exchanges as a process has', { comercios: 20 }, 64],
    ['and one merchant half of them', { comercios: 1 }, 32],
    ['and one endpoint four', { comercios: 1, endpoints: 1 }, 4],
  ])('keeps under way %s', (_description, more, concurrent) => {
    const { perSecond } = simular(con({ ...more, eventos: 1, backlog: 4_000, responder: () => answerAfter(100) }))
    expect(perSecond).toBeGreaterThan(0.9 * concurrent * 10)
    expect(perSecond).toBeLessThan(1.05 * concurrent * 10)
  })

  it('loses nothing and keeps the order of each guide, even when receivers fail and processes are killed', {
    timeout: 120_000,
  }, () => {
    for (let seed = 1; seed <= 40; seed++) {
      const { lost: lostCount, disorderedCount, deliveredCount } = simular(recordedHistory(seed))
      expect({ semilla: seed, perdidas: lostCount, desordenadas: disorderedCount }).toEqual({
        semilla: seed,
        perdidas: 0,
        desordenadas: 0,
      })
      expect(deliveredCount).toBeGreaterThan(0)
    }
  })

  it('sends nothing twice where nobody is killed', () => {
    for (let seed = 1; seed <= 20; seed++)
      expect([seed, simular({ ...recordedHistory(seed), deaths: [] }).repetidas]).toEqual([seed, 0])
  })

  it('makes nobody wait for those that hang', () => {
    const halfLoad = con({ perSecond: 400, durationMs: 60 * SECOND_MS, endpoints: 100, comercios: 100 })
    const { delays: esperas } = simular({
      ...halfLoad,
      responder: (endpoint) => (endpoint % 2 === 0 ? neverAnswer : answerAfter(20)),
    })
    expect(Math.max(...esperas.filter((_, endpoint) => endpoint % 2 === 1))).toBeLessThan(2 * SECOND_MS)
  })
})
