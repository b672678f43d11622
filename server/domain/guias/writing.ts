import { type Db, inTransaction, statement } from '../../data/db.ts'
import { type GroupOwner, type GroupRequest, Groups } from '../../data/queue/groups.ts'
import { askByMerchant, groupOf, letterOf } from '../../data/spread.ts'
import type { CanalDeMensaje, Estado, Modo } from '../../generado/contrato/tipos/index.ts'
import { constraintOf, Problema, translateError } from '../../platform/errors.ts'
import type { Log } from '../../platform/log.ts'
import { readMapLink } from '../../platform/maps/links.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { inSpan } from '../../platform/tracing.ts'
import { type EventoRecien, eventoDeCreacion, insertarAvisosDeWebhook } from '../eventos/evento.ts'
import { FORMA_EN_SQL } from '../eventos/forma.ts'
import { CLAVES, GUARDAR_CLAVES, type RequestKey } from '../idempotencia/idempotencia.ts'
import type { AdvertenciaGuardada } from './advertencias.ts'
import { type DatosDeGuia, type FilaGuia, fotoEnSql, guiaNueva, NUEVOS, RECORDSET } from './campos.ts'
import { venceAlCrear } from './guia.ts'
import { diferencias, huellasDe } from './huellas.ts'
import { sonLosMismos } from './metadatos.ts'

/** Result for one guide: created, already existing with the same content, or rejected. */
export type VeredictoDeGuia = { fila: FilaGuia; repetida: boolean } | { problema: Problema }

/** Key of a request whose guides have no reference. The key is stored in the statement that writes the guides. */
export interface KeyOfGuides {
  fila: RequestKey['fila']
  /** Returns the stored identifier of the request's effect, from the code of each guide; undefined for a rejected one. */
  identificador: (codigoDe: (datos: DatosDeGuia) => string | undefined) => string
}

/** Creates guides; concurrent calls share statements. */
export interface GuideWriter {
  /**
   * Creates guides. A faulty guide does not fail the others. Returns the results in the order of `datos`.
   * @param key creates the guides only if no other request has the key; otherwise each result is a problem
   */
  crear(
    comercioId: string,
    modo: Modo,
    datos: readonly DatosDeGuia[],
    key?: KeyOfGuides | undefined,
  ): Promise<VeredictoDeGuia[]>
  /** Returns the elements of `datos` whose `external_ref` already belongs to a guide. */
  leerRepetidas(comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]): Promise<ReadonlySet<DatosDeGuia>>
}

/** Maximum guides per statement, and maximum concurrent statements per queue (measured: higher values gain nothing). */
const GRUPO = 100
const EN_VUELO = 2

const MENSAJES_Y_ENLACES = `, m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, 1, x.mensaje_id, x.guia, x.ubicacion_extra #>> '{solicitud,canal}',
       'solicitud_ubicacion', x.telefono, 'pendiente',
       ${venceAlCrear('modo', "x.ubicacion_extra #>> '{solicitud,canal}'", 'x.creado_en')}, x.creado_en
     from g join x using (comercio_id, modo, id) where x.mensaje_id is not null
   ), c as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, x.enlace_corto_id, x.maps_url, x.creado_en
     from g join x using (comercio_id, modo, id) where x.enlace_corto_id is not null
   )`

/**
 * SQL of the statement that creates a group of guides. Guides, index rows, events and webhook deliveries commit
 * together or not at all. With `tareas`, so do messages and short links to follow. `ON CONFLICT` names only the
 * reference: a collision of codes raises an error and is never taken for a replay. Rows are inserted in a fixed order,
 * so that two groups with common references wait for each other instead of deadlocking.
 * @param traza SQL of the trace of the guide's event
 * @param claves SQL that stores keys, and the condition of the rows whose key was stored
 */
