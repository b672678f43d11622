import type { CanalDeMensaje, Modo } from '../contrato/generado/tipos/index.ts'
import { type Db, sentencia } from '../db.ts'
import { Problema, traducirError } from '../errores.ts'
import { type EventoRecien, eventoDeCreacion, foto, insertarEntregasDeWebhook } from '../eventos/evento.ts'
import type { Log } from '../log.ts'
import { leerEnlace } from '../mapas/enlaces.ts'
import type { Secretos } from '../secretos.ts'
import { type DatosDeGuia, diferencias, huellasDe } from './datos.ts'
import type { FilaGuia } from './guia.ts'

/** What became of one guide: created, already there with the same content, or refused. */
export type Veredicto = { fila: FilaGuia; repetida: boolean } | { problema: Problema }

/** Creates guides; calls that come at the same time share statements. */
export interface Escritura {
  /** Creates one guide. Concurrent calls of one merchant and mode share a statement. */
  crear(comercioId: string, modo: Modo, datos: DatosDeGuia): Promise<Veredicto>
  /**
   * Creates many in one statement; a faulty one doesn't fail its neighbours. The verdicts stand in the order of
   * `datos`.
   */
  crearVarias(comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]): Promise<Veredicto[]>
}

/** Guides per statement, and statements under way per merchant and mode (measured: more gains nothing). */
const GRUPO = 100
const EN_VUELO = 2

/**
 * One statement a group: guide, look-up, event, deliveries and message commit together or not at all. ON CONFLICT names the reference
 * alone: a collision of codes is an error, never taken for a replay. Rows are inserted in the order of their references,
 * so that two groups that share some wait for each other instead of deadlocking.
 */
const INSERTAR = sentencia<{ guias: string; comercio_id: string; modo: Modo }, Insertada>(
  'guias.insertar',
  `with x as materialized (
     select * from json_to_recordset(:guias::json) as x(
       id uuid, guia text, external_ref text, huellas jsonb, telefono text, destinatario text, departamento text,
       municipio text, direccion text, indicaciones text, contenido text, lat float8, lng float8, maps_url text,
       recogida jsonb, ubicacion_estado text, ubicacion_origen text, ubicacion_lat float8, ubicacion_lng float8,
       ubicacion_extra jsonb, advertencias jsonb, creado_en timestamptz, mensaje_id uuid, enlace_corto_id uuid)
   ), g as (
     insert into guia (comercio_id, modo, id, guia, external_ref, huellas, estado, estado_en, telefono, destinatario,
       departamento, municipio, direccion, indicaciones, contenido, lat, lng, maps_url, recogida, ubicacion_estado,
       ubicacion_origen, ubicacion_lat, ubicacion_lng, ubicacion_extra, advertencias, secuencia, creado_en, actualizado_en)
     select :comercio_id, :modo, id, guia, external_ref, huellas, 'aceptado', creado_en, telefono, destinatario,
       departamento, municipio, direccion, indicaciones, contenido, lat, lng, maps_url, recogida, ubicacion_estado,
       ubicacion_origen, ubicacion_lat, ubicacion_lng, ubicacion_extra, advertencias, 1, creado_en, creado_en
     from x order by external_ref, id
     on conflict (comercio_id, modo, external_ref) do nothing
     returning id
   ), i as (
     insert into guia_indice (guia, comercio_id, modo, id)
     select x.guia, :comercio_id, :modo, x.id from g join x using (id)
   ), e as (
     insert into evento (comercio_id, modo, guia_id, secuencia, guia, tipo, estado, foto, ocurrido_en, registrado_en)
     select :comercio_id, :modo, x.id, 1, x.guia, 'guia.aceptado', 'aceptado', ${foto('x', '0')}, x.creado_en,
       x.creado_en
     from g join x using (id)
     returning *
   ), d as (${insertarEntregasDeWebhook('e')}), m as (
     insert into mensaje (comercio_id, modo, guia_id, numero, id, guia, canal, tipo, telefono, estado, proximo_en, creado_en)
     select :comercio_id, :modo, x.id, 1, x.mensaje_id, x.guia, x.ubicacion_extra #>> '{solicitud,canal}',
       'solicitud_ubicacion', x.telefono, 'pendiente', x.creado_en, x.creado_en
     from g join x using (id) where x.mensaje_id is not null
   ), c as (
     insert into enlace_corto (comercio_id, modo, guia_id, id, maps_url, proximo_en)
     select :comercio_id, :modo, x.id, x.enlace_corto_id, x.maps_url, x.creado_en from g join x using (id)
     where x.enlace_corto_id is not null
   )
   select g.id, d.webhooks from g
   left join (select guia_id, array_agg(webhook) as webhooks from d group by guia_id) d on d.guia_id = g.id`,
)

