import { type Dueno, Grupos, type Pedido } from '../cola/grupos.ts'
import type { CanalDeMensaje, Modo } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { anotarDuenos, olvidarDuenos } from '../duenos.ts'
import { Problema, restriccionDe, traducirError } from '../errores.ts'
import { type EventoRecien, eventoDeCreacion, foto, insertarEntregasDeWebhook } from '../eventos/evento.ts'
import type { Log } from '../log.ts'
import { leerEnlace } from '../mapas/enlaces.ts'
import { type DeUno, enCadaMotor, enSuMaquina, porComercio, sinCopiar, suyo } from '../motor.ts'
import { abrirFlujo, lugarEnFlujo } from '../orden.ts'
import type { Secretos } from '../secretos.ts'
import { type DatosDeGuia, diferencias, huellasDe } from './datos.ts'
import { type FilaGuia, venceAlCrear } from './guia.ts'

/** What became of one guide: created, already there with the same content, or refused. */
export type Veredicto = { fila: FilaGuia; repetida: boolean } | { problema: Problema }

/** Creates guides; calls that come at the same time share statements. */
export interface Escritura {
  /** Creates guides; a faulty one doesn't fail its neighbours. The verdicts stand in the order of `datos`. */
  crear(comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]): Promise<Veredicto[]>
  /** Which of them have the reference of a guide that is there already. */
  leerRepetidas(comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]): Promise<ReadonlySet<DatosDeGuia>>
}

/** Guides per statement, and statements under way (measured: more gains nothing). */
const GRUPO = 100
const EN_VUELO = 2

/** The columns of a new guide that the statement is told; the others are the same for all. */
const COLUMNAS = [
  ...['comercio_id', 'modo', 'id', 'guia', 'external_ref', 'huellas', 'telefono', 'destinatario', 'departamento'],
  ...['municipio', 'direccion', 'indicaciones', 'contenido', 'lat', 'lng', 'maps_url', 'recogida', 'ubicacion_estado'],
  ...['ubicacion_origen', 'ubicacion_lat', 'ubicacion_lng', 'ubicacion_extra', 'advertencias', 'creado_en'],
] as const

const mensajesYEnlaces = (citus: boolean) => `, m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select comercio_id, modo, id, 1, x.mensaje_id, x.guia, x.ubicacion_extra #>> '{solicitud,canal}',
       'solicitud_ubicacion', x.telefono, 'pendiente',
       ${venceAlCrear('modo', "x.ubicacion_extra #>> '{solicitud,canal}'", 'x.creado_en')}, x.creado_en
     from ${enSuMaquina(citus, '(g join x using (comercio_id, modo, id))', 'x.mensaje_id is not null')}${sinCopiar(citus)}
   ), c as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select comercio_id, modo, id, x.enlace_corto_id, x.maps_url, x.creado_en
     from ${enSuMaquina(citus, '(g join x using (comercio_id, modo, id))', 'x.enlace_corto_id is not null')}${sinCopiar(citus)}
   )`

/**
 * SQL of one statement for a group: guide, look-up, event and deliveries commit together or not at all, and with `tareas` a
 * message or a short link to follow, too. ON CONFLICT names the reference alone: a collision of codes is an error, never
 * taken for a replay. Rows are inserted in one order, so that two groups that share some wait for each other instead of
 * deadlocking.
 */
