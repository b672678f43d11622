import { type Db, statement } from '../../data/db.ts'
import { askByKey } from '../../data/owners.ts'
import { queryAllParts } from '../../data/partQueries.ts'
import type {
  AvanceDelDia,
  Decision,
  Estado,
  Guia,
  GuiaAsignada,
  GuiaDeReparto,
} from '../../generated/contract/types/index.ts'
import { distanceBetween } from '../../platform/maps/point.ts'
import { startOfDay } from '../../platform/time/day.ts'
import { TO_TAKE, type ToTakeParams, toTakeParams } from '../asignaciones/asignacion.ts'
import type { AuditEntry } from '../bitacora/bitacora.ts'
import { companyTimeZone, timeZoneOf } from '../catalogo/timeZone.ts'
import { POLICY_SQL, type PolicyColumns, presentEvidencePolicy } from '../comercios/comercio.ts'
import type { Deps, ServiceSettings } from '../deps.ts'
import { HELD_STATES } from '../estados/custodia.ts'
import { isFinalState } from '../estados/estados.ts'
import { readRepartidorNames } from '../identities/repartidor.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { presentCurrent } from '../records/guiaPresentation.ts'
import { type CustodiaSettings, custodiaFor, stepsFor } from './custodia.ts'

/** Row of a guide with its merchant's name and the evidence that the merchant needs. */
type RepartoRow = GuiaRow & PolicyColumns & { nombre_comercio: string }

/** Like {@link RepartoRow}, with the courier that the guide is assigned to. */
type RequestedGuiaRow = RepartoRow & { asignada_a: string | null }

const FIND = statement<{ guias: readonly string[] }, RequestedGuiaRow>(
  'repartidores.find',
  'part',
  `select g.*, c.nombre as nombre_comercio, a.repartidor as asignada_a, ${POLICY_SQL} from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   left join asignacion a on a.comercio_id = g.comercio_id and a.modo = g.modo and a.guia_id = g.id
   where i.guia = any(:guias::text[])`,
)

/** Returns the guides for these codes, by code; unknown codes are skipped. */
export async function readGuias(db: Db, guias: readonly string[]): Promise<Map<string, RequestedGuiaRow>> {
  const rows = await askByKey(db, guias, ({ query }, partGuias) => query(FIND, { guias: partGuias }))
  return new Map(rows.map((row) => [row.guia, row]))
}

/** Maximum guides of a courier that are listed or counted. No courier carries so many in a day. */
export const MAX_CARRIED = 500

const FIND_CARRIED = statement<{ repartidor: string; estados: readonly Estado[] }, RepartoRow>(
  'repartidores.findCarried',
  'central',
  `select g.*, c.nombre as nombre_comercio, ${POLICY_SQL} from guia g
   join comercio c on c.id = g.comercio_id
   where g.custodio = :repartidor and g.estado = any(:estados::text[]) order by g.estado_en desc, g.id desc limit ${MAX_CARRIED}`,
)

/** Returns the guides that a courier carries, by the instant of their state, newest first. */
export const readCarried = (db: Db, repartidor: string): Promise<RepartoRow[]> =>
  db.query(FIND_CARRIED, { repartidor, estados: HELD_STATES })

type AssignedRow = Pick<GuiaAsignada, 'guia' | 'municipio'> & {
  /** Courier who carries the parcel; null if none does. */
  carrier: string | null
}

const FIND_ASSIGNED = statement<ToTakeParams & { repartidor: string }, AssignedRow>(
  'repartidores.findAssigned',
  'part',
  `select g.guia, g.municipio, case when g.estado = any(:held_states::text[]) then g.custodio end as carrier
   from asignacion a
   join guia g on g.comercio_id = a.comercio_id and g.modo = a.modo and g.id = a.guia_id
   where a.repartidor = :repartidor and ${TO_TAKE} order by g.municipio, g.guia limit ${MAX_CARRIED}`,
)

/**
 * Returns the guides that are assigned to a courier for today or earlier, and that the courier does not carry yet.
 */
export async function readAssigned(
  deps: { db: Db } & Pick<Deps, 'clock' | 'settings'>,
  repartidor: string,
): Promise<GuiaAsignada[]> {
  const searchParams = { repartidor, ...toTakeParams(deps) }
  const rows = await queryAllParts(deps.db, ({ query }) => query(FIND_ASSIGNED, searchParams))
  const assignedRows = rows
    .toSorted((row, otherRow) => (`${row.municipio} ${row.guia}` < `${otherRow.municipio} ${otherRow.guia}` ? -1 : 1))
    .slice(0, MAX_CARRIED)
  const carriers = assignedRows.flatMap(({ carrier }) => carrier ?? [])
  const repartidoresByCode = await readRepartidorNames(deps.db, carriers)
  return assignedRows.map(({ guia, municipio, carrier }) => ({
    guia,
    municipio,
    la_lleva: repartidoresByCode.get(carrier ?? '')?.nombre ?? null,
  }))
}

