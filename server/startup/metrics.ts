import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { type Db, statement } from '../data/db.ts'
import { unleasedDeliveries } from '../domain/webhooks/due.ts'
import type { WebhookMetrics } from '../domain/webhooks/metrics.ts'
import type { webhook } from '../generado/contrato/prisma/client.ts'
import type { MetricValues } from './processes/messages.ts'

/** Metrics of a process, as the operator's Prometheus reads them. */
export interface ExposedState {
  /** Returns the metrics as text, in the exposition format. */
  exponer(): Promise<string>
  tipo: string
  /**
   * Registers Node's metrics of the process. From this call on, prom-client samples the event loop a hundred times a
   * second.
   */
  observarProceso(): void
}

/** Metrics that a process counts, in one registry. */
export interface Metrics extends WebhookMetrics, ExposedState {
  /** Returns the values that {@link ExposedState.exponer} writes as text, for another process. */
  valores(): Promise<MetricValues>
  /** Counts a courier who reaches the limit of requested codes that name no guide. */
  desconocidas(): void
  /**
   * Registers the gauges that query the database at each scrape. Every worker reports the same values, so Prometheus
   * may ask any of them.
   */
  observar(deps: { db: Db; reloj: () => Date }): void
}

// Plain SQL even where Prisma would do: a scrape must not make a process load Prisma's client.
const ESTADOS = statement<object, Pick<webhook, 'estado'> & { cuantos: number }>(
  'metricas.webhooks',
  'select estado, count(*)::int as cuantos from webhook group by estado',
)
const PENDIENTES = statement<object, { cuantas: number }>(
  'metricas.pendientes',
  `select count(*)::int as cuantas from webhook_entrega where estado = 'pendiente'`,
)
const ATRASO = statement<{ ahora: Date }, { segundos: number }>(
  'metricas.atraso',
  `select coalesce(extract(epoch from :ahora::timestamptz - min(proximo_en)), 0)::float8 as segundos
   from webhook_entrega where estado = 'pendiente' and proximo_en > 'epoch'`,
)

const SIN_PDF = statement<object, { cuantas: number }>(
  'metricas.sinPdf',
  'select count(*)::int as cuantas from prueba_entrega where pdf is null',
)
const ATRASO_DE_PDF = statement<{ ahora: Date }, { segundos: number }>(
  'metricas.atrasoDePdf',
  `select coalesce(extract(epoch from :ahora::timestamptz - min(registrado_en)), 0)::float8 as segundos
   from prueba_entrega where pdf is null`,
)

const LLAVES_POR_VENCER = statement<{ ahora: Date }, { cuantas: number }>(
  'metricas.llavesPorVencer',
  `select count(*)::int as cuantas from llave
   where revocado_en is null and vence_en > :ahora and vence_en <= :ahora::timestamptz + interval '7 days'
     and usado_en > :ahora::timestamptz - interval '1 day'`,
)

type Cuenta = typeof PENDIENTES
type Atraso = typeof ATRASO

/** Creates the metrics of a process, in a new registry. */
export function createMetrics(): Metrics {
  const registro = new Registry()
  const registers = [registro]
  const intentos = new Counter({
    name: 'guias_webhook_intentos_total',
    help: 'Webhook attempts that this process made, by result (ok, or the error of the contract).',
    labelNames: ['resultado'],
    registers,
  })
  const duracion = new Histogram({
    name: 'guias_webhook_intento_segundos',
    help: 'How long webhook attempts took, in seconds.',
    buckets: [0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers,
  })
  const avisos = new Counter({
    name: 'guias_webhook_avisos_total',
    help: 'Endpoints that were disabled (motivo) or keep failing (per cent of the window).',
    labelNames: ['que', 'motivo'],
    registers,
  })
  const desconocidas = new Counter({
    name: 'guias_repartidores_desconocidas_total',
    help: 'Times that a courier asked this process for as many codes that name no guide as he may.',
    registers,
  })
  return {
    tipo: registro.contentType,
    exponer: () => registro.metrics(),
    valores: () => registro.getMetricsAsJSON(),
    observarProceso: () => collectDefaultMetrics({ register: registro }),
    intento(error, segundos) {
      intentos.inc({ resultado: error ?? 'ok' })
      duracion.observe(segundos)
    },
    desconocidas: () => desconocidas.inc(),
    aviso: (que, motivo) => avisos.inc({ que, motivo }),
    observar({ db, reloj }) {
      new Gauge({
        name: 'guias_webhooks',
        help: 'Endpoints by state.',
        aggregator: 'max',
        labelNames: ['estado'],
        registers,
        async collect() {
          try {
            this.reset()
            for (const { estado, cuantos } of await db.consultar(ESTADOS)) this.set({ estado }, cuantos)
          } catch {
            // Without its database a gauge has no value; the other metrics still have one.
            this.reset()
          }
        },
      })
      const medir = (name: string, help: string, leer: () => Promise<number>) =>
        new Gauge({
          name,
          help,
          // Every process reports the same value, so the values are not added up.
          aggregator: 'max',
          registers,
          async collect() {
            try {
              this.set(await leer())
            } catch {
              // Without its database a gauge has no value; the other metrics still have one.
              this.reset()
            }
          },
        })
      const segundos = async (atraso: Atraso) =>
        Math.max(0, (await db.consultar(atraso, { ahora: reloj() }))[0]!.segundos)
      const cuantas = async (cuenta: Cuenta) => (await db.consultar(cuenta))[0]!.cuantas
      medir('guias_webhook_entregas_pendientes', 'Deliveries that are not over.', () => cuantas(PENDIENTES))
      medir(
        'guias_webhook_entregas_atraso_segundos',
        'For how long the delivery that waits longest is due, in seconds (also behind a paused or failing endpoint).',
        () => segundos(ATRASO),
      )
      medir(
        'guias_webhook_entregas_sin_arriendo',
        'Deliveries that are due and of whose endpoint no process has the lease: 0 at any quiet moment.',
        () => unleasedDeliveries({ db, reloj }),
      )
      medir(
        'guias_llaves_por_vencer',
        'Keys that were used within a day and end within seven.',
        async () => (await db.consultar(LLAVES_POR_VENCER, { ahora: reloj() }))[0]!.cuantas,
      )
      medir('guias_pruebas_sin_pdf', 'Proofs of delivery whose PDF and manifest are still to be made.', () =>
        cuantas(SIN_PDF),
      )
      medir(
        'guias_pruebas_atraso_segundos',
        'For how long the proof that waits longest has been without its PDF, in seconds.',
        () => segundos(ATRASO_DE_PDF),
      )
    },
  }
}