const insertar = (tareas: string, traza = 'null', { cte, solo } = { cte: '', solo: '' }) => `with x as materialized (
     select * from json_to_recordset(:guias::json) as x(${RECORDSET}, mensaje_id uuid, enlace_corto_id uuid, traza text${cte && ', clave int'})
   )${cte}, g as (
     insert into guia as n (${NUEVOS.join(', ')}, estado, estado_en, secuencia, actualizado_en)
     select ${NUEVOS.join(', ')}, 'aceptado', creado_en, 1, creado_en
     from x ${solo} order by comercio_id, modo, external_ref, id
     on conflict (comercio_id, modo, external_ref) do nothing
     returning n.comercio_id, n.modo, n.id, n.guia, n.external_ref, n.creado_en, n.advertencias, n.ubicacion_estado,
       n.ubicacion_origen, n.ubicacion_lat, n.ubicacion_lng, n.ubicacion_extra
   ), i as (
     insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from g
   ), e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, foto, forma,
       ocurrido_en, registrado_en, traza)
     select comercio_id, modo, id, 1, guia, external_ref, 'guia.aceptado', 'aceptado', ${fotoEnSql('g', { intentos: '0', decision: 'null' })}, ${FORMA_EN_SQL},
       creado_en, creado_en, ${traza} from g
     returning n.comercio_id, n.modo, n.guia_id, n.secuencia, n.guia, n.tipo, n.registrado_en
   ), d as (${insertarAvisosDeWebhook('e')})${tareas}
   select g.id, d.webhooks from g
   left join (select guia_id, array_agg(webhook) as webhooks from d group by guia_id) d on d.guia_id = g.id`

const INSERTAR = statement<{ guias: string }, Insertada>('guias.insertar', insertar(''), { alcance: 'parte' })
const INSERTAR_CON_TAREAS = statement<{ guias: string }, Insertada>(
  'guias.insertarConTareas',
  insertar(MENSAJES_Y_ENLACES),
  { alcance: 'parte' },
)

// Separate statements for guides whose creation is traced. The statements for untraced creations are therefore cheaper.
const TRAZA_DE_X = '(select x.traza from x where x.id = g.id)'
const INSERTAR_TRAZADAS = statement<{ guias: string }, Insertada>('guias.insertarTrazadas', insertar('', TRAZA_DE_X), {
  alcance: 'parte',
})
const INSERTAR_TRAZADAS_CON_TAREAS = statement<{ guias: string }, Insertada>(
  'guias.insertarTrazadasConTareas',
  insertar(MENSAJES_Y_ENLACES, TRAZA_DE_X),
  { alcance: 'parte' },
)

/**
 * Inserts guides of which some have a key. Stores the keys first, in a fixed order, and then only the guides whose key
 * was stored. A key that another transaction is storing is awaited.
 */
const INSERTAR_CON_CLAVES = statement<{ guias: string; claves: string }, Insertada>(
  'guias.insertarConClaves',
  insertar(MENSAJES_Y_ENLACES, TRAZA_DE_X, {
    cte: `, y as materialized (
     select * from json_to_recordset(:claves::json) as y(n int, ${CLAVES})
   ), k as (${GUARDAR_CLAVES} returning c.identificador)`,
    solo: 'where x.clave is null or x.clave in (select y.n from y join k using (identificador))',
  }),
  { alcance: 'parte' },
)

const EXISTENTES = statement<
  { comercios: readonly string[]; modos: readonly Modo[]; external_refs: readonly (string | null)[] },
  FilaGuia
>(
  'guias.existentes',
  `select g.* from unnest(:comercios::uuid[], :modos::text[], :external_refs::text[]) x(comercio_id, modo, external_ref)
   join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.external_ref = x.external_ref`,
  { alcance: 'parte' },
)

interface Insertada {
  id: string
  /** Webhook endpoints that receive the guide's event; null if none. */
  webhooks: string[] | null
}

/** Owner of a creation request: one merchant in one mode. */
interface Ambito extends GroupOwner {
  comercioId: string
  modo: Modo
  /** `traceparent` of the span that creates the guides; undefined if it is not traced. */
  traza?: string | undefined
  key: KeyOfGuides | undefined
}

/** New guide, with the id of its message or of its short link, if any. */
type Nueva = FilaGuia & {
  mensaje_id?: string
  enlace_corto_id?: string
  traza?: string | undefined
  /** Position in its group of the request whose key the guide has; undefined without a key. */
  clave?: number
}

