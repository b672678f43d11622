import { type Db, type Statement, statement } from '../data/db.ts'
import { readStatus } from '../data/embedded/continuous/folder.ts'
import { queryAllParts } from '../data/partQueries.ts'
import type { webhook } from '../generated/contract/prisma/client.ts'
import { readChains, readUnchained } from './bitacora/chain.ts'
import { subscribesTo } from './eventos/evento.ts'
import { isUnsendableSql } from './records/locationRequest.ts'
import { overdueDeliveries, unleasedDeliveries } from './webhooks/sending/due.ts'

/** Sources of the measures. */
export interface MeasureDeps {
  db: Db
  clock: () => Date
  /** Folder of the continuous backup; undefined if there is none. */
  backup?: string | undefined
}

/** Measure of the whole service, read from the database. */
export interface Measure {
  /** Name of the metric. */
  nombre: string
  /** Meaning in Spanish, for pages and terminals. */
  titulo: string
  /** Meaning in English, for Prometheus. */
  help: string
  unidad: 'cuenta' | 'segundos'
  /** Maximum value while the service is at rest; undefined if any value may be right. */
  limite?: number
  /** Name of the page in docs/operacion/alertas/ with the steps to take beyond the limit, without extension. */
  pagina?: string
  /** Source of the measure. An installation without this source does not have the measure. */
  requires?: 'backup'
  read: (deps: MeasureDeps) => Promise<number>
}

// Plain SQL instead of Prisma, because reading the metrics must not make a process load Prisma's client.
const ESTADOS = statement<object, Pick<webhook, 'estado'> & { count: number }>(
  'metrics.estados',
  'central',
  'select estado, count(*)::int as count from webhook group by estado',
)
const PENDING = statement<object, { count: number }>(
  'metrics.pending',
  'central',
  `select count(*)::int as count from webhook_aviso where estado = 'pendiente'`,
)
const DELIVERY_DELAY = statement<{ now: Date }, { segundos: number }>(
  'metrics.deliveryDelay',
  'central',
  `select coalesce(extract(epoch from :now::timestamptz - min(proximo_en)), 0)::float8 as segundos
   from webhook_aviso where estado = 'pendiente' and proximo_en > 'epoch'`,
)

const WITHOUT_PDF = statement<object, { count: number }>(
  'metrics.withoutPdf',
  'central',
  'select count(*)::int as count from prueba_entrega where pdf is null',
)
const PDF_DELAY = statement<{ now: Date }, { segundos: number }>(
  'metrics.pdfDelay',
  'central',
  `select coalesce(extract(epoch from :now::timestamptz - min(registrado_en)), 0)::float8 as segundos
   from prueba_entrega where pdf is null`,
)

const EXPIRING_LLAVES = statement<{ now: Date }, { count: number }>(
  'metrics.expiringLlaves',
  'central',
  `select count(*)::int as count from llave
   where revocado_en is null and vence_en > :now and vence_en <= :now::timestamptz + interval '7 days'
     and usado_en > :now::timestamptz - interval '1 day'`,
)

const CORREO_DELAY = statement<{ now: Date }, { segundos: number }>(
  'metrics.correoDelay',
  'central',
  `select coalesce(extract(epoch from :now::timestamptz - min(creado_en)), 0)::float8 as segundos
   from correo where estado in ('pendiente', 'enviando')`,
)

/** Reads the mails of a week, which an index finds: bounces come within days. */
const BOUNCES = statement<{ now: Date }, { count: number }>(
  'metrics.bounces',
  'central',
  `select count(*)::int as count from correo
   where estado = 'rebotado' and creado_en > :now::timestamptz - interval '7 days'
     and rebotado_en > :now::timestamptz - interval '1 day'`,
)

const QUEUES = statement<object, { cola: string; count: number; segundos: number }>(
  'metrics.queues',
  'central',
  `select name as cola, count(*)::int as count, extract(epoch from now() - min(start_after))::float8 as segundos
   from pgboss.job where state < 'active' and start_after <= now() group by name`,
)

/** Number of newest events whose deliveries are checked. */
const LAST_EVENTOS = 1_000
/**
 * Counts recent events without a delivery to an endpoint that subscribes to them. Skips endpoints that changed less
 * than ten seconds before the event, because the event's transaction may not have seen the change.
 */
