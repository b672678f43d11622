import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildGuiaJson, buildOrders, INSERT_GUIA, seedWebhookAvisos } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation, RunningProgram } from '../harness/environment.ts'
import { type LoadConnection, openLoadConnection } from '../harness/load.ts'
import { formatNumber, miles } from '../harness/number.ts'
import { type DeliveryDestination, type DeliveryOrder, readMonotonicClock } from '../harness/order.ts'
import type { Measurement, MeasurementResult } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'
import { cpuOf, cpuSince, type Figures } from '../harness/sides.ts'
import {
  type BenchReceiver,
  registerEndpoints,
  runAtRate,
  sendPost,
  startReceiver,
  waitUntilEmpty,
} from '../harness/webhooks.ts'
import { buildReportRow } from './create.ts'

const ENDPOINTS = 20
const MANY_ENDPOINTS = 2_000
/** Events per second of the delay measurements. */
const EVENTOS_PER_SECOND = 200
/** Maximum wait for webhooks, in milliseconds. */
const ARRIVAL_DEADLINE_MS = 300_000

/** Remaining work in the queue of the service (SIN_ENVIAR) and of graphile-worker (SIN_TRABAJAR), for FROM clauses. */
const UNSENT_ENTREGAS = "webhook_aviso where estado = 'pendiente'"
const UNDONE_JOBS = 'graphile_worker._private_jobs'

// --- Deliveries per second: all deliveries are pending when the measurement starts

/**
 * Program under measurement: `add` inserts `count` pending deliveries, and `settle` waits until no work is left
 * after the last reception.
 */
interface SenderSide {
  nombre: string
  pid: number
  add(count: number): Promise<void>
  settle(): Promise<void>
}

/** Returns a function that measures deliveries per second, from the first to the last reception. */
function createStopwatch({ postgresPid }: Bench, receiver: BenchReceiver, side: SenderSide) {
  const processes = { 'su proceso': [side.pid], PostgreSQL: [postgresPid], receptor: [receiver.pid] }
  /** Microseconds of CPU per delivery. */
  const costs: Figures['cpu'][] = []
  let repetidas = 0
  return {
    async measure(count: number): Promise<number> {
      await receiver.reset()
      await side.add(count)
      const before = cpuOf({ processes })
      const summary = await receiver.waitFor(count, ARRIVAL_DEADLINE_MS)
      await side.settle()
      costs.push(cpuSince({ processes }, before, count))
      repetidas += summary.repetidas
      return ((count - 1) / (summary.ultima! - summary.first!)) * 1000
    },
    forget: () => void costs.splice(0),
    nota(): string {
      const cpu = Object.keys(processes).map(
        (part) => `${part} ${formatNumber(summarize(costs.map((cost) => cost[part]!)).median)} µs`,
      )
      const repeatedNote = repetidas > 0 ? `; ${repetidas} llegaron más de una vez` : ''
      return `${side.nombre}: CPU por webhook: ${cpu.join(', ')}${repeatedNote}`
    },
  }
}

const ofWorker = (
  base: BenchInstallation,
  destinations: readonly DeliveryDestination[],
  { pid }: RunningProgram,
): SenderSide => ({
  nombre: 'servicio',
  pid,
  add: (count) => seedWebhookAvisos(base.url, destinations, count),
  settle: () => waitUntilEmpty(base, UNSENT_ENTREGAS),
})

const buildGraphileSide = (
  base: BenchInstallation,
  destinations: readonly DeliveryDestination[],
  { pid }: RunningProgram,
): SenderSide => ({
  nombre: 'graphile-worker',
  pid,
  async add(count) {
    const orders = JSON.stringify(buildOrders(destinations, count))
    const client = await base.db.pool.connect()
    try {
      await client.query('begin')
      await client.query(
        `select count(*) from graphile_worker.add_jobs((
           select array_agg(row('send', x, null, null, null, null, null, null)::graphile_worker.job_spec)
           from json_array_elements($1::json) x))`,
        [orders],
      )
      await client.query(`analyze ${UNDONE_JOBS}`)
      await client.query('commit')
    } finally {
      client.release()
    }
  },
  settle: () => waitUntilEmpty(base, UNDONE_JOBS),
})

const ofUndici = (
  folder: string,
  destinations: readonly DeliveryDestination[],
  { url, pid }: RunningProgram,
): SenderSide => {
  let sending: Promise<void> | undefined
  const file = join(folder, 'encargos.json')
  return {
    nombre: 'undici',
    pid,
    async add(count) {
      writeFileSync(file, JSON.stringify(buildOrders(destinations, count)))
      sending = sendPost(`${url}${file}`)
      sending.catch(() => {}) // `settle` awaits this promise
    },
    async settle() {
      await sending
      rmSync(file)
    },
  }
}

