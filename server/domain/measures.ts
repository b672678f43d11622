import { type Db, type Statement, statement } from '../data/db.ts'
import { readStatus } from '../data/embedded/continuous/folder.ts'
import { askAll } from '../data/spread.ts'
import type { webhook } from '../generado/contrato/prisma/client.ts'
import { readChains, readUnchained } from './bitacora/chain.ts'
import { quiere } from './eventos/evento.ts'
import { esSinSalida } from './guias/guia.ts'
import { overdueDeliveries, unleasedDeliveries } from './webhooks/due.ts'

/** Sources of the measures. */
export interface MeasureDeps {
  db: Db
  reloj: () => Date
  /** Folder of the continuous backup; undefined if there is none. */
  respaldo?: string | undefined
}

/** Measure of the whole service, read from the database. */
export interface Measure {
  /** Name of the metric. */
  nombre: string
  /** Meaning in Spanish, for pages and terminals. */
  titulo: string
  /** Meaning in English, for Prometheus. */
  ayuda: string
  unidad: 'cuenta' | 'segundos'
  /** Maximum value while the service is at rest; undefined if any value may be right. */
  limite?: number
  /** Name of the page in docs/operacion/alertas/ with the steps to take beyond the limit, without extension. */
  pagina?: string
  /** Source of the measure. An installation without this source does not have the measure. */
  exige?: 'respaldo'
  leer: (deps: MeasureDeps) => Promise<number>
}

