// Data of a person whose telephone was replaced in a guide by a correction. The guide now belongs to another recipient.
// Only what the guide stored while it had the person's telephone is exported or erased.

import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import { deGuia } from '../eventos/evento.ts'
import { CAMPOS, type FilaGuia } from '../guias/campos.ts'
import type { Cambios } from '../guias/correcciones.ts'
import { type ClaveDeGuia, type Corregida, guardarCambios, leerCorrecciones, tomarGuia } from './correcciones.ts'
import {
  borrarRespuestas,
  type DeQuien,
  de,
  enCada,
  filas,
  PRIMERA,
  PRUEBAS,
  respuestas,
  soloCuando,
} from './persona.ts'

/** Maximum number of guides per statement. */
const LOTE = 50

type GuiaAnterior = FilaGuia & { comercio: string; nombre: string }

/** Finds the next guides that once had a telephone and now have another one. */
const GUIAS = statement<DeQuien & { desde: string }, GuiaAnterior>(
  'personas.anteriores',
  `select g.*, c.comercio, c.nombre from guia g join comercio c on c.id = g.comercio_id
   where (g.comercio_id, g.modo, g.id) in (select comercio_id, modo, guia_id from telefono_anterior
       where telefono = :telefono and (:comercio_id::uuid is null or comercio_id = :comercio_id))
     and g.telefono is distinct from :telefono and g.id > :desde
   order by g.id limit ${LOTE}`,
  { alcance: 'parte' },
)

const MENSAJES = statement<ClaveDeGuia & { telefono: string }, { mensaje: unknown }>(
  'personas.mensajesAnteriores',
  `select to_jsonb(m) - '{comercio_id,modo,guia_id,id}'::text[] as mensaje from mensaje m
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and telefono = :telefono order by numero`,
)

/** SQL condition: a row `t` is from a period. The correction that ends the period is of the next person. */
const EN_EL_PERIODO = 't.secuencia >= :desde and t.secuencia < :hasta'

/** SQL condition: a proof from a period names the file `t` of the guide `v`. */
const ARCHIVO_DEL_PERIODO = `exists (select from (${PRUEBAS}) n
   where ${de('n')} and n.secuencia >= :desde and n.secuencia < :hasta and t.archivo = any(n.archivos))`

/** SQL condition: the short link `k` of the guide `v` does not lead to the guide's present location. */
const ENLACE_DE_ANTES = (k: string) =>
  `${k}.maps_url is distinct from coalesce(v.ubicacion_extra ->> 'enlace', v.maps_url)`

/** Reads what events, notes, proofs, short links and merchants' servers said in a period, and the names of its files. */
const DEL_PERIODO = statement<ClaveDeGuia & Periodo, { tablas: unknown; archivos: string[] }>(
  'personas.delPeriodo',
  `select jsonb_build_object(${filas('evento', EN_EL_PERIODO, ',huella,cambios')}, ${filas('nota', EN_EL_PERIODO)},
     ${filas('prueba_entrega', EN_EL_PERIODO)}, ${filas('prueba_intento', EN_EL_PERIODO)},
     ${filas('enlace_corto', ENLACE_DE_ANTES('t'))}, ${filas('archivo', ARCHIVO_DEL_PERIODO)}, ${respuestas(EN_EL_PERIODO)}) as tablas,
     array(select t.archivo from archivo t where ${de('t')} and ${ARCHIVO_DEL_PERIODO} order by t.archivo) as archivos
   from guia v where comercio_id = :comercio_id and modo = :modo and id = :guia_id`,
)

/** Part of a guide's history during which the guide had a certain telephone. */
interface Periodo {
  /** Sequence of the event from which the guide had the telephone. */
  desde: number
  /** Sequence of the event that replaced the telephone. */
  hasta: number
}

/** Returns the periods in which a guide had a telephone that later corrections replaced. */
function periodosDe(telefono: string, correcciones: readonly { secuencia: number; cambios: Cambios }[]): Periodo[] {
  const periodos: Periodo[] = []
  let desde = 1
  for (const { secuencia, cambios } of correcciones) {
    if (!cambios.telefono) continue
    if (cambios.telefono.antes === telefono) periodos.push({ desde, hasta: secuencia })
    desde = secuencia
  }
  return periodos
}

/** Returns true if the guide was created with the telephone of these periods. */
const esElPrimero = (periodos: readonly Periodo[]) => periodos.some(({ desde }) => desde === 1)