/** Starts senders of each kind with `endpoints` endpoints at one receiver, and warms them up with `count` deliveries. */
async function startDeployment<Nombre extends 'program' | 'graphile' | 'undici'>(
  bench: Bench,
  base: BenchInstallation,
  names: readonly Nombre[],
  { endpoints = ENDPOINTS, count = 3_000 } = {},
) {
  const receiver = await startReceiver(base)
  const comercios = await base.createComercios(Math.min(endpoints, 200), 'test')
  const owners = Array.from({ length: endpoints }, (_, i) => comercios[i % comercios.length]!)
  const destinations = await registerEndpoints(bench, base, owners, (i) => `${receiver.url}/r/${i}`)
  const openNext = {
    program: async () => ofWorker(base, destinations, await base.worker()),
    graphile: async () => buildGraphileSide(base, destinations, await base.program('graphile.ts')),
    undici: async () => ofUndici(bench.folder, destinations, await base.program('undici.ts')),
  }
  const sides = new Map<Nombre, ReturnType<typeof createStopwatch>>()
  for (const name of names) {
    const side = createStopwatch(bench, receiver, await openNext[name]())
    // The warm-up compiles code, prepares statements and opens connections.
    await side.measure(count)
    side.forget()
    sides.set(name, side)
  }
  return {
    /** Measures all sides in turns. */
    measure: (pending: number) =>
      interleave(
        bench.options.rounds,
        Object.fromEntries(names.map((name) => [name, () => sides.get(name)!.measure(pending)])) as Record<
          Nombre,
          () => Promise<number>
        >,
      ),
    notas: () => [...sides.values()].map((side) => side.nota()),
  }
}

const measureThroughput = (bench: Bench) =>
  bench.withDatabase(async (base): Promise<MeasurementResult> => {
    const sides = await startDeployment(bench, base, ['program', 'graphile', 'undici'])
    const rows: MeasurementResult['rows'] = []
    for (const count of [3_000, 8_000]) {
      const { program, graphile, undici } = await sides.measure(count)
      const measurement = `enviar ${miles(count)} webhooks en espera, ${ENDPOINTS} endpoints`
      const contra = (name: string, reference: number[], valor: number) =>
        buildReportRow(measurement, 'webhooks/s', name, { program, reference }, { comparison: '≥', value: valor })
      rows.push(contra('graphile-worker', graphile, 2), contra('undici sin base de datos', undici, 0.5))
    }
    return { rows, notas: sides.notas() }
  })

/** Measures two deliveries to each of many endpoints, for the cost of an endpoint. */
const measureManyEndpoints = (bench: Bench) =>
  bench.withDatabase(async (base): Promise<MeasurementResult> => {
    const count = 2 * MANY_ENDPOINTS
    const sides = await startDeployment(bench, base, ['program', 'graphile'], {
      endpoints: MANY_ENDPOINTS,
      count,
    })
    const { program, graphile: reference } = await sides.measure(count)
    const measurement = `enviar 2 webhooks a cada uno de ${miles(MANY_ENDPOINTS)} endpoints`
    return {
      rows: [
        buildReportRow(
          measurement,
          'webhooks/s',
          'graphile-worker',
          { program, reference },
          { comparison: '≥', value: 1.3 },
        ),
      ],
      notas: sides.notas(),
    }
  })

/** Draws deliveries per second by the number of pending deliveries. */
const measureBacklog = (bench: Bench) =>
  bench.withDatabase(async (base): Promise<MeasurementResult> => {
    const sides = await startDeployment(bench, base, ['program'])
    const points: { x: number; program: number[] }[] = []
    for (const x of [1_000, 10_000, 100_000]) points.push({ x, ...(await sides.measure(x)) })
    const chart = {
      titulo: 'Webhooks por segundo según cuántos esperan, 20 endpoints',
      xAxis: 'en espera al empezar',
      yAxis: 'webhooks/s',
      isLogarithmic: true,
      lineas: [{ nombre: 'servicio', points: points.map(({ x, program }) => ({ x, y: summarize(program) })) }],
    }
    return {
      rows: points.map(({ x, program }) =>
        buildReportRow(`enviar ${miles(x)} webhooks en espera`, 'webhooks/s', '', { program, reference: [] }),
      ),
      notas: sides.notas(),
      charts: [{ name: 'atraso', chart }],
    }
  })

// --- Delay of a delivery: events at a steady pace

interface DelayPercentiles {
  p50: number
  p99: number
}

/**
 * Returns percentiles of the milliseconds from commit, as the client observes it, to arrival. Skips events that never
 * arrived.
 */
