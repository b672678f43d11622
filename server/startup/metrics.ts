import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry, type RegistryContentType } from 'prom-client'
import type { RequestMetrics } from '../api/http/requestMetrics.ts'
import type { Connections } from '../data/connections.ts'
import type { FileMetrics } from '../domain/archivos/metrics.ts'
import type { MailMetrics } from '../domain/correos/metrics.ts'
import type { Health } from '../domain/deps.ts'
import type { MessageMetrics } from '../domain/mensajeria/metrics.ts'
import type { WebhookMetrics } from '../domain/webhooks/metrics.ts'
import { type Observed, observeDatabase } from './gauges.ts'
import type { MetricValues } from './processes/messages.ts'

/** Metrics of a process, as the operator's Prometheus reads them. */
export interface ExposedMetrics {
  /** Returns the metrics as text, in the exposition format. */
  expose(): Promise<string>
  tipo: string
  /**
   * Registers Node's metrics of the process, and its health. From this call on, prom-client samples the event loop a
   * hundred times a second.
   */
  observeProcess(health: () => Promise<Health>): void
}

/** Metrics that a process counts, in one registry. No label has a merchant's, a guide's or a person's value. */
export interface Metrics
  extends RequestMetrics,
    WebhookMetrics,
    MailMetrics,
    MessageMetrics,
    FileMetrics,
    ExposedMetrics {
  /** Returns the values that {@link ExposedMetrics.expose} writes as text, for another process. */
  values(): Promise<MetricValues>
  /** Counts a courier who reaches the limit of requested codes that name no guide. */
  desconocidas(): void
  /** Adds a connection pool whose connections are reported from now on. */
  observeConnections(pool: string, connections: Connections): void
  /**
   * Registers the gauges that query the database at each scrape. All processes with workers report the same values, so
   * one of them is enough for Prometheus.
   */
  observe(deps: Observed): void
}

/** Buckets of request durations in seconds, from a cached answer to the longest wait of a client. */
const REQUEST_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/**
 * Creates the metrics of a process, in a new registry.
 * @param exemplars true if histograms name traces. The text then is OpenMetrics, which alone has exemplars.
 */
export function createMetrics(exemplars = false): Metrics {
  const registro = new Registry()
  if (exemplars) (registro as Registry<RegistryContentType>).setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const registers = [registro]
  const desconocidas = new Counter({
    name: 'guias_repartidores_desconocidas_total',
    help: 'Times that a courier asked this process for as many codes that name no guide as he may.',
    registers,
  })
  return {
    tipo: registro.contentType,
    expose: () => registro.metrics(),
    values: () => registro.getMetricsAsJSON(),
    observeProcess: (health) => observeProcess(registers, health),
    observeConnections: observeConnections(registers),
    observe: (deps) => observeDatabase(registers, deps),
    desconocidas: () => desconocidas.inc(),
    ...requestMetrics(registers, exemplars),
    ...webhookMetrics(registers, exemplars),
    ...messageMetrics(registers),
    ...fileMetrics(registers),
  }
}

function requestMetrics(registers: Registry[], enableExemplars: boolean): RequestMetrics {
  const requests = new Counter({
    name: 'guias_solicitudes_total',
    help: 'Requests that this process answered, by operation (pagina: pages, en_vivo: streams, saturada: refused unread) and status.',
    labelNames: ['operacion', 'status'],
    registers,
  })
  const requestDurations = new Histogram<string>({
    name: 'guias_solicitud_segundos',
    help: 'How long requests took, from their arrival to the end of the answer, in seconds.',
    labelNames: ['operacion'],
    buckets: REQUEST_BUCKETS,
    enableExemplars,
    registers,
  })
  const refusals = new Counter({
    name: 'guias_solicitudes_rechazadas_total',
    help: 'Requests without a known credential that this process refused because their network asked too often.',
    labelNames: ['clase'],
    registers,
  })
  for (const refusedClass of ['operaciones', 'paginas']) refusals.inc({ clase: refusedClass }, 0)
  requests.inc({ operacion: 'saturada', status: 503 }, 0)
  return {
    solicitud(operacion, status, seconds, trace) {
      requests.inc({ operacion, status })
      if (!enableExemplars) requestDurations.observe({ operacion }, seconds)
      else requestDurations.observe({ labels: { operacion }, value: seconds, exemplarLabels: exemplarOf(trace) })
    },
    countSaturated: () => requests.inc({ operacion: 'saturada', status: 503 }),
    rechazo: (refusedClass) => refusals.inc({ clase: refusedClass }),
  }
}

/** Labels of an exemplar, as OpenMetrics names them. */
const exemplarOf = (trace: string | undefined) => (trace === undefined ? {} : { trace_id: trace })