const PERSONALES: readonly string[] = Object.entries(CAMPOS).flatMap(([columna, campo]) =>
  'personal' in campo ? [columna] : [],
)

/**
 * Splits the values of each correction into those of the person and the others. A value is the person's if the guide
 * had the person's telephone when the value was set, even if the value was replaced much later. A pickup always belongs
 * to the merchant.
 */
function separar(correcciones: readonly Corregida[], periodos: readonly Periodo[]) {
  const esSuyo = (columna: string, puesto: number) =>
    PERSONALES.includes(columna) && periodos.some(({ desde, hasta }) => desde <= puesto && puesto < hasta)
  /** Sequence of the event that set the present value of each column; absent for values from the guide's creation. */
  const puestos = new Map<string, number>()
  return correcciones.map((correccion) => {
    const [suyos, quedan]: Record<string, object>[] = [{}, {}]
    for (const [columna, valores] of Object.entries(correccion.cambios)) {
      const a = esSuyo(columna, puestos.get(columna) ?? 1)
      const d = esSuyo(columna, correccion.secuencia)
      puestos.set(columna, correccion.secuencia)
      if (a || d) suyos![columna] = { ...(a && { antes: valores.antes }), ...(d && { despues: valores.despues }) }
      quedan![columna] = { antes: a ? null : valores.antes, despues: d ? null : valores.despues }
    }
    return { ...correccion, suyos: suyos!, quedan: quedan as Cambios }
  })
}

/** Returns the values of each correction that are the person's, for an export. */
const valoresSuyos = (correcciones: readonly Corregida[], periodos: readonly Periodo[]) =>
  separar(correcciones, periodos).flatMap(({ secuencia, registrado_en, suyos }) =>
    Object.keys(suyos).length > 0 ? [{ secuencia, registrado_en: registrado_en.toISOString(), ...suyos }] : [],
  )

/** Reads all guides that had the telephone, in batches. */
async function* guiasAnteriores(consultar: Query, suya: DeQuien) {
  for (let desde: string | undefined = PRIMERA; desde !== undefined; ) {
    const guias: GuiaAnterior[] = await consultar(GUIAS, { ...suya, desde })
    yield* guias
    desde = guias.at(-1)?.id
  }
}

/**
 * Returns what guides with another telephone still store about a person: corrected values, and messages to the person's
 * telephone.
 */