const EXISTENTES = sentencia<{ comercio_id: string; modo: Modo; external_refs: readonly (string | null)[] }, FilaGuia>(
  'guias.existentes',
  `select * from guia where comercio_id = :comercio_id and modo = :modo and external_ref = any(:external_refs::text[])`,
)

/**
 * What one request asks for. It is never split over two statements, so that within a batch the lower index goes first.
 */
interface Pedido {
  datos: readonly DatosDeGuia[]
  resolver: (veredictos: Veredicto[]) => void
  rechazar: (error: unknown) => void
}

interface Insertada {
  id: string
  /** The endpoints that its event goes to. */
  webhooks: string[] | null
}

/** The creations of one merchant and mode. */
interface Cola {
  comercioId: string
  modo: Modo
  espera: Pedido[]
  enVuelo: number
  programada: boolean
}

interface Partes {
  db: Db
  log: Log
  secretos: Secretos
  nuevoId: () => { id: string; creado_en: Date }
  nuevoCodigo: () => string
  avisarTrabajo: () => void
  /** Gives what was just committed to whoever sends webhooks. */
  despachar: (recientes: readonly EventoRecien[]) => void
  /** The channel by which a recipient is asked for the place, by mode. */
  canalDe: (modo: Modo) => CanalDeMensaje
}

