import type { PgBoss } from 'pg-boss'
import { afterEach, describe, expect, it } from 'vitest'
import { Feeder, type FeederDeps } from '../../server/data/queue/feeder.ts'
import { createLog } from '../../server/platform/log.ts'

const abiertos: { stop(): Promise<void> }[] = []
afterEach(() => Promise.all(abiertos.splice(0).map((one) => one.stop())))

/** A feeder of one kind of work, whose rows, queue and clock do what the test says. */
function nuevo() {
  const mundo = { desfase: 0, rows: [] as string[], falla: false, rondas: 0, adelantos: 0 }
  const alimentados: string[] = []
  const boss = {
    insert: async (_cola: string, jobs: { id: string }[]) => {
      if (mundo.falla) throw new Error('the queue is away')
      alimentados.push(...jobs.map(({ id }) => id))
    },
  } as unknown as PgBoss
  const deps: FeederDeps = {
    log: createLog('silent'),
    clock: () => new Date(Date.now() + mundo.desfase),
    notifyJobs: () => {},
    wake: () => {},
    announceWork: () => {},
  }
  const job = {
    cola: 'prueba',
    opciones: {},
    pendientes: async () => {
      mundo.rondas++
      return mundo.rows.map((id) => ({ id }))
    },
    advance: async () => mundo.adelantos++,
    run: async () => {},
  }
  const alimentador = new Feeder(boss, [job], deps)
  abiertos.push(alimentador)
  /** Waits for a round that begins now. */
  const ronda = async () => {
    const before = mundo.rondas
    alimentador.notify()
    await expect.poll(() => mundo.rondas, { interval: 5 }).toBeGreaterThan(before)
  }
  return { mundo, alimentados, ronda }
}

describe('the feeder', () => {
  it('brings rows forward at its first round, and whenever the clock steps back, also from ahead', async () => {
    const { mundo, ronda } = nuevo()
    await ronda()
    await ronda()
    expect(mundo.adelantos).toBe(1)
    mundo.desfase = 3_600_000
    await ronda()
    expect(mundo.adelantos).toBe(1)
    mundo.desfase = 0
    await ronda()
    expect(mundo.adelantos).toBe(2)
    mundo.desfase = -3_600_000
    await ronda()
    expect(mundo.adelantos).toBe(3)
  })

  it('feeds a row once, and again at once if the queue did not take it', async () => {
    const { mundo, alimentados, ronda } = nuevo()
    mundo.rows = ['una']
    await ronda()
    await ronda()
    expect(alimentados).toEqual(['una'])
    mundo.rows = ['una', 'otra']
    mundo.falla = true
    await ronda()
    mundo.falla = false
    for (let i = 0; i < 2; i++) await ronda()
    // Rows that were fed are fed again after five seconds in any case, so this must not wait.
    expect(alimentados.toSorted()).toEqual(['otra', 'una', 'una'])
  })
})