const insertar = (tareas: (citus: boolean) => string) =>
  enCadaMotor((citus) => {
    const { antes, columna, valor, de: deG } = lugarEnFlujo(citus, 'g')
    return `with x as materialized (
     select * from json_to_recordset(:guias::json) as x(
       comercio_id uuid, modo text, id uuid, guia text, external_ref text, huellas text, telefono text, destinatario text,
       departamento text, municipio text, direccion text, indicaciones text, contenido text, lat float8, lng float8,
       maps_url text, recogida jsonb, ubicacion_estado text, ubicacion_origen text, ubicacion_lat float8,
       ubicacion_lng float8, ubicacion_extra jsonb, advertencias jsonb, creado_en timestamptz, mensaje_id uuid,
       enlace_corto_id uuid)
   ), g as (
     insert into guia as n (${COLUMNAS.join(', ')}, estado, estado_en, secuencia, actualizado_en)
     select ${COLUMNAS.join(', ')}, 'aceptado', creado_en, 1, creado_en
     from ${enSuMaquina(citus, 'x')} order by comercio_id, modo, external_ref, id
     on conflict (comercio_id, modo, external_ref) do nothing
     returning n.comercio_id, n.modo, n.id, n.guia, n.external_ref, n.creado_en, n.advertencias, n.ubicacion_estado,
       n.ubicacion_origen, n.ubicacion_lat, n.ubicacion_lng, n.ubicacion_extra
   ), i as (
     insert into guia_indice (guia, comercio_id, modo, id) select guia, comercio_id, modo, id from ${enSuMaquina(citus, 'g')}${sinCopiar(citus)}
   ), ${antes}e as (
     insert into evento as n (comercio_id, modo, guia_id, secuencia, guia, external_ref, tipo, estado, foto, ocurrido_en,
       registrado_en${columna})
     select comercio_id, modo, id, 1, guia, external_ref, 'guia.aceptado', 'aceptado', ${foto('g', '0')}, creado_en,
       creado_en${valor} from ${deG}
     returning n.comercio_id, n.modo, n.guia_id, n.secuencia, n.guia, n.tipo, n.registrado_en
   ), d as (${insertarEntregasDeWebhook(citus, 'e')})${tareas(citus)}
   select g.id, d.webhooks from g
   left join (select guia_id, array_agg(webhook) as webhooks from d group by guia_id) d on d.guia_id = g.id`
  })

type DeUnGrupo = DeUno & { guias: string }
const INSERTAR = sentencia<DeUnGrupo, Insertada>(
  'guias.insertar',
  insertar(() => ''),
)
const INSERTAR_CON_TAREAS = sentencia<DeUnGrupo, Insertada>('guias.insertarConTareas', insertar(mensajesYEnlaces))

const EXISTENTES = sentencia<
  DeUno & { comercios: readonly string[]; modos: readonly Modo[]; external_refs: readonly (string | null)[] },
  FilaGuia
>(
  'guias.existentes',
  enCadaMotor(
    (
      citus,
    ) => `select g.* from unnest(:comercios::uuid[], :modos::text[], :external_refs::text[]) x(comercio_id, modo, external_ref)
   join guia g on g.comercio_id = x.comercio_id and g.modo = x.modo and g.external_ref = x.external_ref${suyo(citus, 'g')}`,
  ),
)

interface Insertada {
  id: string
  /** The endpoints that its event goes to. */
  webhooks: string[] | null
}

/** The creations of one merchant and mode. */
interface Ambito extends Dueno {
  comercioId: string
  modo: Modo
}

/** A new guide, and what is to be done for it besides. */
type Nueva = FilaGuia & { mensaje_id?: string; enlace_corto_id?: string }

interface Partes {
  db: Db
  /** The database by sessions that wait for nobody's lock for long: what others wait for goes through it. */
  dbImpaciente: Db
  log: Log
  secretos: Secretos
  nuevoId: () => { id: string; creado_en: Date }
  nuevoCodigo: () => string
  avisarTrabajo: () => void
  /** Gives what was just committed to whoever sends webhooks. */
  despachar: (recientes: readonly EventoRecien[]) => void
  /** The channel by which a recipient is asked for the place, by mode. */
  canalDe: (modo: Modo) => CanalDeMensaje
  /** Merchants whose rows in `flujo` this process has seen to. */
  abiertos: Set<string>
}

/** Creates what writes new guides in groups, of whatever merchants: one statement a group. */
export function crearEscritura(deps: Omit<Partes, 'abiertos'>): Escritura {
  const partes: Partes = { ...deps, abiertos: new Set() }
  const grupos = new Grupos<Ambito, DatosDeGuia, Veredicto>({
    maximo: GRUPO,
    aLaVez: EN_VUELO,
    // One PostgreSQL commits all of them at once; on Citus each merchant's rows have a machine of their own.
    juntos: ({ comercioId }) => (partes.db.motor === 'citus' ? comercioId : ''),
    hacer: (pedidos, solo) => insertarOSeparar(partes, pedidos, solo),
    esDeUno: (error) => esDeDatos(error) || esDeCerrojo(error),
  })
  return {
    crear: (comercioId, modo, datos) => grupos.pedir({ clave: `${comercioId}:${modo}`, comercioId, modo }, datos),
    async leerRepetidas(comercio_id, modo, datos) {
      const referidas = datos.map(({ external_ref }) => ({ comercio_id, modo, external_ref }))
      const existentes = await leerExistentes(partes.db.como('guias_api', [comercio_id]), referidas)
      return new Set(datos.filter((_unos, i) => existentes.has(claveDe(referidas[i]!))))
    },
  }
}

