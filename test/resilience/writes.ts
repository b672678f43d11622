import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { Agent, request } from 'undici'
import { buildGuia } from '../factories.ts'
import { scrapeMetrics, valueIn } from '../observability/scrape.ts'
import { findFreePort } from '../ports.ts'
import { type Harness, withHarness } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { startLoads } from './load.ts'
import type { ScenarioProcess } from './processes.ts'
import type { Scenario } from './scenario.ts'

// A database that is there and takes no writes: what requests are told, what /readyz says, and what goes on afterwards.

/** How soon /readyz follows the database, in seconds. */
const A_TIEMPO = 5
const MEGA = 1024 * 1024

interface ReadinessWatch {
  /** From now until /readyz gives that status, in seconds. */
  hasta(status: number): Promise<number>
  /** How often each status came. */
  seen: Map<number, number>
  stop(): Promise<void>
}

/** Asks /readyz five times a second, as several proxies and orchestrators do together. */
function watchReadiness({ url }: ScenarioProcess): ReadinessWatch {
  const seen = new Map<number, number>()
  let last = 0
  let isStopping = false
  const pollLoop = (async () => {
    while (!isStopping) {
      const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
      last = response?.status ?? 0
      seen.set(last, (seen.get(last) ?? 0) + 1)
      await response?.text()
      await sleep(200)
    }
  })()
  return {
    seen,
    async hasta(status) {
      const startedAt = performance.now()
      // What is being answered now was asked before.
      await sleep(250)
      while (last !== status && performance.now() - startedAt < 60_000) await sleep(20)
      return (performance.now() - startedAt) / 1_000
    },
    async stop() {
      isStopping = true
      await pollLoop
    },
  }
}

interface WriteFault {
  scenario: string
  /** Harms the database; returns what mends it. */
  causeFault: (harness: Harness) => Promise<() => Promise<unknown>>
  /** Whether /readyz has to say so. */
  isReported: boolean
  disco?: number
  postgres?: readonly string[]
}

/** Requests and webhooks are sent before, during and after each harm; nothing is lost, and no answer is worse than a 503. */
const withoutWrites =
  ({ scenario, causeFault, isReported, ...options }: WriteFault): Scenario['run'] =>
  ({ times, size: seconds = 8 }) =>
    withHarness(async (harness) => {
      const api = await harness.api()
      await harness.worker()
      await harness.registrar(api, '/todo')
      const load = startLoads(harness, { apis: () => [api] })
      const readinessWatch = watchReadiness(api)
      await readinessWatch.hasta(200)
      readinessWatch.seen.clear()
      const downDelays: number[] = []
      const upDelays: number[] = []
      for (let i = 0; i < times; i++) {
        await sleep(2_000)
        const repair = await causeFault(harness)
        if (isReported) downDelays.push(await readinessWatch.hasta(503))
        await sleep(seconds * 1_000)
        await repair()
        upDelays.push(await readinessWatch.hasta(200))
      }
      const danado = Date.now()
      await sleep(1_000)
      await load.stop()
      await readinessWatch.stop()
      const formatSeconds = (durations: readonly number[]) => durations.map((s) => s.toFixed(1)).join(', ')
      const result = await closeLedger(harness, {
        scenario,
        trial: `${times} veces ${seconds} s`,
        load,
        danado,
        // A settlement that was refused is done again later, and a worker may have lost its lease by then.
        allowedRepeats: times,
        notas: [
          ...(isReported
            ? [`/readyz said 503 after ${formatSeconds(downDelays)} s and 200 again after ${formatSeconds(upDelays)} s`]
            : []),
          `/readyz ${[...readinessWatch.seen].map(([status, n]) => `${status}×${n}`).join(' ')}`,
        ],
      })
      const lateChanges = [...downDelays, ...upDelays].filter((s) => s > A_TIEMPO)
      if (lateChanges.length > 0) result.fallas.push(`/readyz followed after ${formatSeconds(lateChanges)} s`)
      if (isReported && !load.statusCounts.get(503)) result.fallas.push('no request was refused: nothing was tried')
      if (!isReported && readinessWatch.seen.size > 1)
        result.fallas.push(
          `/readyz changed, though writes went on: ${[...readinessWatch.seen.keys()].join(', ')}; ${[...harness.avisos.keys()].join(', ')}`,
        )
      return result
    }, options)

/** As managed databases do when their disk fills up, and as a former primary is. */
export const readOnlyDatabase = withoutWrites({
  scenario: 'base de datos de solo lectura',
  isReported: true,
  async causeFault(harness) {
    const setReadOnly = (value: 'on' | 'off') =>
      harness.withClient(async (client) => {
        await client.query('set default_transaction_read_only = off')
        await client.query(`alter database guias set default_transaction_read_only = ${value}`)
        await harness.cutConnections()
      })
    await setReadOnly('on')
    return () => setReadOnly('off')
  },
})

export const fullDisk = withoutWrites({
  scenario: 'disco lleno',
  isReported: true,
  disco: 400 * MEGA,
  causeFault: async (harness) => {
    const freeSpace = harness.fillFreeSpace()
    return async () => freeSpace()
  },
})

