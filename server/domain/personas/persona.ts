import type { Db } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import type { Modo } from '../../generated/contract/types/index.ts'
import { STATE_MACHINE } from '../../generated/contract/vocabulary.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import { requireComercio } from '../comercios/comercio.ts'
import { ERASURES, type GuiaRow, type StoredRecogida } from '../records/guiaFields.ts'
import { findGuia } from '../records/guiaLookup.ts'

/** First id from which a scan of rows in the order of their ids starts. */
export const FIRST_ID = '00000000-0000-0000-0000-000000000000'

/** Guide whose personal data were erased. */
export interface ErasedGuide {
  comercio_id: string
  modo: Modo
  id: string
  guia: string
}

/** Person whose data is exported or erased: a telephone number, in the guides of one merchant or of all. */
export interface PersonQuery {
  /** Telephone number in E.164. */
  telefono: string
  /** Id of the merchant; null means all merchants. */
  comercio_id: string | null
}

/** One guide, in whose data a person stands who has no telephone there: a neighbour, or who received at the door. */
export interface GuiaQuery {
  /** Code of the guide. */
  guia: string
}

/**
 * Returns the query for the guide with this code.
 * @throws Problema 404 if the guide does not exist
 */
export const readGuiaQuery = async (db: Db, code: string): Promise<GuiaQuery> => ({
  guia: (await findGuia(db, 'todos', code)).guia,
})

/**
 * Finds a guide by its code; undefined if there is none, as in a database that was restored to an instant before its
 * creation.
 */
export async function findGuiaIfAny(db: Db, { guia }: GuiaQuery): Promise<GuiaRow | undefined> {
  try {
    return await findGuia(db, 'todos', guia)
  } catch (error) {
    if (error instanceof Problema && error.codigo === 'guia_desconocida') return undefined
    throw error
  }
}

/** Runs `perform` in each part that may have guides of the person, one part after another. */
export const inEachPart = async <R>(
  db: Db,
  { comercio_id }: Pick<PersonQuery, 'comercio_id'>,
  perform: (part: Db) => Promise<R>,
): Promise<R[]> => (comercio_id === null ? runInEachPart(db, perform) : [await perform(db.forComercio(comercio_id))])

/**
 * Reads a telephone number and the identifier of a merchant.
 * @throws Problema 422 if the number is not valid, 404 if the merchant does not exist
 */
export async function readPersonQuery(db: Db, telefono: string, comercio?: string): Promise<PersonQuery> {
  const reading = readTelephone(telefono)
  if ('error' in reading)
    throw problemOfFaults('validacion', [{ campo: '/telefono', codigo: 'formato_invalido', mensaje: reading.error }])
  return {
    telefono: reading.e164,
    comercio_id: comercio === undefined ? null : (await requireComercio(db, comercio)).id,
  }
}

/**
 * Regular expression that finds a telephone number in a provider's body: its digits, and for Mexico also the older form
 * with `1` after `52`.
 */
export const patternOf = (telefono: string) =>
  `(^|[^0-9])${telefono.slice(1).replace(/^52(\d{10})$/, '521?$1')}([^0-9]|$)`

/** SQL condition: the guide has ended. The partial index on guides whose data must be erased uses the same text. */
export const HAS_ENDED = `estado = any(array[${STATE_MACHINE.finales.map((estado) => `'${estado}'::text`).join(', ')}])`

/** SQL condition: a row of `table` belongs to the guide `v`. */
export const de = (table: string) =>
  `${table}.comercio_id = v.comercio_id and ${table}.modo = v.modo and ${table}.guia_id = v.id`

/**
 * Returns SQL for the rows `t` of a table that belong to the guide `v`, as a member of an object.
 * @param condition SQL condition for the rows
 * @param omitted columns to leave out beside those that only the database needs, each after a comma
 */
export const rowsSql = (table: string, condition: string, omitted = '') =>
  `'${table}', (select coalesce(jsonb_agg(to_jsonb(t) - '{comercio_id,modo,guia_id,id,xid${omitted}}'::text[]), '[]')
       from ${table} t where ${de('t')} and ${condition})`

/** SQL of all proofs of deliveries and of failed attempts, each with the names of its files. */
export const PRUEBAS = `select comercio_id, modo, guia_id, secuencia, fotos as archivos from prueba_intento
     union all select comercio_id, modo, guia_id, secuencia, fotos || firma || pdf from prueba_entrega`

const answersOfSql = (table: string, condition: string, members: string) =>
  `'${table}', (select coalesce(jsonb_agg(jsonb_build_object(${members})), '[]') from webhook w
       join ${table} t using (comercio_id, modo, webhook)
       where ${de('t')} and w.comercio_id = v.comercio_id and w.modo = v.modo and ${condition})`

/**
 * Returns SQL for the responses of merchants' servers to webhooks of the guide `v`. A response may repeat personal data
 * from the webhook.
 * @param condition SQL condition for the rows `t` of deliveries and of attempts
 */