const WITHOUT_ENTREGAS = statement<{ now: Date }, { count: number }>(
  'metrics.withoutEntregas',
  'part',
  `select count(*)::int as count from (
     select * from evento where secuencia > 0 order by xid desc limit ${LAST_EVENTOS}) e
   join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo and w.estado in ('activo', 'pausado')
     and greatest(w.creado_en, w.estado_en, w.actualizado_en) < e.registrado_en - interval '10 seconds'
     and ${subscribesTo('w', 'e')}
   where e.registrado_en > :now::timestamptz - interval '1 hour' and not exists (
     select from webhook_aviso n where n.comercio_id = e.comercio_id and n.modo = e.modo and n.webhook = w.webhook
       and n.guia_id = e.guia_id and n.secuencia = e.secuencia)`,
)
/** Time after which work that is due and was not begun counts as stuck, in milliseconds. */
const STUCK_MS = 300_000
const STUCK_MENSAJES = statement<{ before: Date }, { count: number }>(
  'metrics.stuckMensajes',
  'part',
  `select count(*)::int as count from mensaje where estado in ('pendiente', 'enviando') and proximo_en <= :before
     and not ${isUnsendableSql('modo', 'canal')}`,
)
const EXPIRED_DECISIONES = statement<{ before: Date }, { count: number }>(
  'metrics.expiredDecisiones',
  'part',
  'select count(*)::int as count from guia where decision_vence <= :before',
)

/** Time after which a line of the audit record must have its link, in milliseconds. */
const UNCHAINED_MS = 300_000
/**
 * Maximum hash chains that are checked each time the metrics are read. On Citus each merchant has chains of its own.
 */
const MAX_CHAINS = 50

type Count = Statement<object, { count: number }>
type CountAt = Statement<{ now: Date }, { count: number }>
type CountSince = Statement<{ before: Date }, { count: number }>
type Delay = Statement<{ now: Date }, { segundos: number }>

const sumCounts = (rows: readonly { count: number }[]) => rows.reduce((sum, row) => sum + row.count, 0)
const countOf =
  (measuredStatement: Count): Measure['read'] =>
  async ({ db }) =>
    sumCounts(await db.query(measuredStatement))
const countAt =
  (measuredStatement: CountAt): Measure['read'] =>
  async ({ db, clock }) =>
    sumCounts(await queryAllParts(db, ({ query }) => query(measuredStatement, { now: clock() })))
const countSince =
  (measuredStatement: CountSince): Measure['read'] =>
  async ({ db, clock }) => {
    const before = new Date(clock().getTime() - STUCK_MS)
    return sumCounts(await queryAllParts(db, ({ query }) => query(measuredStatement, { before })))
  }
const delayOf =
  (measuredStatement: Delay): Measure['read'] =>
  async ({ db, clock }) =>
    Math.max(0, (await db.query(measuredStatement, { now: clock() }))[0]!.segundos)

async function unchainedLines({ db, clock }: MeasureDeps): Promise<number> {
  const before = new Date(clock().getTime() - UNCHAINED_MS)
  const chains = (await readChains(db, false)).slice(0, MAX_CHAINS)
  const unchained = await Promise.all(chains.map((chain) => readUnchained(db, chain, before)))
  return unchained.reduce((sum, { length }) => sum + length, 0)
}

/** Age in seconds that is reported for a backup that cannot be read: a year. */
const UNKNOWN_LAG = 31_536_000

async function backupLag({ clock, backup }: MeasureDeps): Promise<number> {
  try {
    const { al_dia, sin_huecos_desde } = readStatus(backup!)!
    return Math.max(0, (clock().getTime() - Date.parse(al_dia ?? sin_huecos_desde)) / 1000)
  } catch {
    return UNKNOWN_LAG
  }
}

/** Returns the measures that exist in this installation. */
export const measuresOf = (deps: Pick<MeasureDeps, 'backup'>): readonly Measure[] =>
  MEASURES.filter(({ requires }) => requires === undefined || deps[requires] !== undefined)