/**
 * The condition on the state is written as literals, because only then can the partial index `guia_terminada_idx` be
 * used.
 */
const FIND_FINISHED = statement<{ repartidor: string; desde: Date }, { guia: string }>(
  'repartidores.findFinished',
  'central',
  `select guia from guia where custodio = :repartidor and estado in ('entregado', 'devuelto')
     and estado_en >= :desde::timestamptz order by estado_en desc limit ${MAX_CARRIED}`,
)

/**
 * Returns the guides that a courier delivered or returned today (in the company's time zone), from any phone, newest
 * first.
 */
export async function readProgress(
  { db, clock, settings }: { db: Db; clock: () => Date; settings: Pick<ServiceSettings, 'timeZone'> },
  repartidor: string,
): Promise<AvanceDelDia> {
  const desde = startOfDay(clock(), companyTimeZone(settings.timeZone))
  const rows = await db.query(FIND_FINISHED, { repartidor, desde })
  return { desde: desde.toISOString(), terminadas: rows.map(({ guia }) => guia) }
}

/** Returns the audit log entry for a courier who reads a guide without carrying it. */
export const othersGuiaRead = (accion: string, { guia, comercio_id, modo }: GuiaRow): AuditEntry => ({
  accion,
  sobre: ['guia', guia],
  de: { comercio_id, modo },
})

/**
 * Nulls in place of the destination. Only the courier who has the parcel sees the destination, and only until the
 * guide's final state.
 */
const NO_DESTINO = {
  destinatario: null,
  telefono: null,
  departamento: null,
  municipio: null,
  direccion: null,
  indicaciones: null,
  distancia_m: null,
  intentos: null,
}
const NO_PLACE = { lat: null, lng: null, maps_url: null, precision_m: null, referencia: null }
/** Nulls in place of the data that a courier needs to collect a parcel. */
const NO_RECOGIDA = { nombre_comercio: null, recogida: null, contenido: null, external_ref: null, decision: null }

/**
 * Returns the decision that the courier should follow: one that was not carried out yet. While the parcel is on its
 * way, also returns the decision for which it left, because it names day and hours.
 */
const pendingDecision = ({ estado, decision }: Pick<Guia, 'estado' | 'decision'>): Decision | null =>
  decision?.estado === 'tomada' || (decision?.estado === 'aplicada' && estado === 'en_ruta') ? decision : null

/**
 * Returns a guide as a courier may see it. The courier who has the parcel sees everything until the guide's final
 * state; all others see no destination. If another courier has the parcel, the merchant, the pickup and the contents
 * are hidden, too. With `COURIER_REACH=asignado`, a courier who does not have the parcel sees only its municipality.
 */
export function presentRepartoGuia(
  settings: Pick<ServiceSettings, 'timeZone'> & CustodiaSettings,
  row: RepartoRow & Partial<Pick<RequestedGuiaRow, 'asignada_a'>>,
  repartidor: string,
): GuiaDeReparto {
  const custodia = custodiaFor(settings, row, repartidor)
  const guia = presentCurrent(row)
  const { estado, lat, lng, maps_url, precision_m, referencia } = guia.ubicacion
  return {
    guia: guia.guia,
    estado: guia.estado,
    modo: guia.modo,
    custodia,
    nombre_comercio: row.nombre_comercio,
    recogida: guia.recogida,
    contenido: guia.contenido,
    external_ref: guia.external_ref,
    destinatario: guia.destinatario,
    telefono: guia.telefono,
    departamento: guia.departamento,
    municipio: guia.municipio,
    direccion: guia.direccion,
    indicaciones: guia.indicaciones,
    intentos: guia.intentos,
    decision: pendingDecision(guia),
    ubicacion: { estado, lat, lng, maps_url, precision_m, referencia },
    distancia_m: distanceBetween(guia.recogida, guia.ubicacion),
    ...(custodia === 'propia' && !isFinalState(row.estado)
      ? {}
      : { ...NO_DESTINO, ubicacion: { ...NO_PLACE, estado } }),
    ...(custodia === 'ajena' ? NO_RECOGIDA : {}),
    ...(custodia !== 'propia' && settings.repartidorReach === 'asignado'
      ? { ...NO_RECOGIDA, municipio: guia.municipio }
      : {}),
    secuencia: guia.secuencia,
    etiqueta_desactualizada: guia.advertencias.some(({ codigo }) => codigo === 'etiqueta_desactualizada'),
    zona_horaria: timeZoneOf(row, settings.timeZone),
    evidencia: presentEvidencePolicy(row),
    siguientes: stepsFor(row, { repartidor, custodia, assignedTo: row.asignada_a }),
  }
}