export const answersSql = (condition: string) =>
  `${answersOfSql('webhook_aviso', condition, `'evento', t.evento, 'respuesta', t.exito`)},
   ${answersOfSql(
     'webhook_intento',
     condition,
     `'webhook', t.webhook, 'secuencia', t.secuencia, 'cabeceras', t.cabeceras, 'cuerpo', t.cuerpo, 'detalle', t.detalle`,
   )}`

/** SQL of a guide's location data reduced to the instant of its confirmation. */
export const onlyWhenSql = (extra: string) =>
  `case when ${extra} ? 'confirmado_en' then jsonb_set('{"confirmado_en": null}', '{confirmado_en}', ${extra} -> 'confirmado_en') end`

/** Pickup after the erasure. Its name, its place and its texts may be those of the person who hands over the parcels. */
export const ERASED_RECOGIDA: StoredRecogida = { nombre: null, lat: null, lng: null, maps_url: null }
/** SQL of {@link ERASED_RECOGIDA}. */
export const ERASED_RECOGIDA_SQL = `jsonb_build_object(${Object.keys(ERASED_RECOGIDA)
  .map((member) => `'${member}', null`)
  .join(', ')})`

/** SQL of the identifiers to which idempotency keys of the guides `v` point: codes of guides and ids of notes. */
const IDENTIFIERS = `select v.comercio_id, v.modo, v.guia as identificador from v
     union all select o.comercio_id, o.modo, o.id::text from nota o join v on ${de('o')}`
/** SQL of the identifier in {@link IDENTIFIERS} of a key `c`. A delivery's code (avi_…) contains the guide's. A batch has the codes of its guides, with commas. */
const IDENTIFIER = `case when c.identificador like 'avi\\_%' then split_part(c.identificador, '_', 3) else c.identificador end`

/** SQL condition: the idempotency key `c` belongs to the guide `v`. */
export const KEY_OF_GUIA = `c.comercio_id = v.comercio_id and c.modo = v.modo
     and (v.guia = any(string_to_array(${IDENTIFIER}, ',')) or c.identificador in (select o.id::text from nota o where ${de('o')}))`

/**
 * SQL of `c`: deletes the idempotency keys of the guides in `v`, a table with a column `guia`. Callers choose the text of
 * a key, so it may contain personal data.
 */
export const DELETE_KEYS = `c as (
     delete from clave_idempotencia c where (c.comercio_id, c.modo, ${IDENTIFIER}) in (${IDENTIFIERS})
       or (c.operacion = 'crearLote' and exists (select from v where v.comercio_id = c.comercio_id and v.modo = c.modo
         and v.guia = any(string_to_array(c.identificador, ','))))
   )`

/**
 * SQL that erases the responses of merchants' servers to webhooks of the guides `v`.
 * @param condition SQL condition for the rows `t` of deliveries and attempts
 */
export const deleteAnswersSql = (condition = 'true') => `s as (
     select w.comercio_id, w.modo, w.webhook, v.id from v join webhook w using (comercio_id, modo)
   ), x as (
     update webhook_aviso t set exito = (t.exito::jsonb || '{"cabeceras": null, "cuerpo": null}')::json from s v
     where ${de('t')} and t.webhook = v.webhook and t.exito is not null and ${condition}
   ), y as (
     update webhook_intento t set cabeceras = null, cuerpo = null, detalle = null from s v
     where ${de('t')} and t.webhook = v.webhook and ${condition}
   )`

/**
 * SQL that erases personal data of the guides `v`: telephone, names, addresses, contents, places, the pickup, the
 * keys of events, and texts written by people.
 * Keeps codes, references, states, times, authors, and the keyed digests that identify a repeated creation. Erases the
 * provider's own message id, because WhatsApp's id contains the telephone number.
 */
export const DELETE_GUIA_DATA = `e as (
     update evento e set descripcion = null, lat = null, lng = null, datos = e.datos - 'forzado',
       cambios = null, idempotencia = null,
       foto = e.foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
         coalesce(${onlyWhenSql("e.foto -> 'ubicacion_extra'")}, 'null')) from v where ${de('e')}
   ), m as (
     update mensaje m set telefono = null, abierta = false, proveedor_id = null, motivo = null,
       estado = case when m.estado in ('pendiente', 'enviando') then 'descartado' else m.estado end from v where ${de('m')}
   ), l as (
     delete from enlace_ubicacion l using v where ${de('l')}
   ), k as (
     delete from enlace_corto k using v where ${de('k')}
   ), t as (
     delete from telefono_anterior t using v where ${de('t')}
   )
   update guia g set ${ERASURES}, recogida = ${ERASED_RECOGIDA_SQL},
     ubicacion_extra = ${onlyWhenSql('g.ubicacion_extra')},
     datos_borrados_en = :now::timestamptz
   from v where g.comercio_id = v.comercio_id and g.modo = v.modo and g.id = v.id
   returning g.comercio_id, g.modo, g.id, g.guia`