/** Others have all connections: the service keeps those that it has, and gets no more. */
export const noFreeConnections = withoutWrites({
  scenario: 'sin conexiones libres',
  isReported: false,
  // /readyz counts a commit that takes longer than three seconds for none, and a busy machine's disk may need as long.
  postgres: ['max_connections=40', 'shared_buffers=64MB', 'fsync=off'],
  async causeFault(harness) {
    const otherClients: pg.Client[] = []
    const takeAllConnections = async () => {
      for (let isFull = false; !isFull; ) {
        const other = new pg.Client(harness.databaseUrl)
        other.on('error', () => {})
        await other.connect().then(
          () => otherClients.push(other),
          () => {
            isFull = true
          },
        )
      }
    }
    await takeAllConnections()
    // /readyz loses its connection, and the next one is refused.
    await otherClients[0]!.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'guias salud%'`,
    )
    await takeAllConnections()
    return () => Promise.all(otherClients.map((other) => other.end()))
  },
})

/** Requests that a loader has under way at most; the service refuses beyond 1,000. */
const EN_CURSO = 3_000

/** Creations that go on for so many seconds: as many as are answered, or so many per second whatever is answered. */
async function createDuring(
  { llave }: Harness,
  { url }: ScenarioProcess,
  seconds: number,
  { concurrency, perSecond }: { concurrency: number; perSecond?: number },
) {
  const agent = new Agent({ connections: concurrency, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 })
  const estados = new Map<number, number>()
  const end = performance.now() + seconds * 1_000
  let running = 0
  let skippedCount = 0
  const create = async () => {
    running++
    const status = await request(`${url}/api/v1/guias`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(buildGuia()),
      dispatcher: agent,
    }).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode
      },
      () => 0,
    )
    running--
    estados.set(status, (estados.get(status) ?? 0) + 1)
  }
  if (perSecond === undefined) {
    const keepCreating = async () => {
      while (performance.now() < end) await create()
    }
    await Promise.all(Array.from({ length: concurrency }, keepCreating))
  } else {
    const startedAt = performance.now()
    for (let sentCount = 0; performance.now() < end; await sleep(5)) {
      const dueCount = Math.floor(((performance.now() - startedAt) / 1_000) * perSecond)
      for (; sentCount < dueCount; sentCount++) {
        if (running < EN_CURSO) void create()
        else skippedCount++
      }
    }
    while (running > 0) await sleep(20)
  }
  await agent.close()
  return { estados, skippedCount, perSecond: (estados.get(201) ?? 0) / seconds }
}

/** Twice as many requests as the service can answer: it says that it is ready all the time. */
export const saturatedService: Scenario['run'] = ({ times, size: seconds = 10 }) =>
  withHarness(async (harness) => {
    // Workers in the same process, as in the embedded default: they share its connections.
    const metricsPort = await findFreePort()
    const api = await harness.api({ WORKERS: '1', METRICS_PORT: `${metricsPort}` })
    const readinessWatch = watchReadiness(api)
    await readinessWatch.hasta(200)
    await createDuring(harness, api, 2, { concurrency: 32 })
    let { perSecond: capacity } = await createDuring(harness, api, Math.min(seconds, 5), { concurrency: 32 })
    readinessWatch.seen.clear()
    const faults: string[] = []
    const notas: string[] = []
    let refusedCount = 0
    // On a busy machine the measured capacity may be too low: then twice as much is asked the next time.
    let factor = 2
    for (let saturatedRounds = 0, round = 0; saturatedRounds < times && round < 3 * times; round++) {
      const perSecond = factor * capacity
      const {
        estados,
        skippedCount,
        perSecond: created,
      } = await createDuring(harness, api, seconds, { concurrency: EN_CURSO, perSecond })
      const statusSummary = [...estados].map(([status, n]) => `${status || 'none'}×${n}`).join(' ')
      notas.push(
        `${perSecond.toFixed(0)}/s asked, ${created.toFixed(0)}/s created: ${statusSummary}, ${skippedCount} not sent`,
      )
      for (const status of estados.keys()) if (![201, 503].includes(status)) faults.push(`answers: ${status}`)
      refusedCount += estados.get(503) ?? 0
      capacity = Math.max(capacity, created)
      if (created < 0.75 * perSecond) saturatedRounds++
      else if (round === 3 * times - 1) faults.push('it was never asked for twice as much as it can')
      else factor *= 2
    }
    await readinessWatch.stop()
    const seenStatuses = [...readinessWatch.seen].map(([status, n]) => `${status || 'none'}×${n}`).join(' ')
    notas.push(`/readyz ${seenStatuses}`)
    if (readinessWatch.seen.size !== 1 || !readinessWatch.seen.has(200))
      faults.push(`/readyz changed under load: ${seenStatuses}`)
    const countedRefusals = valueIn(
      await scrapeMetrics(metricsPort),
      'guias_solicitudes_total{operacion="saturada",status="503"}',
    )
    if (countedRefusals !== refusedCount)
      faults.push(`${refusedCount} requests were refused, and the metric has ${countedRefusals}`)
    for (const complaint of harness.complaints.slice(0, 4)) faults.push(`log: ${complaint}`)
    return {
      scenario: 'el doble de lo que puede',
      trial: `${times} veces ${seconds} s`,
      lost: 0,
      duplicateCount: 0,
      recoverySeconds: 0,
      fallas: faults,
      notas,
    }
  })
