import { setTimeout as sleep } from 'node:timers/promises'
import { type Harness, wait, withHarness } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { createAcknowledgedLote } from './load.ts'
import type { ScenarioProcess } from './processes.ts'
import { handleSlowly, randomBetween, type Scenario } from './scenario.ts'

// What a worker that is killed costs: only what it had under way comes again.

/** Longest that a killed worker's claims hold its deliveries back, in seconds. */
const RECUPERACION = 60

export const deathAfterAnswer: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const { receptor } = harness
    const api = await harness.api()
    await harness.registrar(api, '/todo')
    const guias = new Map<string, string>()
    const victims = new Map<string, number>()
    for (let i = 0; i < times; i++) {
      const worker = await harness.worker()
      // Few: a dead worker's lease holds its endpoint's deliveries back until it lapses.
      const killAt = Math.floor(randomBetween(1, 4))
      let arrivalCount = 0
      const untilKilled = new Promise<void>((resolve) => {
        receptor.afterAnswer = (path, id, arrivalNumber) => {
          if (arrivalNumber > 1 || ++arrivalCount !== killAt) return
          worker.kill('SIGKILL')
          victims.set(`${path} ${id}`, Date.now())
          resolve()
        }
      })
      await createAcknowledgedLote(harness, api, 3, guias)
      if (!(await Promise.race([untilKilled.then(() => true), sleep(60_000)])))
        harness.complaints.push(`kill ${i + 1}: ${killAt} deliveries didn't arrive within 60 s`)
      receptor.afterAnswer = () => {}
      worker.kill('SIGKILL')
      await worker.fin
    }
    const danado = Date.now()
    await harness.worker()
    const result = await closeLedger(harness, {
      scenario: 'worker muerto tras el 2xx',
      trial: `${times} SIGKILL`,
      load: { guias, cancelledGuias: new Set(), fallas: [], statusCounts: new Map() },
      danado,
      // One that came again may be under way at the next kill, too.
      allowedRepeats: times,
    })
    // The ones that stood between answer and settling came again, soon after their worker's death.
    const delays = [...victims].map(([key, killedAt]) => {
      const secondReception = receptor.receptions.get(key)?.[1]
      return secondReception ? (secondReception.receivedAt - killedAt) / 1000 : undefined
    })
    const repetidas = delays.filter((delay) => delay !== undefined)
    const slowestSeconds = Math.max(0, ...repetidas)
    if (slowestSeconds > RECUPERACION) result.fallas.push(`resumed ${slowestSeconds.toFixed(1)} s after the kill`)
    result.notas.push(
      `${repetidas.length} of ${times} victims came again, the last after ${slowestSeconds.toFixed(1)} s`,
    )
    result.recoverySeconds = slowestSeconds
    return result
  })

const PATHS = ['/todo-1', '/todo-2', '/todo-3', '/todo-4']

/** What the receiver answered with success and the database doesn't know, once nobody can settle any of it any more. */
async function readUnsettled({ db, receptor }: Harness, { pid }: ScenarioProcess): Promise<string[]> {
  const sesiones = async () =>
    (await db.pool.query('select from pg_stat_activity where application_name like $1', [`guias%pid=${pid}`])).rowCount
  await wait(async () => (await sesiones()) === 0, 10_000, 10)
  const { rows } = await db.pool.query<{ clave: string }>(
    `select w.url || ' ' || e.evento as clave from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     where e.estado = 'pendiente'`,
  )
  return rows
    .map(({ clave: key }) => key.slice(receptor.base.length))
    .filter((key) => receptor.receptions.get(key)?.some(({ status }) => status === 204))
}

/** In the midst of its work, at any instant: what comes twice was answered and unsettled at a kill, once for each kill. */
export const deathUnderLoad: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const { receptor } = harness
    receptor.handle = handleSlowly
    const api = await harness.api()
    for (const path of PATHS) await harness.registrar(api, path)
    const guias = new Map<string, string>()
    const unsettledCounts = new Map<string, number>()
    const unsettledPerKill: number[] = []
    for (let i = 0; i < times; i++) {
      const worker = await harness.worker()
      const killAt = Math.floor(randomBetween(50, 300))
      let arrivalCount = 0
      const untilKilled = new Promise<void>((resolve) => {
        receptor.afterAnswer = () => {
          if (++arrivalCount !== killAt) return
          worker.kill('SIGKILL')
          resolve()
        }
      })
      await createAcknowledgedLote(harness, api, 100, guias)
      // What the one before it held is nobody's until its leases lapse.
      if (!(await Promise.race([untilKilled.then(() => true), sleep(60_000)])))
        harness.complaints.push(`kill ${i + 1}: ${killAt} deliveries didn't arrive within 60 s`)
      receptor.afterAnswer = () => {}
      worker.kill('SIGKILL')
      await worker.fin
      const keys = await readUnsettled(harness, worker)
      unsettledPerKill.push(keys.length)
      for (const key of keys) unsettledCounts.set(key, (unsettledCounts.get(key) ?? 0) + 1)
    }
    const danado = Date.now()
    await harness.worker()
    const result = await closeLedger(harness, {
      scenario: 'worker muerto bajo carga',
      trial: `${times} SIGKILL`,
      load: { guias, cancelledGuias: new Set(), fallas: [], statusCounts: new Map() },
      danado,
      allowedRepeats: times,
      notas: [`answered and unsettled at each kill: ${unsettledPerKill.join(', ')}`],
    })
    for (const [key, receptions] of receptor.receptions) {
      const repeated = receptions.filter(({ status }) => status === 204).length - 1
      const owedRepeats = unsettledCounts.get(key) ?? 0
      if (repeated > owedRepeats)
        result.fallas.push(`${key} came ${repeated} times again, unsettled ${owedRepeats} times`)
    }
    if (unsettledCounts.size === 0) result.fallas.push('nothing was unsettled at any kill: nothing was tried')
    return result
  })
