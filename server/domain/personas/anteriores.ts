// Data of a person whose telephone was replaced in a guide by a correction. The guide now belongs to another recipient.
// Only what the guide stored while it had the person's telephone is exported or erased.

import { type Db, inTransaction, type Query, statement } from '../../data/db.ts'
import { inEach } from '../../data/spread.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { FilaEvento } from '../eventos/evento.ts'
import { CAMPOS, type FilaGuia } from '../guias/campos.ts'
import { type Cambios, cifrarCambios, descifrarCambios } from '../guias/correcciones.ts'
import { type DeQuien, de, filas, PRUEBAS, respuestas, soloCuando } from './persona.ts'

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

type Correccion = Pick<FilaEvento, 'secuencia' | 'cambios' | 'registrado_en'>
type ClaveDeGuia = Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'>

const CORRECCIONES = statement<ClaveDeGuia, Correccion>(
  'personas.correcciones',
  `select secuencia, cambios, registrado_en from evento
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and cambios is not null order by secuencia`,
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

/** Reads what events, notes, proofs and merchants' servers said in a period, and the names of its files. */
const DEL_PERIODO = statement<ClaveDeGuia & Periodo, { tablas: unknown; archivos: string[] }>(
  'personas.delPeriodo',
  `select jsonb_build_object(${filas('evento', EN_EL_PERIODO, ',huella,cambios')}, ${filas('nota', EN_EL_PERIODO)},
     ${filas('prueba_entrega', EN_EL_PERIODO)}, ${filas('prueba_intento', EN_EL_PERIODO)},
     ${filas('archivo', ARCHIVO_DEL_PERIODO)}, ${respuestas(EN_EL_PERIODO)}) as tablas,
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

const PERSONALES: readonly string[] = Object.entries(CAMPOS).flatMap(([columna, campo]) =>
  'personal' in campo ? [columna] : [],
)

/** Correction of a guide with its decrypted values. */
type Corregida = { secuencia: number; registrado_en: Date; cambios: Cambios }

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

/** Decrypted corrections of a guide. A correction that no master key decrypts has no values. */
async function leerCorrecciones(consultar: Query, secretos: Secrets, clave: ClaveDeGuia): Promise<Corregida[]> {
  const filas = await consultar(CORRECCIONES, clave)
  return filas.map(({ secuencia, cambios, registrado_en }) => ({
    secuencia,
    registrado_en,
    cambios: legibles(secretos, { guia_id: clave.guia_id, secuencia }, cambios!),
  }))
}

function legibles(secretos: Secrets, evento: { guia_id: string; secuencia: number }, cifrado: Uint8Array): Cambios {
  try {
    return descifrarCambios(secretos, evento, cifrado)
  } catch {
    return {}
  }
}

const claveDe = ({ comercio_id, modo, id }: FilaGuia): ClaveDeGuia => ({ comercio_id, modo, guia_id: id })

/** Reads all guides that had the telephone, in batches. */
async function* guiasAnteriores(consultar: Query, suya: DeQuien) {
  for (let desde: string | undefined = '00000000-0000-0000-0000-000000000000'; desde !== undefined; ) {
    const guias: GuiaAnterior[] = await consultar(GUIAS, { ...suya, desde })
    yield* guias
    desde = guias.at(-1)?.id
  }
}

const enCada = async <R>(db: Db, { comercio_id }: DeQuien, hacer: (parte: Db) => Promise<R>): Promise<R[]> =>
  comercio_id === null ? inEach(db, hacer) : [await hacer(db.de(comercio_id))]

/**
 * Returns what guides with another telephone still store about a person: corrected values, and messages to the person's
 * telephone.
 */
export async function exportarAnteriores({ db, secretos }: Pick<Deps, 'db' | 'secretos'>, suya: DeQuien) {
  const exportadas = await enCada(db, suya, async ({ consultar }) => {
    const suyas = []
    for await (const guia of guiasAnteriores(consultar, suya)) {
      const clave = claveDe(guia)
      const correcciones = await leerCorrecciones(consultar, secretos, clave)
      const periodos = periodosDe(suya.telefono, correcciones)
      const mensajes = await consultar(MENSAJES, { ...clave, telefono: suya.telefono })
      suyas.push({
        guia: guia.guia,
        comercio: { comercio: guia.comercio, nombre: guia.nombre },
        modo: guia.modo,
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

const TOMAR = statement<ClaveDeGuia, FilaGuia>(
  'personas.tomarGuia',
  `select * from guia where comercio_id = :comercio_id and modo = :modo and id = :guia_id for update`,
)

const GUARDAR_CAMBIOS = statement<ClaveDeGuia & { secuencia: number; cambios: Buffer }>(
  'personas.guardarCambios',
  `update evento set cambios = :cambios
   where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id and secuencia = :secuencia`,
)

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
     where ${de('k')} and k.maps_url is distinct from coalesce(v.ubicacion_extra ->> 'enlace', v.maps_url)
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
   ), s as (
     select w.comercio_id, w.modo, w.webhook, v.id from v join webhook w using (comercio_id, modo)
   ), x as (
     update webhook_entrega x set exito = (x.exito::jsonb || '{"cabeceras": null, "cuerpo": null}')::json from s v
     where ${de('x')} and x.webhook = v.webhook and x.exito is not null and x.secuencia between :desde and :hasta
   ), y as (
     update webhook_intento y set cabeceras = null, cuerpo = null, detalle = null from s v
     where ${de('y')} and y.webhook = v.webhook and y.secuencia between :desde and :hasta
   )
   update evento e set descripcion = null, datos = e.datos - 'forzado',
     lat = case when ${OTRO_LUGAR('e.lat', 'e.lng')} then null else e.lat end,
     lng = case when ${OTRO_LUGAR('e.lat', 'e.lng')} then null else e.lng end,
     foto = case when ${OTRO_LUGAR("(e.foto ->> 'ubicacion_lat')::float8", "(e.foto ->> 'ubicacion_lng')::float8")}
         or e.foto -> 'ubicacion_extra' ?| '{enlace,referencia}' and e.foto -> 'ubicacion_extra' <> v.ubicacion_extra
       then e.foto || jsonb_set('{"ubicacion_lat": null, "ubicacion_lng": null}', '{ubicacion_extra}',
         coalesce(${soloCuando("e.foto -> 'ubicacion_extra'")}, 'null')) else e.foto end
   from v where ${de('e')} and e.secuencia between :desde and :hasta`,
)

/** Erases the former recipient's values in a guide that now has another telephone. */
async function olvidarAnterior(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  telefono: string,
  guia: FilaGuia,
  anotar: (consultar: Query) => Promise<unknown>,
): Promise<void> {
  const clave = claveDe(guia)
  await inTransaction(db, async (consultar) => {
    await consultar(TOMAR, clave)
    const correcciones = await leerCorrecciones(consultar, secretos, clave)
    const periodos = periodosDe(telefono, correcciones)
    for (const { secuencia, suyos, quedan } of separar(correcciones, periodos)) {
      if (Object.keys(suyos).length === 0) continue
      const cifrados = cifrarCambios(secretos, { guia_id: clave.guia_id, secuencia }, quedan)
      await consultar(GUARDAR_CAMBIOS, { ...clave, secuencia, cambios: cifrados })
    }
    for (const { desde, hasta } of periodos) await consultar(BORRAR_PERIODO, { ...clave, telefono, desde, hasta })
    await anotar(consultar)
  })
}

/**
 * Erases the person's values in all guides that once had the telephone and now have another one. This includes guides
 * that have not ended, because their delivery needs only the present values.
 * @returns number of guides
 */
export async function olvidarAnteriores(
  { db, secretos, bitacora }: Pick<Deps, 'db' | 'secretos' | 'bitacora'>,
  quien: Quien,
  suya: DeQuien,
): Promise<number> {
  const guias = await enCada(db, suya, async (parte) => {
    let cuantas = 0
    for await (const guia of guiasAnteriores(parte.consultar, suya)) {
      await olvidarAnterior({ db: parte, secretos }, suya.telefono, guia, (consultar) =>
        bitacora.anotar(consultar, quien, { accion: 'olvidarPersona', campos: ['telefono'], despues: { guias: 1 } }),
      )
      cuantas++
    }
    return cuantas
  })
  return guias.reduce((unas, otras) => unas + otras, 0)
}