interface Partes {
  db: Db
  /**
   * Database whose sessions have a `lock_timeout`. Used for groups that other merchants may wait for, so that one
   * merchant's lock does not block them.
   */
  dbImpaciente: Db
  log: Log
  secretos: Secrets
  nuevoId: () => { id: string; creado_en: Date }
  /** @param primero first character of the code; random if omitted */
  nuevoCodigo: (primero?: string) => string
  avisarTrabajo: () => void
  /** Passes events that were just committed to the webhook sender. */
  despachar: (recientes: readonly EventoRecien[]) => void
  /** Returns the channel through which recipients are asked for the location, by mode. */
  canalDe: (modo: Modo) => CanalDeMensaje
}

/**
 * Creates the writer of new guides. Concurrent requests, also of different merchants, share one statement per group.
 */
export function createGuideWriter(partes: Partes): GuideWriter {
  const grupos = new Groups<Ambito, DatosDeGuia, VeredictoDeGuia>({
    maximo: GRUPO,
    aLaVez: EN_VUELO,
    juntos: ({ comercioId }) => groupOf(partes.db, comercioId),
    hacer: (pedidos, solo) => insertarOSeparar(partes, pedidos, solo),
    esDeUno: (error) => esDeDatos(error) || esDeCerrojo(error),
  })
  return {
    crear: (comercioId, modo, datos, key) =>
      inSpan('event', { attributes: { 'guias.tipo': 'guia.aceptado' } }, (span) =>
        grupos.request({ clave: `${comercioId}:${modo}`, comercioId, modo, traza: span?.traceparent, key }, datos),
      ),
    async leerRepetidas(comercio_id, modo, datos) {
      const referidas = datos.map(({ external_ref }) => ({ comercio_id, modo, external_ref }))
      const existentes = await leerExistentes(partes.db.como('guias_api', [comercio_id]), referidas)
      return new Set(datos.filter((_unos, i) => existentes.has(claveDe(referidas[i]!))))
    },
  }
}

type Grupo = readonly GroupRequest<Ambito, DatosDeGuia>[]

/**
 * Inserts a group. If a data error fails a group of a single merchant, inserts its guides one by one, so that only the
 * faulty guide fails.
 */
async function insertarOSeparar(partes: Partes, pedidos: Grupo, solo: boolean): Promise<VeredictoDeGuia[]> {
  try {
    return await insertarGrupo(partes, pedidos, solo)
  } catch (error) {
    if (!solo || !esDeDatos(error)) throw error
    const guias = pedidos.flatMap(({ dueno, datos }) => datos.map((uno) => ({ dueno, datos: [uno] })))
    if (guias.length === 1) return [{ problema: translateError(error) }]
    if (pedidos.some(({ dueno }) => dueno.key)) return insertarConClaves(partes, pedidos, error)
    partes.log.warn({ err: error, guias: guias.length }, 'a group of creations failed; writing row by row')
    const veredictos: VeredictoDeGuia[] = []
    for (const una of guias) veredictos.push(...(await insertarOSeparar(partes, [una], true)))
    return veredictos
  }
}

async function insertarGrupo(partes: Partes, pedidos: Grupo, solo: boolean): Promise<VeredictoDeGuia[]> {
  const comercios = [...new Set(pedidos.map(({ dueno }) => dueno.comercioId))]
  const db = (solo ? partes.db : partes.dbImpaciente).como('guias_api', comercios).de(comercios[0]!)
  const codigo = partes.nuevoCodigo.bind(undefined, await letterOf(db))
  const nuevas = pedidos.flatMap(({ dueno, datos }) => datos.map((unos) => nuevaDe(partes, dueno, unos, codigo())))
  const claves = clavesDe(pedidos, nuevas)
  const desde = performance.now()
  const insertadas = await ejecutar(codigo, nuevas, db, claves)
  const webhooksDe = new Map(insertadas.map(({ id, webhooks }) => [id, webhooks]))
  const creadas = nuevas.filter(({ id }) => webhooksDe.has(id))
  const repetidas = nuevas.filter(({ id, clave }) => !webhooksDe.has(id) && clave === undefined)
  if (creadas.some(tieneTareas)) partes.avisarTrabajo()
  const recientes = creadas.flatMap((guia): EventoRecien[] => {
    const webhooks = webhooksDe.get(guia.id)
    return webhooks ? [{ guia, evento: eventoDeCreacion(guia, guia.traza ?? null), webhooks, desde }] : []
  })
  if (recientes.length > 0) partes.despachar(recientes)
  const existentes =
    repetidas.length > 0 ? await leerExistentes(partes.db.como('guias_api', comercios), repetidas) : undefined
  const datos = pedidos.flatMap(({ datos }) => datos)
  if (creadas.length === nuevas.length) return nuevas.map((fila) => ({ fila, repetida: false }))
  return nuevas.map((nueva, i) => {
    if (webhooksDe.has(nueva.id)) return { fila: nueva, repetida: false }
    if (nueva.clave !== undefined) return { problema: keyTaken() }
    return repetir(partes.secretos, existentes!.get(claveDe(nueva)), datos[i]!)
  })
}

