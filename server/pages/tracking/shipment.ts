import { statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import type { ReadDb } from '../../data/replica.ts'
import { timeZoneOf } from '../../domain/catalogo/timeZone.ts'
import type { Deps } from '../../domain/deps.ts'
import { IS_STEP } from '../../domain/estados/estados.ts'
import { IS_LIVE_LINK } from '../../domain/records/locationRequest.ts'
import type {
  Decision,
  Estado,
  EstadoDeUbicacion,
  Modo,
  Motivo,
  QuienResuelve,
  TipoDeEvento,
} from '../../generated/contract/types/index.ts'

/** All data of a guide that the tracking page may show. Other columns are not read, so the page cannot reveal them. */
export interface ShownShipment {
  guia: string
  modo: Modo
  estado: Estado
  /** Name of the merchant, who sends the parcel. */
  comercio: string
  municipio: string
  /** IANA time zone in which the page shows the parcel's times. */
  zona: string
  /** First letter of the recipient's name; null if the name does not start with a letter. */
  initial: string | null
  ubicacion: EstadoDeUbicacion
  /** True if the recipient gave the location by the link in a message, and the link still works. */
  isRecipientPlace: boolean
  intentos: number
  /** Latest decision after a failed attempt; null if there was none. */
  decision: Pick<Decision, 'estado' | 'accion' | 'fecha' | 'franja' | 'opciones' | 'vence_en'> | null
  /** True if the recipient has a message with a link to the decision. The link of a former telephone opens nothing. */
  wasAsked: boolean
  /** Time at which the data was read. */
  now: Date
  /** Public events of the guide, newest first. */
  eventos: { tipo: TipoDeEvento; ocurrido_en: Date; motivo: Motivo | null; decision?: DecisionEvento | null }[]
  /** True if the guide has older events than those in `eventos`. */
  hasMore: boolean
}

/** Decision that an event reports. */
export type DecisionEvento = Pick<Decision, 'accion' | 'fecha'> & {
  por: QuienResuelve
  /** Description of the event, if the recipient decided. The service writes it, and it has no personal data. */
  requested: string | null
}

/** Reads the parcel of a guide's code; undefined if no guide has the code. */
export type ReadShipment = (code: string) => Promise<ShownShipment | undefined>

const EVENTOS = 60

/**
 * Reads the data of a parcel by its code. Reads only the initial of the recipient's name, and the steps of the parcel.
 * A place that is confirmed again stands once: describing the door, and finding the coordinates of a short link, write
 * the event again. A correction that the recipient's decision made says nothing that the decision does not say.
 */
const READ = statement<Pick<ShownShipment, 'guia'>, ShipmentRow>(
  'rastreo.read',
  'part',
  `select g.guia, g.modo, g.estado, c.nombre as comercio, g.departamento, g.municipio, left(btrim(g.destinatario), 1) as initial,
     g.ubicacion_estado as ubicacion, g.ubicacion_origen is not distinct from 'destinatario' and exists (
       select 1 from mensaje m where m.comercio_id = g.comercio_id and m.modo = g.modo and m.guia_id = g.id
         and m.tipo = 'solicitud_ubicacion' and ${IS_LIVE_LINK}) as "isRecipientPlace", g.intentos,
     g.decision - '{por,fecha_desde}'::text[] as decision,
     exists (select 1 from mensaje m where m.comercio_id = g.comercio_id and m.modo = g.modo and m.guia_id = g.id
       and m.tipo = 'solicitud_decision' and m.estado in ('enviado', 'entregado', 'leido')
       and m.vence_en = (g.decision ->> 'vence_en')::timestamptz and ${IS_LIVE_LINK}) as "wasAsked",
     coalesce((
       select json_agg(json_build_object('tipo', e.tipo, 'ocurrido_en', e.ocurrido_en, 'motivo', e.motivo,
         'decision', case when e.tipo = 'guia.decision_tomada' then jsonb_build_object(
           'accion', e.datos #>> '{decision,accion}', 'por', e.datos #>> '{decision,por}', 'fecha', e.datos #>> '{decision,fecha}',
           'requested', case when e.datos #>> '{decision,por}' = 'destinatario' then e.descripcion end) end) order by e.secuencia desc) from (
         select tipo, ocurrido_en, motivo, secuencia, datos, descripcion from evento n
         where comercio_id = g.comercio_id and modo = g.modo and guia_id = g.id and ${IS_STEP}
           and (tipo <> 'ubicacion.confirmada' or not exists (
             select 1 from evento p where p.comercio_id = n.comercio_id and p.modo = n.modo and p.guia_id = n.guia_id
               and p.secuencia = (select max(secuencia) from evento q where q.comercio_id = n.comercio_id and q.modo = n.modo
                 and q.guia_id = n.guia_id and q.tipo = 'ubicacion.confirmada' and q.secuencia < n.secuencia)
               and (p.foto #>> '{ubicacion_extra,enlace}' = n.foto #>> '{ubicacion_extra,enlace}'
                 or (p.lat, p.lng) is not distinct from (n.lat, n.lng))))
           and (tipo <> 'guia.corregida' or not exists (
             select 1 from evento p where p.comercio_id = n.comercio_id and p.modo = n.modo and p.guia_id = n.guia_id
               and p.secuencia = n.secuencia + 1 and p.datos #>> '{decision,por}' = 'destinatario'))
         order by secuencia desc limit ${EVENTOS + 1}) e), '[]') as eventos
   from guia_indice i
   join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id
   join comercio c on c.id = g.comercio_id
   where i.guia = :guia`,
)

/** Row that the statement returns, with the events' times as JSON text. */
type ShipmentRow = Omit<ShownShipment, 'zona' | 'eventos' | 'hasMore' | 'now'> & {
  departamento: string
  eventos: (Omit<ShownShipment['eventos'][number], 'ocurrido_en'> & { ocurrido_en: string })[]
}

/** Creates the function that reads parcels for the tracking page. */
export const createShipmentReader =
  ({ db, readDb, settings, clock }: Pick<Deps, 'db' | 'readDb' | 'settings' | 'clock'>): ReadShipment =>
  async (code) => {
    const ownerDb = await dbOfKey(db, code)
    const find = async (reading: ReadDb | undefined) => (await reading?.query(READ, { guia: code }))?.[0]
    // A replica may lag behind. A guide that the replica does not have is therefore read from the primary database.
    const row = (readDb === db ? undefined : await find(readDb)) ?? (await find(ownerDb))
    if (!row) return undefined
    const { departamento, ...rest } = row
    const eventos = row.eventos.map((evento) => ({ ...evento, ocurrido_en: new Date(evento.ocurrido_en) }))
    return {
      ...rest,
      now: clock(),
      zona: timeZoneOf(row, settings.timeZone),
      initial: row.initial && /\p{L}/u.test(row.initial) ? row.initial.toLocaleUpperCase('es') : null,
      eventos: eventos.slice(0, EVENTOS),
      hasMore: eventos.length > EVENTOS,
    }
  }