/** Measures of the service. A limit of 0 marks what the service promises never to happen. */
export const MEASURES: readonly Measure[] = [
  {
    nombre: 'guias_webhook_avisos_sin_arriendo',
    titulo: 'Entregas vencidas que ningún proceso va a enviar',
    help: 'Deliveries that are due and of whose endpoint no process has the lease: 0 at any quiet moment.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'avisos-sin-arriendo',
    read: unleasedDeliveries,
  },
  {
    nombre: 'guias_webhook_avisos_atrasados',
    titulo: 'Entregas vencidas hace diez minutos',
    help: 'Deliveries that have been due for ten minutes and whose endpoint is neither paused nor failing, leased or not: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'avisos-atrasados',
    read: overdueDeliveries,
  },
  {
    nombre: 'guias_eventos_sin_avisos',
    titulo: 'Eventos sin la entrega de un webhook que los pidió',
    help: `Newest ${LAST_EVENTOS} events without the delivery of an endpoint that wanted them: 0 at rest.`,
    unidad: 'cuenta',
    limite: 0,
    pagina: 'eventos-sin-avisos',
    read: countAt(WITHOUT_ENTREGAS),
  },
  {
    nombre: 'guias_mensajes_atascados',
    titulo: 'Mensajes que llevan cinco minutos sin salir',
    help: 'Messages that have been due for five minutes: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'mensajes-atascados',
    read: countSince(STUCK_MENSAJES),
  },
  {
    nombre: 'guias_decisiones_vencidas',
    titulo: 'Decisiones cuyo plazo pasó',
    help: 'Decisions whose deadline passed five minutes ago: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'decisiones-vencidas',
    read: countSince(EXPIRED_DECISIONES),
  },
  {
    nombre: 'guias_bitacora_sin_eslabon',
    titulo: 'Líneas de la bitácora sin eslabón',
    help: 'Lines of the audit record and events that have had no link of their chain for five minutes, up to 100 a chain: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'bitacora-sin-eslabon',
    read: unchainedLines,
  },
  {
    nombre: 'guias_respaldo_atraso_segundos',
    titulo: 'Atraso del respaldo continuo',
    help: 'For how long something that was written is not in the continuous backup, in seconds: below 20 at rest. Only with BACKUP_DIR.',
    unidad: 'segundos',
    limite: 600,
    pagina: 'respaldo-atrasado',
    requires: 'backup',
    read: backupLag,
  },
  {
    nombre: 'guias_pruebas_sin_pdf',
    titulo: 'Pruebas de entrega que esperan su PDF',
    help: 'Proofs of delivery whose PDF and manifest are still to be made.',
    unidad: 'cuenta',
    read: countOf(WITHOUT_PDF),
  },
  {
    nombre: 'guias_pruebas_atraso_segundos',
    titulo: 'Espera de la prueba más vieja sin PDF',
    help: 'For how long the proof that waits longest has been without its PDF, in seconds.',
    unidad: 'segundos',
    limite: 300,
    pagina: 'pruebas-sin-pdf',
    read: delayOf(PDF_DELAY),
  },
  {
    nombre: 'guias_correos_atraso_segundos',
    titulo: 'Espera del correo más viejo',
    help: 'For how long the mail that waits longest waits to leave, in seconds.',
    unidad: 'segundos',
    limite: 600,
    pagina: 'correos-atrasados',
    read: delayOf(CORREO_DELAY),
  },
  {
    nombre: 'guias_correos_rebotados',
    titulo: 'Correos rebotados en un día',
    help: 'Mails that were refused for ever within a day, at once or by a later bounce.',
    unidad: 'cuenta',
    read: async ({ db, clock }) => sumCounts(await db.query(BOUNCES, { now: clock() })),
  },
  {
    nombre: 'guias_webhook_avisos_pendientes',
    titulo: 'Entregas de webhooks pendientes',
    help: 'Deliveries that are not over.',
    unidad: 'cuenta',
    read: countOf(PENDING),
  },
  {
    nombre: 'guias_webhook_avisos_atraso_segundos',
    titulo: 'Espera de la entrega más vieja, también de webhooks en pausa',
    help: 'For how long the delivery that waits longest is due, in seconds (also behind a paused or failing endpoint).',
    unidad: 'segundos',
    read: delayOf(DELIVERY_DELAY),
  },
  {
    nombre: 'guias_llaves_por_vencer',
    titulo: 'Llaves en uso que vencen en siete días',
    help: 'Keys that were used within a day and end within seven.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'llaves-por-vencer',
    read: async ({ db, clock }) => sumCounts(await db.query(EXPIRING_LLAVES, { now: clock() })),
  },
]

/** Returns the number of endpoints in each state. */
export const readEndpoints = ({ db }: Pick<MeasureDeps, 'db'>) => db.query(ESTADOS)

/** Returns each queue with due jobs: their number, and for how long the oldest is due. */
export const readQueues = ({ db }: Pick<MeasureDeps, 'db'>) => db.query(QUEUES)
