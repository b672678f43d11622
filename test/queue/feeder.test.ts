import type { PgBoss } from 'pg-boss'
import { afterEach, describe, expect, it } from 'vitest'
import { Feeder, type FeederDeps } from '../../server/data/queue/feeder.ts'
import { createLog } from '../../server/platform/log.ts'

const openResources: { stop(): Promise<void> }[] = []
afterEach(() => Promise.all(openResources.splice(0).map((one) => one.stop())))

/** A feeder of one kind of work, whose rows, queue and clock do what the test says. */
function createFeeder() {
  const world = { clockOffset: 0, rows: [] as string[], fault: false, rondas: 0, advanceCount: 0 }
  const fedIds: string[] = []
  const boss = {
    insert: async (_cola: string, jobs: { id: string }[]) => {
      if (world.fault) throw new Error('the queue is away')
      fedIds.push(...jobs.map(({ id }) => id))
    },
  } as unknown as PgBoss
  const deps: FeederDeps = {
    log: createLog('silent'),
    clock: () => new Date(Date.now() + world.clockOffset),
    notifyJobs: () => {},
    wake: () => {},
    announceWork: () => {},
  }
  const job = {
    cola: 'prueba',
    opciones: {},
    pendientes: async () => {
      world.rondas++
      return world.rows.map((id) => ({ id }))
    },
    advance: async () => world.advanceCount++,
    run: async () => {},
  }
  const feeder = new Feeder(boss, [job], deps)
  openResources.push(feeder)
  /** Waits for a round that begins now. */
  const round = async () => {
    const before = world.rondas
    feeder.notify()
    await expect.poll(() => world.rondas, { interval: 5 }).toBeGreaterThan(before)
  }
  return { world, fedIds, round }
}

describe('the feeder', () => {
  it('brings rows forward at its first round, and whenever the clock steps back, also from ahead', async () => {
    const { world, round } = createFeeder()
    await round()
    await round()
    expect(world.advanceCount).toBe(1)
    world.clockOffset = 3_600_000
    await round()
    expect(world.advanceCount).toBe(1)
    world.clockOffset = 0
    await round()
    expect(world.advanceCount).toBe(2)
    world.clockOffset = -3_600_000
    await round()
    expect(world.advanceCount).toBe(3)
  })

  it('feeds a row once, and again at once if the queue did not take it', async () => {
    const { world, fedIds, round } = createFeeder()
    world.rows = ['una']
    await round()
    await round()
    expect(fedIds).toEqual(['una'])
    world.rows = ['una', 'otra']
    world.fault = true
    await round()
    world.fault = false
    for (let i = 0; i < 2; i++) await round()
    // Rows that were fed are fed again after five seconds in any case, so this must not wait.
    expect(fedIds.toSorted()).toEqual(['otra', 'una', 'una'])
  })
})
