// Data of a person whose telephone was replaced in a guide by a correction. The guide now belongs to another recipient.
// Only what the guide stored while it had the person's telephone is exported or erased.

import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { CorrectionChanges } from '../records/correccionCipher.ts'
import { CAMPOS, type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { type DatedCorreccion, type GuiaKey, lockGuia, readCorrecciones, saveChanges } from './correccionesOfPersona.ts'
import {
  answersSql,
  de,
  deleteAnswersSql,
  FIRST_ID,
  inEachPart,
  onlyWhenSql,
  type PersonQuery,
  PRUEBAS,
  rowsSql,
} from './persona.ts'

const MAX_GUIAS_PER_STATEMENT = 50

type FormerGuia = GuiaRow & { comercio: string; nombre: string }

/** Finds the next guides that once had a telephone and now have another one. */
const GUIAS = statement<PersonQuery & { desde: string }, FormerGuia>(
  'personas.formerRecipients',
  'part',
  `select g.*, c.comercio, c.nombre from guia g join comercio c on c.id = g.comercio_id
   where (g.comercio_id, g.modo, g.id) in (select comercio_id, modo, guia_id from telefono_anterior
       where telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id))
     and g.telefono is distinct from :telefono and g.id > :desde
   order by g.id limit ${MAX_GUIAS_PER_STATEMENT}`,
)

const MENSAJES = statement<GuiaKey & { telefono: string }, { mensaje: unknown }>(
  'personas.mensajes',
  'merchant',
  `select to_jsonb(m) - '{comercio_id,modo,guia_id,id}'::text[] as mensaje from mensaje m
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and telefono = :telefono order by numero`,
)

/** SQL condition: a row `t` is from a period. The correction that ends the period is of the next person. */
const IN_PERIOD = 't.secuencia >= :desde and t.secuencia < :hasta'

/** SQL condition: a proof from a period names the file `t` of the guide `v`. */
const ARCHIVO_OF_PERIOD = `exists (select from (${PRUEBAS}) n
   where ${de('n')} and n.secuencia >= :desde and n.secuencia < :hasta and t.archivo = any(n.archivos))`

/** SQL condition: the short link `k` of the guide `v` does not lead to the guide's present location. */
const FORMER_LINK = (k: string) => `${k}.maps_url is distinct from coalesce(v.ubicacion_extra ->> 'enlace', v.maps_url)`

/** Reads what events, notes, proofs, short links and merchants' servers said in a period, and the names of its files. */
const OF_PERIOD = statement<GuiaKey & Period, { tablas: unknown; archivos: string[] }>(
  'personas.ofPeriod',
  'merchant',
  `select jsonb_build_object(${rowsSql('evento', IN_PERIOD, ',huella,cambios')}, ${rowsSql('nota', IN_PERIOD)},
     ${rowsSql('prueba_entrega', IN_PERIOD)}, ${rowsSql('prueba_intento', IN_PERIOD)},
     ${rowsSql('enlace_corto', FORMER_LINK('t'))}, ${rowsSql('archivo', ARCHIVO_OF_PERIOD)}, ${answersSql(IN_PERIOD)}) as tablas,
     array(select t.archivo from archivo t where ${de('t')} and ${ARCHIVO_OF_PERIOD} order by t.archivo) as archivos
   from guia v where comercio_id = :comercio_id and modo = :modo and id = :guia_id`,
)

/** Part of a guide's history during which the guide had a certain telephone. */
interface Period {
  /** Sequence of the event from which the guide had the telephone. */
  desde: number
  /** Sequence of the event that replaced the telephone. */
  hasta: number
}

/** Returns the periods in which a guide had a telephone that later corrections replaced. */
function periodsOf(
  telefono: string,
  correcciones: readonly { secuencia: number; cambios: CorrectionChanges }[],
): Period[] {
  const periods: Period[] = []
  let desde = 1
  for (const { secuencia, cambios } of correcciones) {
    if (!cambios.telefono) continue
    if (cambios.telefono.antes === telefono) periods.push({ desde, hasta: secuencia })
    desde = secuencia
  }
  return periods
}

/** Returns true if the guide was created with the telephone of these periods. */
const includesFirstPeriod = (periods: readonly Period[]) => periods.some(({ desde }) => desde === 1)

const PERSONAL_COLUMNS: readonly string[] = Object.entries(CAMPOS).flatMap(([column, field]) =>
  'personal' in field ? [column] : [],
)

/**
 * Splits the values of each correction into those of the person and the others. A value is the person's if the guide
 * had the person's telephone when the value was set, even if the value was replaced much later. A pickup always belongs
 * to the merchant.
 */
function splitValues(correcciones: readonly DatedCorreccion[], periods: readonly Period[]) {
  const isOwnValue = (column: string, setSequence: number) =>
    PERSONAL_COLUMNS.includes(column) && periods.some(({ desde, hasta }) => desde <= setSequence && setSequence < hasta)
  /** Sequence of the event that set the present value of each column; absent for values from the guide's creation. */
  const setSequences = new Map<string, number>()
  return correcciones.map((correccion) => {
    const [own, remaining]: Record<string, object>[] = [{}, {}]
    for (const [column, values] of Object.entries(correccion.cambios)) {
      const isOwnBefore = isOwnValue(column, setSequences.get(column) ?? 1)
      const isOwnAfter = isOwnValue(column, correccion.secuencia)
      setSequences.set(column, correccion.secuencia)
      if (isOwnBefore || isOwnAfter)
        own![column] = { ...(isOwnBefore && { antes: values.antes }), ...(isOwnAfter && { despues: values.despues }) }
      remaining![column] = { antes: isOwnBefore ? null : values.antes, despues: isOwnAfter ? null : values.despues }
    }
    return { ...correccion, own: own!, remaining: remaining as CorrectionChanges }
  })
}

/** Returns the values of each correction that are the person's, for an export. */
const ownValues = (correcciones: readonly DatedCorreccion[], periods: readonly Period[]) =>
  splitValues(correcciones, periods).flatMap(({ secuencia, registrado_en, own }) =>
    Object.keys(own).length > 0 ? [{ secuencia, registrado_en: registrado_en.toISOString(), ...own }] : [],
  )

/** Reads all guides that had the telephone, in batches. */
async function* readPreviousGuias(query: Query, person: PersonQuery) {
  for (let desde: string | undefined = FIRST_ID; desde !== undefined; ) {
    const guias: FormerGuia[] = await query(GUIAS, { ...person, desde })
    yield* guias
    desde = guias.at(-1)?.id
  }
}

/**
 * Returns what guides with another telephone still store about a person: corrected values, and messages to the person's
 * telephone.
 */
export async function exportPrevious({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, person: PersonQuery) {
  const exportedByPart = await inEachPart(db, person, async ({ query }) => {
    const exportedGuias = []
    for await (const guia of readPreviousGuias(query, person)) {
      const key = guiaKeyOf(guia)
      const correcciones = await readCorrecciones(query, secretos, key)
      const periods = periodsOf(person.telefono, correcciones)
      const mensajes = await query(MENSAJES, { ...key, telefono: person.telefono })
      exportedGuias.push({
        guia: guia.guia,
        comercio: { comercio: guia.comercio, nombre: guia.nombre },
        modo: guia.modo,
        // The metadata were set with the creation.
        ...(includesFirstPeriod(periods) && { metadatos: guia.metadatos }),
        correcciones: ownValues(correcciones, periods),
        mensajes: mensajes.map(({ mensaje }) => mensaje),
        periodos: await readPeriods(query, key, periods),
      })
    }
    return exportedGuias
  })
  return exportedByPart.flat()
}

/** Returns the person's corrected values in a guide that now has the person's telephone. */
export async function exportCorrecciones(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  telefono: string,
  key: GuiaKey,
) {
  const correcciones = await readCorrecciones(db.forComercio(key.comercio_id).query, secretos, key)
  const desde = correcciones.findLast(({ cambios }) => cambios.telefono)?.secuencia ?? 1
  const periods = [...periodsOf(telefono, correcciones), { desde, hasta: Number.POSITIVE_INFINITY }]
  return ownValues(correcciones, periods)
}

async function readPeriods(query: Query, key: GuiaKey, periods: readonly Period[]) {
  const periodData = []
  for (const period of periods) {
    const [periodRow = { tablas: {}, archivos: [] }] = await query(OF_PERIOD, { ...key, ...period })
    periodData.push({ ...period, ...periodRow })
  }
  return periodData
}

/** SQL condition that a place is known and differs from the present place of the guide `v`. */
const isOtherPlaceSql = (lat: string, lng: string) =>
  `(${lat} is not null and (${lat}, ${lng}) is distinct from (v.ubicacion_lat, v.ubicacion_lng))`

/**
 * Erases what a guide stores about a former recipient: messages, links, texts and places of events from that time, their
 * proofs with the files, and the answers of merchants' servers to them. A place that is still the guide's present
 * location stays, and so does the link to it that is still to be followed. The notes and proofs after the correction
 * that ends the period are of the next person.
 */
const ERASE_PERIOD = statement<GuiaKey & { telefono: string; desde: number; hasta: number }>(
  'personas.erasePeriod',
  'merchant',
  `with v as (
     select * from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id
   ), m as (
     update mensaje m set telefono = null, abierta = false, proveedor_id = null, motivo = null,
       estado = case when m.estado in ('pendiente', 'enviando') then 'descartado' else m.estado end
     from v where ${de('m')} and m.telefono = :telefono returning m.comercio_id, m.modo, m.guia_id, m.numero
   ), l as (
     delete from enlace_ubicacion l using m where l.comercio_id = m.comercio_id and l.modo = m.modo
       and l.guia_id = m.guia_id and l.numero = m.numero
   ), k as (
     delete from enlace_corto k using v
     where ${de('k')} and ${FORMER_LINK('k')}
   ), o as (
     delete from nota o using v where ${de('o')} and o.secuencia >= :desde and o.secuencia < :hasta
   ), p as (
     delete from prueba_entrega p using v where ${de('p')} and p.secuencia >= :desde and p.secuencia < :hasta
     returning p.fotos || p.firma || p.pdf as archivos
   ), n as (
     delete from prueba_intento n using v where ${de('n')} and n.secuencia >= :desde and n.secuencia < :hasta
     returning n.fotos as archivos
   ), a as (
     delete from archivo a using v, (select archivos from p union all select archivos from n) q
     where ${de('a')} and a.archivo = any(q.archivos) returning a.archivo
   ), i as (
     update archivo_indice i set estado = 'borrando' from a, v where i.comercio_id = v.comercio_id and i.archivo = a.archivo
   ), t as (
     delete from telefono_anterior t using v where ${de('t')} and t.telefono = :telefono
   ), ${deleteAnswersSql('t.secuencia between :desde and :hasta')}
   update evento e set descripcion = null, datos = e.datos - 'forzado',
     lat = case when ${isOtherPlaceSql('e.lat', 'e.lng')} then null else e.lat end,
     lng = case when ${isOtherPlaceSql('e.lat', 'e.lng')} then null else e.lng end,
     foto = case when ${isOtherPlaceSql("(e.foto ->> 'ubicacion_lat')::float8", "(e.foto ->> 'ubicacion_lng')::float8")}
         or e.foto -> 'ubicacion_extra' ?| '{enlace,referencia}' and e.foto -> 'ubicacion_extra' <> v.ubicacion_extra
       then e.foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
         coalesce(${onlyWhenSql("e.foto -> 'ubicacion_extra'")}, 'null')) else e.foto end
   from v where ${de('e')} and e.secuencia between :desde and :hasta`,
)

/** Empties the metadata of a guide. */
const CLEAR_METADATA = statement<GuiaKey>(
  'personas.clearMetadata',
  'merchant',
  `update guia set metadatos = null
   where comercio_id = :comercio_id and modo = :modo and id = :guia_id and metadatos is not null returning 1`,
)

/**
 * Erases the former recipient's values in a guide that now has another telephone. The metadata were set with the
 * creation, so they go with the first recipient.
 * @returns true if the guide lost its metadata
 */
async function erasePrevious(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  telefono: string,
  guia: GuiaRow,
  recordErasure: (query: Query) => Promise<unknown>,
): Promise<boolean> {
  const key = guiaKeyOf(guia)
  return inTransaction(db, async (query) => {
    await lockGuia(query, key)
    const correcciones = await readCorrecciones(query, secretos, key)
    const periods = periodsOf(telefono, correcciones)
    for (const { secuencia, own, remaining } of splitValues(correcciones, periods)) {
      if (Object.keys(own).length > 0) await saveChanges(query, secretos, { ...key, secuencia }, remaining)
    }
    for (const { desde, hasta } of periods) await query(ERASE_PERIOD, { ...key, telefono, desde, hasta })
    const clearedRows = includesFirstPeriod(periods) ? await query(CLEAR_METADATA, key) : []
    await recordErasure(query)
    return clearedRows.length > 0
  })
}

/**
 * Erases the person's values in all guides that once had the telephone and now have another one. This includes guides
 * that have not ended, because their delivery needs only the present values.
 * @returns number of guides, and the codes of those that lost their metadata
 */
export async function eraseAllPrevious(
  { db, secretos, bitacora }: Pick<Deps, 'db' | 'secretos' | 'bitacora'>,
  actor: Actor,
  person: PersonQuery,
): Promise<{ anteriores: number; sin_metadatos: string[] }> {
  const sin_metadatos: string[] = []
  const guias = await inEachPart(db, person, async (part) => {
    let erasedCount = 0
    for await (const guia of readPreviousGuias(part.query, person)) {
      const hasClearedMetadata = await erasePrevious({ db: part, secretos }, person.telefono, guia, (query) =>
        bitacora.record(query, actor, { accion: 'olvidarPersona', campos: ['telefono'], despues: { guias: 1 } }),
      )
      if (hasClearedMetadata) sin_metadatos.push(guia.guia)
      erasedCount++
    }
    return erasedCount
  })
  return { anteriores: guias.reduce((total, erased) => total + erased, 0), sin_metadatos }
}