function webhookMetrics(registers: Registry[], enableExemplars: boolean): WebhookMetrics {
  const intentos = new Counter({
    name: 'guias_webhook_intentos_total',
    help: 'Webhook attempts that this process made, by result (ok, or the error of the contract).',
    labelNames: ['resultado'],
    registers,
  })
  const jobDuration = new Histogram<string>({
    name: 'guias_webhook_intento_segundos',
    help: 'How long webhook attempts took, in seconds.',
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    enableExemplars,
    registers,
  })
  const avisos = new Counter({
    name: 'guias_webhook_fallas_total',
    help: 'Endpoints that were disabled (motivo) or keep failing (per cent of the window).',
    labelNames: ['que', 'motivo'],
    registers,
  })
  // A counter that starts at 1 would hide its first increase from Prometheus, so each one starts at 0.
  intentos.inc({ resultado: 'ok' }, 0)
  for (const motivo of ['respondio_410', 'fallas_continuas']) avisos.inc({ que: 'deshabilitado', motivo }, 0)
  return {
    intento(error, seconds, trace) {
      intentos.inc({ resultado: error ?? 'ok' })
      if (!enableExemplars) jobDuration.observe(seconds)
      else jobDuration.observe({ labels: {}, value: seconds, exemplarLabels: exemplarOf(trace) })
    },
    aviso: (kind, motivo) => avisos.inc({ que: kind, motivo }),
  }
}

function messageMetrics(registers: Registry[]): MailMetrics & MessageMetrics {
  const correos = new Counter({
    name: 'guias_correos_total',
    help: 'Attempts of this process to hand a mail over, by result (aceptado, rebotado: refused for ever, pasajero).',
    labelNames: ['resultado'],
    registers,
  })
  const mensajes = new Counter({
    name: 'guias_mensajes_total',
    help: 'Attempts of this process to hand a message to the provider, by result (aceptado, rechazado, dudoso, pasajero), and accepted messages that failed later (fallido).',
    labelNames: ['resultado'],
    registers,
  })
  const incomingMensajes = new Counter({
    name: 'guias_entrantes_total',
    help: 'Messages and statuses from WhatsApp that this process handled, by result: aplicado, of no message of the service (sin_mensaje), of no guide that waits for a place (sin_guia), ilegible.',
    labelNames: ['resultado'],
    registers,
  })
  for (const resultado of ['aplicado', 'sin_mensaje', 'sin_guia', 'ilegible']) incomingMensajes.inc({ resultado }, 0)
  for (const resultado of ['aceptado', 'rebotado', 'pasajero']) correos.inc({ resultado }, 0)
  for (const resultado of ['aceptado', 'rechazado', 'dudoso', 'pasajero', 'fallido']) mensajes.inc({ resultado }, 0)
  return {
    correo: (resultado) => correos.inc({ resultado }),
    mensaje: (resultado) => mensajes.inc({ resultado }),
    entrante: (resultado) => incomingMensajes.inc({ resultado }),
  }
}

function fileMetrics(registers: Registry[]): FileMetrics {
  const storeCalls = new Histogram({
    name: 'guias_almacen_segundos',
    help: 'How long calls of the file storage took, by operation and result (ok, fallo), in seconds.',
    labelNames: ['operacion', 'resultado'],
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
    registers,
  })
  for (const operacion of ['guardar', 'leer', 'existe', 'borrar'])
    for (const resultado of ['ok', 'fallo']) storeCalls.zero({ operacion, resultado })
  const createSweepGauge = (name: string, help: string) => new Gauge({ name, help, aggregator: 'max', registers })
  const filesWithoutRow = createSweepGauge(
    'guias_archivos_sin_fila',
    'Files that no row names, in the last sweep: 0 at rest.',
  )
  const rowsWithoutFile = createSweepGauge(
    'guias_filas_sin_archivo',
    'Rows whose file is missing, in the last sweep: 0 at rest.',
  )
  return {
    store: (operacion, resultado, seconds) => storeCalls.observe({ operacion, resultado }, seconds),
    differences(sweepFindings) {
      filesWithoutRow.set(sweepFindings.filesWithoutRow)
      if (sweepFindings.missingFiles !== undefined) rowsWithoutFile.set(sweepFindings.missingFiles)
    },
  }
}

/** Creates the gauge of connections, and returns the function that adds a pool to it. */
function observeConnections(registers: Registry[]): Metrics['observeConnections'] {
  const pools = new Map<string, Connections>()
  new Gauge({
    name: 'guias_conexiones',
    help: 'Connections to the database (en_uso, libres, maximo), and callers that wait for one (esperan), by pool.',
    labelNames: ['pool', 'estado'],
    registers,
    collect() {
      for (const [pool, { totalCount, idleCount, waitingCount, options }] of pools) {
        this.set({ pool, estado: 'en_uso' }, totalCount - idleCount)
        this.set({ pool, estado: 'libres' }, idleCount)
        this.set({ pool, estado: 'esperan' }, waitingCount)
        this.set({ pool, estado: 'maximo' }, options.max)
      }
    },
  })
  return (pool, connections) => void pools.set(pool, connections)
}

function observeProcess(registers: Registry[], health: () => Promise<Health>): void {
  for (const register of registers) collectDefaultMetrics({ register })
  new Gauge({
    name: 'guias_salud',
    help: 'Members of /readyz: 1 if true, 0 if false.',
    labelNames: ['parte'],
    aggregator: 'min',
    registers,
    async collect() {
      for (const [parte, bien] of Object.entries(await health())) this.set({ parte }, bien ? 1 : 0)
    },
  })
}