/**
 * Makes the problem of a guide whose key another request has. The caller answers with the guide of that request; this
 * problem is sent only if the key was erased meanwhile.
 */
const keyTaken = () =>
  new Problema(
    'idempotencia_en_conflicto',
    'Otra solicitud con esta Idempotency-Key acaba de terminar. Repita la solicitud.',
  )

/** Rows of the keys of a group, built from the guides' codes; undefined if no request has a key. */
type FilasDeClaves = (() => object[]) | undefined

/** Marks the guides that have a key, and returns the function that builds the keys' rows. */
function clavesDe(pedidos: Grupo, nuevas: readonly Nueva[]): FilasDeClaves {
  if (!pedidos.some(({ dueno }) => dueno.key)) return undefined
  const conClave: (() => object)[] = []
  let desde = 0
  for (const [n, { dueno, datos }] of pedidos.entries()) {
    const suyas = nuevas.slice(desde, desde + datos.length)
    desde += datos.length
    const { key } = dueno
    if (!key) continue
    for (const nueva of suyas) nueva.clave = n
    conClave.push(() => {
      const codigos = new Map(datos.map((unos, i) => [unos, suyas[i]!.guia]))
      return { ...key.fila, n, identificador: key.identificador((unos) => codigos.get(unos)) }
    })
  }
  return () => conClave.map((una) => una())
}

/** Error that rolls back a trial. */
class Deshecha extends Error {}

/**
 * Writes the requests of one merchant one by one after `error`. A request with a key is written as a whole, because its
 * key commits with all of its guides. Trials that are rolled back find the guides that fail by themselves.
 */
async function insertarConClaves(partes: Partes, pedidos: Grupo, error: unknown): Promise<VeredictoDeGuia[]> {
  const veredictos: VeredictoDeGuia[] = []
  for (const { dueno, datos } of pedidos) {
    const fallidas = new Map<DatosDeGuia, Problema>()
    for (const unos of datos) {
      const problema = await probar(partes, { ...dueno, key: undefined }, unos)
      if (problema) fallidas.set(unos, problema)
    }
    const buenas = datos.filter((unos) => !fallidas.has(unos))
    if (buenas.length === datos.length && pedidos.length === 1) throw error
    const escritas = buenas.length > 0 ? await insertarOSeparar(partes, [{ dueno, datos: buenas }], true) : []
    veredictos.push(
      ...datos.map((unos) => (fallidas.has(unos) ? { problema: fallidas.get(unos)! } : escritas.shift()!)),
    )
  }
  return veredictos
}

/** Writes a guide and rolls back. Returns the problem of a guide that cannot be written. */
async function probar(partes: Partes, dueno: Ambito, datos: DatosDeGuia): Promise<Problema | undefined> {
  const db = partes.db.como('guias_api', [dueno.comercioId]).de(dueno.comercioId)
  const nueva = nuevaDe(partes, dueno, datos, partes.nuevoCodigo(await letterOf(db)))
  try {
    await inTransaction(db, async (consultar) => {
      await consultar(INSERTAR_CON_TAREAS, { guias: enJson([nueva]) })
      throw new Deshecha()
    })
  } catch (error) {
    if (error instanceof Deshecha) return undefined
    if (esDeDatos(error)) return translateError(error)
    throw error
  }
}