function summarizeDelays(
  commitTimes: ReadonlyMap<string, number>,
  arrivals: ReadonlyMap<string, number>,
): DelayPercentiles {
  const ms = [...commitTimes]
    .flatMap(([id, committedAt]) => {
      const arrivedAt = arrivals.get(id)
      return arrivedAt === undefined ? [] : [arrivedAt - committedAt]
    })
    .sort((a, b) => a - b)
  const percentile = (p: number) => ms[Math.min(ms.length - 1, Math.floor(ms.length * p))] ?? Number.NaN
  return { p50: percentile(0.5), p99: percentile(0.99) }
}

/**
 * Creates guides at a steady pace, for the merchants in turn.
 * @returns by event, the instant at which the answer to its creation arrived
 */
async function createAtRate(url: string, comercios: readonly BenchComercio[], seconds: number) {
  const commitTimes = new Map<string, number>()
  const freeConnections: LoadConnection[] = []
  const openedConnections: LoadConnection[] = []
  const openNext = () => {
    const newConnection = openLoadConnection(url)
    openedConnections.push(newConnection)
    return newConnection
  }
  try {
    await runAtRate(EVENTOS_PER_SECOND, seconds, async (i) => {
      const connection = freeConnections.pop() ?? openNext()
      const { llave } = comercios[i % comercios.length]!
      const { status, body } = await connection.request({
        method: 'POST',
        path: '/api/v1/guias',
        llave,
        body: buildGuiaJson(),
      })
      const committedAt = readMonotonicClock()
      freeConnections.push(connection)
      if (status !== 201) throw new Error(`POST /api/v1/guias: ${status} ${body().slice(0, 1000)}`)
      const { guia } = JSON.parse(body()) as { guia: string }
      commitTimes.set(`evt_${guia}_1`, committedAt)
    })
  } finally {
    for (const connection of openedConnections) connection.close()
  }
  return commitTimes
}

/**
 * Inserts the rows of a guide and the job of its delivery in one transaction, at a steady pace.
 * @returns by event, the instant at which the COMMIT returned
 */
async function addJobsAtRate({ db }: BenchInstallation, destinations: readonly DeliveryDestination[], seconds: number) {
  const commitTimes = new Map<string, number>()
  const orders = buildOrders(destinations, EVENTOS_PER_SECOND * seconds)
  await runAtRate(EVENTOS_PER_SECOND, seconds, async (i) => {
    const order: DeliveryOrder = orders[i]!
    const client = await db.pool.connect()
    try {
      await client.query('begin')
      await client.query({
        name: 'bench.guia',
        text: INSERT_GUIA,
        values: [order.numero, order.comercio_id],
      })
      await client.query({
        name: 'bench.trabajo',
        text: "select from graphile_worker.add_job('send', $1::json)",
        values: [JSON.stringify(order)],
      })
      await client.query('commit')
      commitTimes.set(order.evento, readMonotonicClock())
    } finally {
      client.release()
    }
  })
  return commitTimes
}

/**
 * Measures the delay from commit to reception, against graphile-worker.
 * @param separate if true, a worker sends the webhooks of events that the API commits in another process
 */
const latencia = (separate: boolean) => (bench: Bench) =>
  bench.withDatabase(async (base): Promise<MeasurementResult> => {
    const { rounds, seconds } = bench.options
    const receiver = await startReceiver(base)
    const [ownComercio, foreignComercio] = await base.createComercios(2, 'test')
    // The merchant of the reference has no endpoint in the service, so the service sends nothing for this merchant.
    const [destino] = await registerEndpoints(bench, base, [ownComercio!], () => `${receiver.url}/r`)
    const referenceDestination: DeliveryDestination = { ...destino!, comercio: foreignComercio! }
    const { url } = await base.service(separate ? { WORKERS: '0' } : {})
    if (separate) await base.worker()
    await base.program('graphile.ts')
    const p99 = { program: [] as number[], reference: [] as number[] }
    const measure = async (side: keyof typeof p99, duration = seconds) => {
      await receiver.reset()
      const commitTimes =
        side === 'program'
          ? await createAtRate(url, [ownComercio!], duration)
          : await addJobsAtRate(base, [referenceDestination], duration)
      await receiver.waitFor(commitTimes.size, ARRIVAL_DEADLINE_MS)
      const delays = summarizeDelays(commitTimes, await receiver.arrivals())
      await waitUntilEmpty(base, side === 'program' ? UNSENT_ENTREGAS : UNDONE_JOBS)
      p99[side].push(delays.p99)
      return delays.p50
    }
    for (const side of ['program', 'reference'] as const) {
      await measure(side, 2 * seconds)
      p99[side].pop()
    }
    await base.db.pool.query('analyze')
    const p50 = await interleave(rounds, {
      program: () => measure('program'),
      reference: () => measure('reference'),
    })
    const where = separate ? 'de la API a un worker' : 'en un proceso'
    const buildLatencyRow = (percentile: string, values: typeof p99, target: Parameters<typeof buildReportRow>[4]) =>
      buildReportRow(
        `de confirmado a recibido, ${EVENTOS_PER_SECOND} eventos/s, ${where}, ${percentile}`,
        'ms',
        'graphile-worker',
        values,
        target,
      )
    return {
      rows: [
        buildLatencyRow('p50', p50, { comparison: '≤', value: separate ? 1.2 : 0.2 }),
        buildLatencyRow('p99', p99, { comparison: '≤', value: 20, isAbsolute: true }),
      ],
      notas: [
        'del servicio se cuenta desde que la respuesta de la creación llegó al cliente; de graphile-worker, desde que volvió el COMMIT.',
      ],
    }
  })