type Grupo = readonly Pedido<Ambito, DatosDeGuia>[]

/** Inserts a group; in one merchant's, each guide goes by itself when a row is at fault, and only that one fails. */
async function insertarOSeparar(partes: Partes, pedidos: Grupo, solo: boolean): Promise<Veredicto[]> {
  try {
    return await insertarGrupo(partes, pedidos, solo)
  } catch (error) {
    if (!solo || !esDeDatos(error)) throw error
    const guias = pedidos.flatMap(({ dueno, datos }) => datos.map((uno) => ({ dueno, datos: [uno] })))
    if (guias.length === 1) return [{ problema: traducirError(error) }]
    partes.log.warn({ err: error, guias: guias.length }, 'a group of creations failed; writing row by row')
    const veredictos: Veredicto[] = []
    for (const una of guias) veredictos.push(...(await insertarOSeparar(partes, [una], true)))
    return veredictos
  }
}

async function insertarGrupo(partes: Partes, pedidos: Grupo, solo: boolean): Promise<Veredicto[]> {
  const nuevas = pedidos.flatMap(({ dueno, datos }) => datos.map((unos) => nuevaDe(partes, dueno, unos)))
  const desde = performance.now()
  const comercios = [...new Set(pedidos.map(({ dueno }) => dueno.comercioId))]
  const db = (solo ? partes.db : partes.dbImpaciente).como('guias_api', comercios)
  const insertadas = await ejecutar(partes, nuevas, db)
  const webhooksDe = new Map(insertadas.map(({ id, webhooks }) => [id, webhooks]))
  const creadas = nuevas.filter(({ id }) => webhooksDe.has(id))
  const repetidas = nuevas.filter(({ id }) => !webhooksDe.has(id))
  await olvidarDuenos(
    partes.db,
    repetidas.map(({ guia }) => guia),
  )
  if (creadas.some(tieneTareas)) partes.avisarTrabajo()
  const recientes = creadas.flatMap((guia): EventoRecien[] => {
    const webhooks = webhooksDe.get(guia.id)
    return webhooks ? [{ guia, evento: eventoDeCreacion(guia), webhooks, desde }] : []
  })
  if (recientes.length > 0) partes.despachar(recientes)
  const existentes =
    repetidas.length > 0 ? await leerExistentes(partes.db.como('guias_api', comercios), repetidas) : undefined
  const datos = pedidos.flatMap(({ datos }) => datos)
  return nuevas.map((nueva, i) =>
    existentes && !webhooksDe.has(nueva.id)
      ? repetir(partes.secretos, existentes.get(claveDe(nueva)), datos[i]!)
      : { fila: nueva, repetida: false },
  )
}

const tieneTareas = ({ mensaje_id, enlace_corto_id }: Nueva) =>
  mensaje_id !== undefined || enlace_corto_id !== undefined

/** A guide as it will be, with the message that asks its recipient for the place, or the link to follow. */
function nuevaDe(
  { secretos, nuevoId, nuevoCodigo, canalDe }: Partes,
  { comercioId, modo }: Ambito,
  datos: DatosDeGuia,
) {
  const { id, creado_en } = nuevoId()
  const nueva: Nueva = {
    ...datos,
    comercio_id: comercioId,
    modo,
    id,
    guia: nuevoCodigo(),
    huellas: datos.external_ref === null ? null : huellasDe(datos, secretos),
    estado: 'aceptado',
    estado_en: creado_en,
    custodio: null,
    datos_borrados_en: null,
    intentos: 0,
    secuencia: 1,
    creado_en,
    actualizado_en: creado_en,
  }
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
  return nueva
}

/**
 * Executes the statement; if a code was already taken (one in 10^16) nothing was written, and codes are drawn again.
 */
async function ejecutar(partes: Partes, nuevas: readonly Nueva[], db: Db, intento = 1): Promise<Insertada[]> {
  const { comercio_id } = nuevas[0]!
  try {
    if (db.motor === 'citus' && !partes.abiertos.has(comercio_id)) {
      await abrirFlujo(db, comercio_id)
      partes.abiertos.add(comercio_id)
    }
    await anotarCodigos(partes, nuevas, db)
    return await db.consultar(nuevas.some(tieneTareas) ? INSERTAR_CON_TAREAS : INSERTAR, {
      guias: enJson(nuevas),
      comercio_id,
    })
  } catch (error) {
    if (!DE_CODIGO.includes(restriccionDe(error) ?? '') || intento === 5) throw error
    for (const nueva of nuevas) nueva.guia = partes.nuevoCodigo()
    return ejecutar(partes, nuevas, db, intento + 1)
  }
}