const tieneTareas = ({ mensaje_id, enlace_corto_id }: Nueva) =>
  mensaje_id !== undefined || enlace_corto_id !== undefined

/** Returns a new guide with the id of the message that asks for its location, or of the short link to follow. */
function nuevaDe(
  { secretos, nuevoId, canalDe }: Partes,
  { comercioId, modo, traza }: Ambito,
  datos: DatosDeGuia,
  guia: string,
) {
  const { id, creado_en } = nuevoId()
  const huellas = datos.external_ref === null ? null : huellasDe(datos, secretos)
  const nueva: Nueva = guiaNueva(datos, { comercio_id: comercioId, modo, id, guia, huellas, creado_en })
  if (nueva.ubicacion_estado === 'solicitada') {
    const solicitud = {
      numero: 1,
      canal: canalDe(modo),
      estado: 'pendiente',
      creado_en: creado_en.toISOString(),
    } as const
    nueva.ubicacion_extra = { solicitud }
    nueva.mensaje_id = nuevoId().id
  } else if (nueva.ubicacion_lat === null && esCorto(nueva.maps_url)) nueva.enlace_corto_id = nuevoId().id
  nueva.traza = traza
  return nueva
}

/**
 * Executes the insert statement. If a code is already taken (one in 10^16), nothing was written. New codes are then
 * drawn, up to 5 attempts in total.
 */
async function ejecutar(
  nuevoCodigo: () => string,
  nuevas: readonly Nueva[],
  db: Db,
  claves: FilasDeClaves,
  intento = 1,
): Promise<Insertada[]> {
  try {
    const guias = enJson(nuevas)
    return await (claves
      ? db.consultar(INSERTAR_CON_CLAVES, { guias, claves: JSON.stringify(claves()) })
      : db.consultar(sentenciaPara(nuevas), { guias }))
  } catch (error) {
    if (!DE_CODIGO.includes(constraintOf(error) ?? '') || intento === 5) throw error
    for (const nueva of nuevas) nueva.guia = nuevoCodigo()
    return ejecutar(nuevoCodigo, nuevas, db, claves, intento + 1)
  }
}

function sentenciaPara(nuevas: readonly Nueva[]) {
  const conTareas = nuevas.some(tieneTareas)
  if (nuevas.some(({ traza }) => traza !== undefined))
    return conTareas ? INSERTAR_TRAZADAS_CON_TAREAS : INSERTAR_TRAZADAS
  return conTareas ? INSERTAR_CON_TAREAS : INSERTAR
}

const DE_CODIGO: readonly string[] = ['guia_indice_pkey', 'guia_indice_guia_key']

/**
 * Returns the JSON of new guides for the statement. Nulls become undefined, which JSON omits, so that PostgreSQL does
 * not read nulls for nothing.
 */
const enJson = (nuevas: readonly Nueva[]) => JSON.stringify(nuevas.map(leida))

/**
 * Returns the members of a new guide that the statement reads. A literal gives all results one shape, which costs a third
 * of a loop over {@link NUEVOS}; a missing column does not compile.
 */
const leida = (nueva: Nueva) =>
  ({
    comercio_id: nueva.comercio_id,
    modo: nueva.modo,
    id: nueva.id,
    guia: nueva.guia,
    external_ref: nueva.external_ref ?? undefined,
    huellas: nueva.huellas ?? undefined,
    telefono: nueva.telefono ?? undefined,
    destinatario: nueva.destinatario ?? undefined,
    departamento: nueva.departamento,
    municipio: nueva.municipio,
    direccion: nueva.direccion ?? undefined,
    indicaciones: nueva.indicaciones ?? undefined,
    contenido: nueva.contenido ?? undefined,
    lat: nueva.lat ?? undefined,
    lng: nueva.lng ?? undefined,
    maps_url: nueva.maps_url ?? undefined,
    recogida: nueva.recogida,
    metadatos: nueva.metadatos ?? undefined,
    ubicacion_estado: nueva.ubicacion_estado,
    ubicacion_origen: nueva.ubicacion_origen ?? undefined,
    ubicacion_lat: nueva.ubicacion_lat ?? undefined,
    ubicacion_lng: nueva.ubicacion_lng ?? undefined,
    ubicacion_extra: nueva.ubicacion_extra ?? undefined,
    advertencias: nueva.advertencias,
    creado_en: nueva.creado_en.toISOString(),
    mensaje_id: nueva.mensaje_id,
    enlace_corto_id: nueva.enlace_corto_id,
    traza: nueva.traza,
    clave: nueva.clave,
  }) satisfies Record<(typeof NUEVOS)[number] | 'mensaje_id' | 'enlace_corto_id' | 'traza' | 'clave', unknown>