export async function exportarAnteriores({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, suya: DeQuien) {
  const exportadas = await enCada(db, suya, async ({ consultar }) => {
    const suyas = []
    for await (const guia of guiasAnteriores(consultar, suya)) {
      const clave = deGuia(guia)
      const correcciones = await leerCorrecciones(consultar, secretos, clave)
      const periodos = periodosDe(suya.telefono, correcciones)
      const mensajes = await consultar(MENSAJES, { ...clave, telefono: suya.telefono })
      suyas.push({
        guia: guia.guia,
        comercio: { comercio: guia.comercio, nombre: guia.nombre },
        modo: guia.modo,
        // The metadata were set with the creation.
        ...(esElPrimero(periodos) && { metadatos: guia.metadatos }),
        correcciones: valoresSuyos(correcciones, periodos),
        mensajes: mensajes.map(({ mensaje }) => mensaje),
        periodos: await leerPeriodos(consultar, clave, periodos),
      })
    }
    return suyas
  })
  return exportadas.flat()
}

/** Returns the person's corrected values in a guide that now has the person's telephone. */
export async function exportarCorrecciones(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  telefono: string,
  clave: ClaveDeGuia,
) {
  const correcciones = await leerCorrecciones(db.de(clave.comercio_id).consultar, secretos, clave)
  const desde = correcciones.findLast(({ cambios }) => cambios.telefono)?.secuencia ?? 1
  const periodos = [...periodosDe(telefono, correcciones), { desde, hasta: Number.POSITIVE_INFINITY }]
  return valoresSuyos(correcciones, periodos)
}

async function leerPeriodos(consultar: Query, clave: ClaveDeGuia, periodos: readonly Periodo[]) {
  const leidos = []
  for (const periodo of periodos) {
    const [leido = { tablas: {}, archivos: [] }] = await consultar(DEL_PERIODO, { ...clave, ...periodo })
    leidos.push({ ...periodo, ...leido })
  }
  return leidos
}

/** SQL condition that a place is known and differs from the present place of the guide `v`. */
const OTRO_LUGAR = (lat: string, lng: string) =>
  `(${lat} is not null and (${lat}, ${lng}) is distinct from (v.ubicacion_lat, v.ubicacion_lng))`

/**
 * Erases what a guide stores about a former recipient: messages, links, texts and places of events from that time, their
 * proofs with the files, and the answers of merchants' servers to them. A place that is still the guide's present
 * location stays, and so does the link to it that is still to be followed. The notes and proofs after the correction
 * that ends the period are of the next person.
 */
const BORRAR_PERIODO = statement<ClaveDeGuia & { telefono: string; desde: number; hasta: number }>(
  'personas.borrarPeriodo',
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
     where ${de('k')} and ${ENLACE_DE_ANTES('k')}
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
   ), ${borrarRespuestas('t.secuencia between :desde and :hasta')}
   update evento e set descripcion = null, datos = e.datos - 'forzado',
     lat = case when ${OTRO_LUGAR('e.lat', 'e.lng')} then null else e.lat end,
     lng = case when ${OTRO_LUGAR('e.lat', 'e.lng')} then null else e.lng end,
     foto = case when ${OTRO_LUGAR("(e.foto ->> 'ubicacion_lat')::float8", "(e.foto ->> 'ubicacion_lng')::float8")}
         or e.foto -> 'ubicacion_extra' ?| '{enlace,referencia}' and e.foto -> 'ubicacion_extra' <> v.ubicacion_extra
       then e.foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
         coalesce(${soloCuando("e.foto -> 'ubicacion_extra'")}, 'null')) else e.foto end
   from v where ${de('e')} and e.secuencia between :desde and :hasta`,
)

/** Empties the metadata of a guide. */
const SIN_METADATOS = statement<ClaveDeGuia>(
  'personas.sinMetadatos',
  `update guia set metadatos = null
   where comercio_id = :comercio_id and modo = :modo and id = :guia_id and metadatos is not null returning 1`,
)

/**
 * Erases the former recipient's values in a guide that now has another telephone. The metadata were set with the
 * creation, so they go with the first recipient.
 * @returns true if the guide lost its metadata
 */
async function olvidarAnterior(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  telefono: string,
  guia: FilaGuia,
  anotar: (consultar: Query) => Promise<unknown>,
): Promise<boolean> {
  const clave = deGuia(guia)
  return inTransaction(db, async (consultar) => {
    await tomarGuia(consultar, clave)
    const correcciones = await leerCorrecciones(consultar, secretos, clave)
    const periodos = periodosDe(telefono, correcciones)
    for (const { secuencia, suyos, quedan } of separar(correcciones, periodos)) {
      if (Object.keys(suyos).length > 0) await guardarCambios(consultar, secretos, { ...clave, secuencia }, quedan)
    }
    for (const { desde, hasta } of periodos) await consultar(BORRAR_PERIODO, { ...clave, telefono, desde, hasta })
    const vaciados = esElPrimero(periodos) ? await consultar(SIN_METADATOS, clave) : []
    await anotar(consultar)
    return vaciados.length > 0
  })
}

/**
 * Erases the person's values in all guides that once had the telephone and now have another one. This includes guides
 * that have not ended, because their delivery needs only the present values.
 * @returns number of guides, and the codes of those that lost their metadata
 */
export async function olvidarAnteriores(
  { db, secretos, bitacora }: Pick<Deps, 'db' | 'secretos' | 'bitacora'>,
  quien: Quien,
  suya: DeQuien,
): Promise<{ anteriores: number; sin_metadatos: string[] }> {
  const sin_metadatos: string[] = []
  const guias = await enCada(db, suya, async (parte) => {
    let cuantas = 0
    for await (const guia of guiasAnteriores(parte.consultar, suya)) {
      const vaciada = await olvidarAnterior({ db: parte, secretos }, suya.telefono, guia, (consultar) =>
        bitacora.anotar(consultar, quien, { accion: 'olvidarPersona', campos: ['telefono'], despues: { guias: 1 } }),
      )
      if (vaciada) sin_metadatos.push(guia.guia)
      cuantas++
    }
    return cuantas
  })
  return { anteriores: guias.reduce((unas, otras) => unas + otras, 0), sin_metadatos }
}