// Plain SQL instead of Prisma, because reading the metrics must not make a process load Prisma's client.
const ESTADOS = statement<object, Pick<webhook, 'estado'> & { cuantos: number }>(
  'metricas.webhooks',
  'select estado, count(*)::int as cuantos from webhook group by estado',
)
const PENDIENTES = statement<object, { cuantas: number }>(
  'metricas.pendientes',
  `select count(*)::int as cuantas from webhook_aviso where estado = 'pendiente'`,
)
const ATRASO = statement<{ ahora: Date }, { segundos: number }>(
  'metricas.atraso',
  `select coalesce(extract(epoch from :ahora::timestamptz - min(proximo_en)), 0)::float8 as segundos
   from webhook_aviso where estado = 'pendiente' and proximo_en > 'epoch'`,
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

const ATRASO_DE_CORREO = statement<{ ahora: Date }, { segundos: number }>(
  'metricas.atrasoDeCorreo',
  `select coalesce(extract(epoch from :ahora::timestamptz - min(creado_en)), 0)::float8 as segundos
   from correo where estado in ('pendiente', 'enviando')`,
)

const COLAS = statement<object, { cola: string; cuantos: number; segundos: number }>(
  'metricas.colas',
  `select name as cola, count(*)::int as cuantos, extract(epoch from now() - min(start_after))::float8 as segundos
   from pgboss.job where state < 'active' and start_after <= now() group by name`,
)

/** Number of newest events whose deliveries are checked. */
const ULTIMOS_EVENTOS = 1_000
/**
 * Counts recent events without a delivery to an endpoint that subscribes to them. Skips endpoints that changed less
 * than ten seconds before the event, because the event's transaction may not have seen the change.
 */
const SIN_ENTREGAS = statement<{ ahora: Date }, { cuantas: number }>(
  'metricas.sinEntregas',
  `select count(*)::int as cuantas from (
     select * from evento where secuencia > 0 order by xid desc limit ${ULTIMOS_EVENTOS}) e
   join webhook w on w.comercio_id = e.comercio_id and w.modo = e.modo and w.estado in ('activo', 'pausado')
     and greatest(w.creado_en, w.estado_en, w.actualizado_en) < e.registrado_en - interval '10 seconds'
     and ${quiere('w', 'e')}
   where e.registrado_en > :ahora::timestamptz - interval '1 hour' and not exists (
     select from webhook_aviso n where n.comercio_id = e.comercio_id and n.modo = e.modo and n.webhook = w.webhook
       and n.guia_id = e.guia_id and n.secuencia = e.secuencia)`,
  { alcance: 'parte' },
)
/** Time after which work that is due and was not begun counts as stuck, in milliseconds. */
const ATASCADO = 300_000
const MENSAJES_ATASCADOS = statement<{ antes_de: Date }, { cuantas: number }>(
  'metricas.mensajesAtascados',
  `select count(*)::int as cuantas from mensaje where estado in ('pendiente', 'enviando') and proximo_en <= :antes_de
     and not ${esSinSalida('modo', 'canal')}`,
  { alcance: 'parte' },
)
const DECISIONES_VENCIDAS = statement<{ antes_de: Date }, { cuantas: number }>(
  'metricas.decisionesVencidas',
  'select count(*)::int as cuantas from guia where decision_vence <= :antes_de',
  { alcance: 'parte' },
)

/** Time after which a line of the audit record must have its link, in milliseconds. */
const SIN_ESLABON = 300_000
/**
 * Maximum hash chains that are checked each time the metrics are read. On Citus each merchant has chains of its own.
 */
const MAX_CADENAS = 50

type Cuenta = Statement<object, { cuantas: number }>
type CuentaEn = Statement<{ ahora: Date }, { cuantas: number }>
type CuentaDesde = Statement<{ antes_de: Date }, { cuantas: number }>
type Atraso = Statement<{ ahora: Date }, { segundos: number }>

const sumar = (filas: readonly { cuantas: number }[]) => filas.reduce((suma, fila) => suma + fila.cuantas, 0)
const cuenta =
  (sentencia: Cuenta): Measure['leer'] =>
  async ({ db }) =>
    sumar(await db.consultar(sentencia))
const cuentaEn =
  (sentencia: CuentaEn): Measure['leer'] =>
  async ({ db, reloj }) =>
    sumar(await askAll(db, ({ consultar }) => consultar(sentencia, { ahora: reloj() })))
const cuentaDesde =
  (sentencia: CuentaDesde): Measure['leer'] =>
  async ({ db, reloj }) => {
    const antes_de = new Date(reloj().getTime() - ATASCADO)
    return sumar(await askAll(db, ({ consultar }) => consultar(sentencia, { antes_de })))
  }
const atraso =
  (sentencia: Atraso): Measure['leer'] =>
  async ({ db, reloj }) =>
    Math.max(0, (await db.consultar(sentencia, { ahora: reloj() }))[0]!.segundos)

async function unchainedLines({ db, reloj }: MeasureDeps): Promise<number> {
  const antes_de = new Date(reloj().getTime() - SIN_ESLABON)
  const cadenas = (await readChains(db, false)).slice(0, MAX_CADENAS)
  const sueltas = await Promise.all(cadenas.map((cadena) => readUnchained(db, cadena, antes_de)))
  return sueltas.reduce((suma, { length }) => suma + length, 0)
}

/** Age in seconds that is reported for a backup that cannot be read: a year. */
const UNKNOWN_LAG = 31_536_000

async function backupLag({ reloj, respaldo }: MeasureDeps): Promise<number> {
  try {
    const { al_dia, sin_huecos_desde } = readStatus(respaldo!)!
    return Math.max(0, (reloj().getTime() - Date.parse(al_dia ?? sin_huecos_desde)) / 1000)
  } catch {
    return UNKNOWN_LAG
  }
}

/** Returns the measures that exist in this installation. */
export const measuresOf = (deps: Pick<MeasureDeps, 'respaldo'>): readonly Measure[] =>
  MEASURES.filter(({ exige }) => exige === undefined || deps[exige] !== undefined)

/** Measures of the service. A limit of 0 marks what the service promises never to happen. */
export const MEASURES: readonly Measure[] = [
  {
    nombre: 'guias_webhook_avisos_sin_arriendo',
    titulo: 'Entregas vencidas que ningún proceso va a enviar',
    ayuda: 'Deliveries that are due and of whose endpoint no process has the lease: 0 at any quiet moment.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'avisos-sin-arriendo',
    leer: unleasedDeliveries,
  },
  {
    nombre: 'guias_webhook_avisos_atrasados',
    titulo: 'Entregas vencidas hace diez minutos',
    ayuda:
      'Deliveries that have been due for ten minutes and whose endpoint is neither paused nor failing, leased or not: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'avisos-atrasados',
    leer: overdueDeliveries,
  },
  {
    nombre: 'guias_eventos_sin_avisos',
    titulo: 'Eventos sin la entrega de un webhook que los pidió',
    ayuda: `Newest ${ULTIMOS_EVENTOS} events without the delivery of an endpoint that wanted them: 0 at rest.`,
    unidad: 'cuenta',
    limite: 0,
    pagina: 'eventos-sin-avisos',
    leer: cuentaEn(SIN_ENTREGAS),
  },
  {
    nombre: 'guias_mensajes_atascados',
    titulo: 'Mensajes que llevan cinco minutos sin salir',
    ayuda: 'Messages that have been due for five minutes: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'mensajes-atascados',
    leer: cuentaDesde(MENSAJES_ATASCADOS),
  },
  {
    nombre: 'guias_decisiones_vencidas',
    titulo: 'Decisiones cuyo plazo pasó',
    ayuda: 'Decisions whose deadline passed five minutes ago: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'decisiones-vencidas',
    leer: cuentaDesde(DECISIONES_VENCIDAS),
  },
  {
    nombre: 'guias_bitacora_sin_eslabon',
    titulo: 'Líneas de la bitácora sin eslabón',
    ayuda:
      'Lines of the audit record and events that have had no link of their chain for five minutes, up to 100 a chain: 0 at rest.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'bitacora-sin-eslabon',
    leer: unchainedLines,
  },
  {
    nombre: 'guias_respaldo_atraso_segundos',
    titulo: 'Atraso del respaldo continuo',
    ayuda:
      'For how long something that was written is not in the continuous backup, in seconds: below 20 at rest. Only with BACKUP_DIR.',
    unidad: 'segundos',
    limite: 600,
    pagina: 'respaldo-atrasado',
    exige: 'respaldo',
    leer: backupLag,
  },
  {
    nombre: 'guias_pruebas_sin_pdf',
    titulo: 'Pruebas de entrega que esperan su PDF',
    ayuda: 'Proofs of delivery whose PDF and manifest are still to be made.',
    unidad: 'cuenta',
    leer: cuenta(SIN_PDF),
  },
  {
    nombre: 'guias_pruebas_atraso_segundos',
    titulo: 'Espera de la prueba más vieja sin PDF',
    ayuda: 'For how long the proof that waits longest has been without its PDF, in seconds.',
    unidad: 'segundos',
    limite: 300,
    pagina: 'pruebas-sin-pdf',
    leer: atraso(ATRASO_DE_PDF),
  },
  {
    nombre: 'guias_correos_atraso_segundos',
    titulo: 'Espera del correo más viejo',
    ayuda: 'For how long the mail that waits longest waits to leave, in seconds.',
    unidad: 'segundos',
    limite: 600,
    pagina: 'correos-atrasados',
    leer: atraso(ATRASO_DE_CORREO),
  },
  {
    nombre: 'guias_webhook_avisos_pendientes',
    titulo: 'Entregas de webhooks pendientes',
    ayuda: 'Deliveries that are not over.',
    unidad: 'cuenta',
    leer: cuenta(PENDIENTES),
  },
  {
    nombre: 'guias_webhook_avisos_atraso_segundos',
    titulo: 'Espera de la entrega más vieja, también de webhooks en pausa',
    ayuda:
      'For how long the delivery that waits longest is due, in seconds (also behind a paused or failing endpoint).',
    unidad: 'segundos',
    leer: atraso(ATRASO),
  },
  {
    nombre: 'guias_llaves_por_vencer',
    titulo: 'Llaves en uso que vencen en siete días',
    ayuda: 'Keys that were used within a day and end within seven.',
    unidad: 'cuenta',
    limite: 0,
    pagina: 'llaves-por-vencer',
    leer: async ({ db, reloj }) => sumar(await db.consultar(LLAVES_POR_VENCER, { ahora: reloj() })),
  },
]

/** Returns the number of endpoints in each state. */
export const readEndpoints = ({ db }: Pick<MeasureDeps, 'db'>) => db.consultar(ESTADOS)

/** Returns each queue with due jobs: their number, and for how long the oldest is due. */
export const readQueues = ({ db }: Pick<MeasureDeps, 'db'>) => db.consultar(COLAS)