/** Key by which a merchant identifies a guide. */
type Referida = Pick<FilaGuia, 'comercio_id' | 'modo' | 'external_ref'>

const claveDe = ({ comercio_id, modo, external_ref }: Referida) => `${comercio_id} ${modo} ${external_ref}`

async function leerExistentes(db: Db, repetidas: readonly Referida[]): Promise<Map<string, FilaGuia>> {
  const filas = await askByMerchant(db, repetidas, ({ consultar }, unas) =>
    consultar(EXISTENTES, {
      comercios: unas.map((una) => una.comercio_id),
      modos: unas.map(({ modo }) => modo),
      external_refs: unas.map(({ external_ref }) => external_ref),
    }),
  )
  return new Map(filas.map((fila) => [claveDe(fila), fila]))
}

function repetir(secretos: Secrets, existente: FilaGuia | undefined, datos: DatosDeGuia): VeredictoDeGuia {
  if (!existente) throw new Error('the conflicting guide row no longer exists')
  const errores = diferencias(existente.huellas, datos, secretos)
  if (errores.length === 0) return { fila: warnOfRepetition(existente, datos), repetida: true }
  return {
    problema: new Problema(
      'external_ref_en_conflicto',
      `Ya creó la guía ${existente.guia} con external_ref ${existente.external_ref} y otros datos. Si es otro envío, use otra referencia.`,
      { errores, guia: existente.guia },
    ),
  }
}

const METADATOS_DISTINTOS: AdvertenciaGuardada = { codigo: 'metadatos_distintos', campo: '/metadatos' }
/** Warnings of a guide that ended without a delivery, by its state. The repeated creation ships nothing. */
const ENDED: Partial<Record<Estado, AdvertenciaGuardada>> = {
  cancelado: { codigo: 'ya_cancelada', campo: '/external_ref' },
  devuelto: { codigo: 'ya_devuelta', campo: '/external_ref' },
}

/**
 * Returns an existing guide for the answer to a repeated request. Adds a warning if the guide ended without a delivery,
 * and one if the request has other metadata. The warnings are not stored. Erased metadata cannot be compared, and a request without
 * metadata asks for none.
 */
function warnOfRepetition(existente: FilaGuia, { metadatos }: DatosDeGuia): FilaGuia {
  const ended = ENDED[existente.estado]
  const differ = metadatos !== null && !existente.datos_borrados_en && !sonLosMismos(metadatos, existente.metadatos)
  if (!ended && !differ) return existente
  const more = [...(ended ? [ended] : []), ...(differ ? [METADATOS_DISTINTOS] : [])]
  return { ...existente, advertencias: [...existente.advertencias, ...more] }
}

/**
 * Reports whether a row caused the error: SQLSTATE class 22 (data exception) or 23 (integrity constraint violation). A
 * retry with the same row would fail again.
 */
const esDeDatos = (error: unknown) => /^2[23]/.test(codigoDe(error))

/** Reports whether a statement exceeded `lock_timeout` (SQLSTATE 55P03). */
const esDeCerrojo = (error: unknown) => codigoDe(error) === '55P03'

const codigoDe = (error: unknown) => String((error as { code?: unknown }).code ?? '')

/** Reports whether an admitted link is a short link, whose location is known only after following it. */
const esCorto = (enlace: string | null) => enlace !== null && readMapLink(enlace).tipo === 'corto'