/** Measures the effect of an endpoint that never answers, with 100,000 pending deliveries, on the other endpoints. */
async function neighbour(bench: Bench): Promise<MeasurementResult> {
  const { rounds } = bench.options
  // Longer than the timeout of an attempt, so that the first attempts fail and the probes after them are measured too.
  const seconds = Math.max(20, bench.options.seconds)
  const count = 100_000
  const arrivedPercents: number[] = []
  const buildCell = (side: 'withSick' | 'withoutSick') => () =>
    bench.withDatabase(async (base) => {
      const [receiver, silentReceiver] = [await startReceiver(base), await startReceiver(base)]
      const comercios = await base.createComercios(ENDPOINTS, 'test')
      const [sickDestination, ...healthyDestinations] = await registerEndpoints(bench, base, comercios, (i) =>
        i === 0 ? `${silentReceiver.url}/colgado` : `${receiver.url}/r/${i}`,
      )
      const healthyComercios = healthyDestinations.map(({ comercio }) => comercio)
      const { url } = await base.service()
      await receiver.waitFor((await createAtRate(url, healthyComercios, 5)).size, ARRIVAL_DEADLINE_MS)
      await base.db.pool.query('analyze')
      await receiver.reset()
      if (side === 'withSick') {
        await seedWebhookAvisos(base.url, [sickDestination!], count)
        for (const limit = performance.now() + 10_000; (await silentReceiver.summary()).hung === 0; await sleep(20))
          if (performance.now() > limit) throw new Error('nada llegó al receptor que no responde')
      }
      const commitTimes = await createAtRate(url, healthyComercios, seconds)
      await receiver.waitFor(commitTimes.size, 15_000).catch(() => {}) // missing arrivals are counted below
      const arrivals = await receiver.arrivals()
      if (side === 'withSick')
        arrivedPercents.push(([...commitTimes.keys()].filter((id) => arrivals.has(id)).length / commitTimes.size) * 100)
      return summarizeDelays(commitTimes, arrivals).p99
    })
  const { withSick, withoutSick } = await interleave(rounds, {
    withSick: buildCell('withSick'),
    withoutSick: buildCell('withoutSick'),
  })
  const p99 = buildReportRow(
    `un endpoint de ${ENDPOINTS} no responde: de confirmado a recibido de los demás, ${EVENTOS_PER_SECOND} eventos/s, p99`,
    'ms',
    'sin él',
    { program: withSick, reference: withoutSick },
    { comparison: '≤', value: 2 },
  )
  return {
    rows: [
      {
        measurement: `un endpoint de ${ENDPOINTS} no responde y ${miles(count)} le esperan: los de los demás que llegan`,
        unit: '%',
        program: summarize(arrivedPercents),
        target: { comparison: '≥', value: 100, isAbsolute: true },
      },
      p99,
    ],
  }
}

export const webhookMeasurements: Measurement[] = [
  {
    clave: 'webhooks',
    descripcion: 'webhooks por segundo, contra graphile-worker y undici sin base de datos',
    measure: measureThroughput,
  },
  {
    clave: 'latencia',
    descripcion: 'de confirmado a recibido a 200 eventos por segundo, contra graphile-worker',
    measure: latencia(false),
  },
  {
    clave: 'latenciaAparte',
    descripcion: 'lo mismo, de la API a un worker en otro proceso',
    measure: latencia(true),
  },
  {
    clave: 'muchos',
    descripcion: 'webhooks por segundo a 2,000 endpoints, contra graphile-worker',
    measure: measureManyEndpoints,
  },
  { clave: 'vecino', descripcion: 'un endpoint de 20 no responde: qué les cuesta a los demás', measure: neighbour },
  { clave: 'atraso', descripcion: 'webhooks por segundo según cuántos esperan', measure: measureBacklog },
]
