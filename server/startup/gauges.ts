import { Gauge, type Registry } from 'prom-client'
import { type MeasureDeps, measuresOf, readEndpoints, readQueues } from '../domain/measures.ts'

/** Sources of the gauges. */
export interface Observed extends MeasureDeps {
  /** Names of the queues; a queue without due jobs reports 0. */
  colas?: readonly string[]
}

/** Registers the gauges that query the database at each scrape. */
export function observeDatabase(registers: Registry[], deps: Observed): void {
  for (const { nombre: name, help, read } of measuresOf(deps))
    gauge(registers, { name, help }, async () => [[{}, await read(deps)]])
  gauge(registers, { name: 'guias_webhooks', help: 'Endpoints by state.', labelNames: ['estado'] }, async () =>
    (await readEndpoints(deps)).map(({ estado, count }) => [{ estado }, count]),
  )
  observeQueues(registers, deps)
}

function observeQueues(registers: Registry[], deps: Observed): void {
  const { colas = [] } = deps
  // Both gauges are read at the same time, from one query.
  let reading: ReturnType<typeof readQueues> | undefined
  const read = () => {
    reading ??= readQueues(deps).finally(() => {
      reading = undefined
    })
    return reading
  }
  const gaugeOf = (name: string, help: string, de: 'count' | 'segundos') =>
    gauge(registers, { name, help, labelNames: ['cola'] }, async () => {
      const rows = new Map((await read()).map((row) => [row.cola, row[de]]))
      return colas.map((cola) => [{ cola }, rows.get(cola) ?? 0])
    })
  gaugeOf('guias_cola_trabajos', 'Jobs that are due and that no worker has taken, by queue.', 'count')
  gaugeOf(
    'guias_cola_atraso_segundos',
    'For how long the job that waits longest is due, by queue, in seconds.',
    'segundos',
  )
}

/** Time that a gauge's query may take, in milliseconds: a locked table must not delay the other metrics. */
const READ_DEADLINE_MS = 2_000
const tooLate = () => new Promise<[]>((resolve) => setTimeout(resolve, READ_DEADLINE_MS, []).unref())

/** Registers a gauge whose values are read at each scrape. */
function gauge(
  registers: Registry[],
  gaugeOptions: { name: string; help: string; labelNames?: string[] },
  read: () => Promise<[etiquetas: Record<string, string>, valor: number][]>,
): void {
  new Gauge({
    ...gaugeOptions,
    // Every process reports the same value. The values of several processes are therefore not summed.
    aggregator: 'max',
    registers,
    async collect() {
      const values = await Promise.race([read(), tooLate()]).catch(() => [])
      // If the database fails, the gauge is removed and has no value. `reset` alone would leave a 0.
      this.reset()
      if (!gaugeOptions.labelNames) this.remove()
      for (const [etiquetas, value] of values) this.set(etiquetas, value)
    },
  })
}