/** How often a code is drawn that lies on a machine which is there. */
const SORTEOS = 12

/**
 * Says whose the new codes are. Each code lies on a machine of its own: where one of those is away, only the codes that fell to
 * it are drawn again, for it is no reason that this merchant's guides should wait.
 */
async function anotarCodigos(partes: Partes, nuevas: readonly Nueva[], db: Db): Promise<void> {
  try {
    await anotarSusCodigos(db, nuevas)
  } catch (error) {
    if (traducirError(error).codigo !== 'no_disponible') throw error
    await Promise.all(nuevas.map((nueva) => sortearCodigo(partes, nueva, db)))
  }
}

async function sortearCodigo(partes: Partes, nueva: Nueva, db: Db): Promise<void> {
  for (let sorteo = 1; ; sorteo++) {
    nueva.guia = partes.nuevoCodigo()
    try {
      return await anotarSusCodigos(db, [nueva])
    } catch (error) {
      if (traducirError(error).codigo !== 'no_disponible' || sorteo === SORTEOS) throw error
    }
  }
}

const anotarSusCodigos = (db: Db, nuevas: readonly Nueva[]) =>
  anotarDuenos(
    db,
    nuevas[0]!.comercio_id,
    nuevas.map(({ guia }) => guia),
  )

const DE_CODIGO: readonly string[] = ['guia_indice_pkey', 'dueno_pkey']

const LEIDAS = [...COLUMNAS, 'mensaje_id', 'enlace_corto_id'] as const

/** What the statement reads of new guides, as JSON without nulls, which PostgreSQL would read for nothing. */
const enJson = (nuevas: readonly Nueva[]) =>
  JSON.stringify(
    nuevas.map((nueva) => {
      const leida: Record<string, unknown> = {}
      for (const columna of LEIDAS) {
        const valor = nueva[columna]
        if (valor !== null && valor !== undefined) leida[columna] = valor
      }
      return leida
    }),
  )

/** By what a merchant's guide is known to him. */
type Referida = Pick<FilaGuia, 'comercio_id' | 'modo' | 'external_ref'>

const claveDe = ({ comercio_id, modo, external_ref }: Referida) => `${comercio_id} ${modo} ${external_ref}`

async function leerExistentes(
  { consultar, motor }: Db,
  repetidas: readonly Referida[],
): Promise<Map<string, FilaGuia>> {
  const filas = await porComercio(motor, repetidas, (unas, comercio_id) =>
    consultar(EXISTENTES, {
      comercio_id,
      comercios: unas.map((una) => una.comercio_id),
      modos: unas.map(({ modo }) => modo),
      external_refs: unas.map(({ external_ref }) => external_ref),
    }),
  )
  return new Map(filas.map((fila) => [claveDe(fila), fila]))
}

function repetir(secretos: Secretos, existente: FilaGuia | undefined, datos: DatosDeGuia): Veredicto {
  if (!existente) throw new Error('a conflicting row vanished')
  const errores = diferencias(existente.huellas, datos, secretos)
  if (errores.length === 0) return { fila: existente, repetida: true }
  return {
    problema: new Problema(
      'external_ref_en_conflicto',
      `Ya creó la guía ${existente.guia} con external_ref ${existente.external_ref} y otros datos. Si es otro envío, use otra referencia.`,
      { errores, guia: existente.guia },
    ),
  }
}

/** Whether an error is the fault of a row: SQLSTATE classes 22 (data) and 23 (constraint), no reason to try again with it. */
const esDeDatos = (error: unknown) => /^2[23]/.test(codigoDe(error))

/** Whether a statement waited too long for somebody's lock: SQLSTATE 55P03, of `lock_timeout`. */
const esDeCerrojo = (error: unknown) => codigoDe(error) === '55P03'

const codigoDe = (error: unknown) => String((error as { code?: unknown }).code ?? '')

/** Whether a link (admitted already) names its place only to whoever follows it. */
const esCorto = (enlace: string | null) => enlace !== null && leerEnlace(enlace).tipo === 'corto'