/** Creates what writes new guides in groups, one statement a group. */
export function crearEscritura(partes: Partes): Escritura {
  const { db, log, secretos, nuevoId, nuevoCodigo, avisarTrabajo, despachar, canalDe } = partes
  const colas = new Map<string, Cola>()

  const pedir = (comercioId: string, modo: Modo, datos: readonly DatosDeGuia[]) =>
    new Promise<Veredicto[]>((resolver, rechazar) => {
      const clave = `${comercioId}:${modo}`
      const cola = colas.get(clave) ?? { comercioId, modo, espera: [], enVuelo: 0, programada: false }
      colas.set(clave, cola)
      cola.espera.push({ datos, resolver, rechazar })
      if (cola.programada) return
      // No timer: whatever else arrives in this turn of the loop goes along, and a lone request waits for nobody.
      cola.programada = true
      setImmediate(() => {
        cola.programada = false
        escribirGrupos(clave, cola)
      })
    })

  const escribirGrupos = (clave: string, cola: Cola) => {
    while (cola.espera.length > 0 && cola.enVuelo < EN_VUELO) {
      const grupo = tomarGrupo(cola.espera)
      cola.enVuelo++
      escribir(cola, grupo).finally(() => {
        cola.enVuelo--
        escribirGrupos(clave, cola)
        if (cola.enVuelo === 0 && cola.espera.length === 0) colas.delete(clave)
      })
    }
  }

  const escribir = async (cola: Cola, grupo: readonly Pedido[]): Promise<void> => {
    try {
      const veredictos = await insertarOSeparar(
        cola,
        grupo.flatMap(({ datos }) => datos),
      )
      for (const { datos, resolver } of grupo) resolver(veredictos.splice(0, datos.length))
    } catch (error) {
      for (const { rechazar } of grupo) rechazar(error)
    }
  }

  /** Inserts a group; when a row is at fault nothing was written, so each goes by itself and only that one fails. */
  const insertarOSeparar = async (cola: Cola, datos: readonly DatosDeGuia[]): Promise<Veredicto[]> => {
    try {
      return await insertar(cola, datos)
    } catch (error) {
      if (!esDeDatos(error)) throw error
      if (datos.length === 1) return [{ problema: traducirError(error) }]
      log.warn({ err: error, guias: datos.length }, 'a group of creations failed; writing row by row')
      const veredictos: Veredicto[] = []
      for (const uno of datos) veredictos.push(...(await insertarOSeparar(cola, [uno])))
      return veredictos
    }
  }

  const insertar = async ({ comercioId, modo }: Cola, varios: readonly DatosDeGuia[]): Promise<Veredicto[]> => {
    const nuevas = varios.map((datos): FilaGuia => {
      const { id, creado_en } = nuevoId()
      return {
        ...datos,
        comercio_id: comercioId,
        modo,
        id,
        guia: nuevoCodigo(),
        huellas: datos.external_ref === null ? null : huellasDe(datos, secretos),
        estado: 'aceptado',
        estado_en: creado_en,
        intentos: 0,
        secuencia: 1,
        creado_en,
        actualizado_en: creado_en,
      }
    })
    const conTrabajo = nuevas.map((nueva) => {
      if (nueva.ubicacion_estado === 'solicitada') {
        const creado_en = nueva.creado_en.toISOString()
        nueva.ubicacion_extra = { solicitud: { numero: 1, canal: canalDe(modo), estado: 'pendiente', creado_en } }
        return { ...nueva, mensaje_id: nuevoId().id }
      }
      const corto = nueva.ubicacion_lat === null && esCorto(nueva.maps_url)
      return corto ? { ...nueva, enlace_corto_id: nuevoId().id } : nueva
    })
    const insertadas = await ejecutar(conTrabajo, comercioId, modo)
    const creadas = new Set(insertadas.map(({ id }) => id))
    const hayTrabajo = conTrabajo.some(
      (nueva) => ('mensaje_id' in nueva || 'enlace_corto_id' in nueva) && creadas.has(nueva.id),
    )
    if (hayTrabajo) avisarTrabajo()
    despacharCreadas(nuevas, insertadas)
    const repetidas = nuevas.filter(({ id }) => !creadas.has(id)).map(({ external_ref }) => external_ref)
    const existentes = new Map(
      repetidas.length === 0
        ? []
        : (await db.consultar(EXISTENTES, { comercio_id: comercioId, modo, external_refs: repetidas })).map((fila) => [
            fila.external_ref,
            fila,
          ]),
    )
    return nuevas.map((nueva, i) =>
      creadas.has(nueva.id)
        ? { fila: nueva, repetida: false }
        : repetir(existentes.get(nueva.external_ref), varios[i]!),
    )
  }

  const despacharCreadas = (nuevas: readonly FilaGuia[], insertadas: readonly Insertada[]) => {
    const webhooksDe = new Map(insertadas.map(({ id, webhooks }) => [id, webhooks]))
    const recientes = nuevas.flatMap((guia): EventoRecien[] => {
      const webhooks = webhooksDe.get(guia.id)
      return webhooks ? [{ guia, evento: eventoDeCreacion(guia), webhooks }] : []
    })
    if (recientes.length > 0) despachar(recientes)
  }

  /**
   * Executes the statement; if a code was already taken (one in 10^16) nothing was written, and codes are drawn again.
   */
  const ejecutar = async (filas: FilaGuia[], comercioId: string, modo: Modo, intento = 1): Promise<Insertada[]> => {
    try {
      return await db.consultar(INSERTAR, { guias: JSON.stringify(filas), comercio_id: comercioId, modo })
    } catch (error) {
      if ((error as { constraint?: string }).constraint !== 'guia_indice_pkey' || intento === 5) throw error
      for (const fila of filas) fila.guia = nuevoCodigo()
      return ejecutar(filas, comercioId, modo, intento + 1)
    }
  }

  const repetir = (existente: FilaGuia | undefined, datos: DatosDeGuia): Veredicto => {
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

  return {
    async crear(comercioId, modo, datos) {
      const [veredicto] = await pedir(comercioId, modo, [datos])
      return veredicto!
    },
    crearVarias: pedir,
  }
}

/** The next requests that fit in one statement, at least one. */
function tomarGrupo(espera: Pedido[]): Pedido[] {
  let guias = 0
  const caben = espera.findIndex(({ datos }, i) => {
    guias += datos.length
    return guias > GRUPO && i > 0
  })
  return espera.splice(0, caben === -1 ? espera.length : caben)
}

/**
 * Whether an error is the fault of a row: SQLSTATE classes 22 (data) and 23 (constraint), no reason to try again with
 * it.
 */
const esDeDatos = (error: unknown) => /^2[23]/.test(String((error as { code?: unknown }).code ?? ''))

/** Whether a link (admitted already) names its place only to whoever follows it. */
const esCorto = (enlace: string | null) => enlace !== null && leerEnlace(enlace).tipo === 'corto'
