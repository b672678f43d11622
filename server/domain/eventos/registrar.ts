import type { DeclaredResponse } from '../../api/contract/handler.ts'
import { type Db, statement } from '../../data/db.ts'
import type { Estado, Falla, Motivo, QuienReparte } from '../../generado/contrato/tipos/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { buscarAsignacion } from '../asignaciones/asignacion.ts'
import { conConsecuencias } from '../decisiones/consecuencias.ts'
import type { Deps } from '../deps.ts'
import { exigirCancelable } from '../estados/estados.ts'
import { type AmbitoDeGuias, buscarGuia, datosBorrados, type FilaGuia } from '../guias/guia.ts'
import { contenidoDe, esElMismo, huellaDeContenido } from '../idempotencia/idempotencia.ts'
import {
  darPaso,
  deGuia,
  type EventoSinFoto,
  type FilaEvento,
  IS_NOT_UNDONE,
  type PasoConConsecuencias,
  type PasoDeGuia,
  presentarEvento,
  sinCarrera,
} from './evento.ts'
import { decidirLectura, esTardia, type Lectura, type QuienLee, revisarLectura } from './lectura.ts'

/** Reporter of events about guides: an operator, a courier or a merchant. */
export interface Informante {
  /** Guides that the reporter may name. */
  ambito: AmbitoDeGuias
  /** Code of the reporter: op_…, rep_… or com_… */
  autor: string
  /** Courier who reports, or who receives the parcel from the operator. */
  repartidor?: QuienReparte | undefined
  /**
   * Rejects a report that the reporter may not make about the guide in its present state. Without `estado` the report
   * is a note.
   * @throws Problema 403
   */
  permitir?: (guia: FilaGuia, estado?: Estado) => Promise<void>
}

/** Fields that every report may have. */
export interface Informe {
  /** Time when the reported fact happened; by default the current time. */
  ocurrido_en?: string
  descripcion?: string
  lat?: number
  lng?: number
  /** Idempotency key, which identifies a repeated report. */
  idempotencia?: string
}

/** Columns of the new event that come from the report itself and do not depend on the guide's state. */
export type PasoInformado = Pick<
  PasoDeGuia,
  'ocurrido_en' | 'registrado_en' | 'descripcion' | 'lat' | 'lng' | 'autor' | 'repartidor' | 'idempotencia' | 'huella'
>

/** Guide and event after the event was written. */
type Dado = NonNullable<Awaited<ReturnType<typeof darPaso>>>

/** Result of a report: the guide, the event, and whether the event existed before. */
export type EventoRegistrado<T extends Dado = Dado> = (T & { repetido: false }) | (Dado & { repetido: true })

interface Decision<T> {
  /** Reported state; undefined for a note. */
  estado?: Estado | undefined
  /** Faults that the caller found in the report. The response lists them together with a fault of `ocurrido_en`. */
  fallas?: readonly Falla[]
  /**
   * Decides from the guide's present state which event the report causes, and writes the event. Returns undefined if
   * another transaction changed the guide since it was read.
   */
  dar: (guia: FilaGuia, informado: PasoInformado) => Promise<T | undefined>
  /** Finds the event that the same report caused earlier. For reports that have no key. */
  buscarAnterior?: (guia: FilaGuia) => Promise<EventoSinFoto | undefined>
}

/**
 * Registers a report about a guide exactly once, for every reporter and every API. Reads the guide, decides which event
 * the report causes, and writes the event. Starts again if another transaction changed the guide. A repeated report
 * returns the event of the first one.
 * @throws Problema 404; 409 if the key belongs to another event; 422
 */
export async function registrarUnaVez<T extends Dado>(
  { db, reloj, secretos }: Pick<Deps, 'db' | 'reloj' | 'secretos'>,
  { ambito, autor, repartidor, permitir }: Informante,
  codigo: string,
  informe: Informe,
  { estado, fallas = [], dar, buscarAnterior }: Decision<T>,
): Promise<EventoRegistrado<T>> {
  const dicho = leerOcurrido(informe, reloj(), fallas)
  const contenido = contenidoDe(informe)
  return sinCarrera(async (): Promise<EventoRegistrado<T> | undefined> => {
    const guia = await buscarGuia(db, ambito, codigo)
    const conClave = await buscarPorClave(db, guia, informe)
    const anterior = conClave ?? (await buscarAnterior?.(guia))
    const esRepetido = anterior !== undefined && esElMismo(secretos, anterior.huella, contenido)
    // The reporter of an event may repeat it after the parcel went on. Events of others are not told without custody.
    const esPropio = (esRepetido || conClave !== undefined) && anterior?.autor === autor
    if (!esPropio) await permitir?.(guia, estado)
    if (conClave && !esRepetido) throw claveDeOtro(conClave)
    if (anterior && esRepetido) return { guia, evento: anterior, repetido: true }
    const registrado_en = reloj()
    // The update requires the sequence that was read, which also makes the key unique: of two equal reports with the
    // same sequence, only one can write its event.
    const dado = await dar(guia, {
      // The default time is never before the guide's latest changes, whose times may come from another clock.
      ocurrido_en: dicho ?? masTarde(registrado_en, guia.estado_en, guia.actualizado_en),
      registrado_en,
      descripcion: informe.descripcion ?? null,
      lat: informe.lat ?? null,
      lng: informe.lng ?? null,
      autor,
      repartidor,
      idempotencia: informe.idempotencia ?? null,
      huella: huellaDeContenido(secretos, contenido),
    })
    return dado && { ...dado, repetido: false }
  })
}

const TOMAS = statement<Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'>, { ultima: Date | null }>(
  'eventos.ultimaToma',
  `select max(ocurrido_en) as ultima from evento e where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and custodio is not null and ${IS_NOT_UNDONE}`,
)

/**
 * Returns the time when a courier last took the guide's parcel, as reported. Returns the guide's creation time if no
 * courier has taken the parcel.
 */
async function llevadaEn(db: Pick<Db, 'consultar'>, guia: FilaGuia): Promise<Date> {
  const [tomas] = await db.consultar(TOMAS, deGuia(guia))
  return tomas?.ultima ?? guia.creado_en
}

/** Nulls in place of a late report's text and place, which nothing would ever erase after the guide's personal data. */
const SIN_DATOS = { descripcion: null, lat: null, lng: null }

/**
 * Registers a change of state or a note.
 * @param dar writes the event, together with the proof that belongs to the report
 * @throws Problema 409 `datos_borrados` for a note if the guide's personal data were erased
 */
export const registrarLectura = (
  deps: Pick<Deps, 'db' | 'reloj' | 'secretos' | 'ajustes' | 'nuevoId' | 'canalDe'>,
  quien: Informante & QuienLee,
  codigo: string,
  lectura: Lectura & Informe,
  dar: (guia: FilaGuia, paso: PasoConConsecuencias) => Promise<Dado | undefined>,
): Promise<EventoRegistrado> =>
  registrarUnaVez(deps, quien, codigo, lectura, {
    estado: lectura.estado,
    fallas: revisarLectura(lectura),
    async dar(guia, informado) {
      const { ocurrido_en } = informado
      if (guia.datos_borrados_en && lectura.estado === undefined) throw datosBorrados()
      const esUltima = !esTardia(guia, ocurrido_en) || ocurrido_en > (await llevadaEn(deps.db, guia))
      const decidido = decidirLectura(guia, lectura, ocurrido_en, esUltima, quien)
      const textos = guia.datos_borrados_en ? SIN_DATOS : {}
      const paso = { ...informado, ...textos, ...decidido, ...(await conAsignacion(deps.db, guia, decidido)) }
      return dar(guia, await conConsecuencias(deps, guia, paso, lectura.fecha))
    },
  })

/** Adds who assigned the guide, if the event gives the parcel to the assigned courier. */
async function conAsignacion(
  db: Pick<Db, 'consultar'>,
  guia: FilaGuia,
  { custodio, datos }: Pick<PasoDeGuia, 'custodio' | 'datos'>,
): Promise<Pick<PasoDeGuia, 'datos'>> {
  if (custodio === undefined) return {}
  const asignacion = await buscarAsignacion(db, guia)
  return asignacion?.repartidor === custodio ? { datos: { ...datos, asignado_por: asignacion.autor } } : {}
}

/**
 * Cancels a guide that no courier took. A cancelled guide stays as it is.
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `transicion_invalida` or `carrera_perdida`
 */
export const cancelarGuiaDe = (
  { db, reloj, avisarTrabajo }: Pick<Deps, 'db' | 'reloj' | 'avisarTrabajo'>,
  { ambito, autor }: Pick<Informante, 'ambito' | 'autor'>,
  codigo: string,
  { motivo = null, descripcion = null }: { motivo?: Motivo | null; descripcion?: string | null | undefined },
): Promise<FilaGuia & { comercio: string }> =>
  sinCarrera(async () => {
    const leida = await buscarGuia(db, ambito, codigo)
    if (leida.estado === 'cancelado') return leida
    exigirCancelable(leida.estado)
    const ahora = reloj()
    const paso = await darPaso({ db, avisarTrabajo }, leida, {
      tipo: 'guia.cancelado',
      estado: 'cancelado',
      motivo,
      descripcion,
      autor,
      ocurrido_en: ahora,
      registrado_en: ahora,
    })
    return paso && { ...paso.guia, comercio: leida.comercio }
  })

/** Returns the event of a report of a state or a note, in the contract's form. */
export const presentarLectura = ({ evento }: Pick<EventoRegistrado, 'evento'>) => ({
  ...presentarEvento(evento),
  aplicado: evento.tipo !== 'guia.escaneo_tardio',
})

/** Returns the HTTP response to a report of a state or a note. */
export const contestarLectura = (registro: EventoRegistrado): DeclaredResponse<'registrarEvento'> =>
  contestar(registro, presentarLectura(registro))

/** Returns the HTTP response to a report: 201 for a new event, 200 for an event that existed before. */
export const contestar = <Cuerpo>({ repetido }: EventoRegistrado, body: Cuerpo) =>
  repetido
    ? ({ status: 200, headers: { 'Idempotent-Replayed': 'true' }, body } as const)
    : ({ status: 201, body } as const)

const masTarde = (...instantes: Date[]) => new Date(Math.max(...instantes.map((instante) => instante.getTime())))

/** Maximum time that the reporter's clock may be ahead of the server's clock, in milliseconds. */
const ADELANTO = 5 * 60_000

/**
 * Returns the time when the reported fact happened, or undefined if the report has none.
 * @throws Problema 422 with `fallas`, and with a fault for a time more than 5 minutes in the future
 */
function leerOcurrido({ ocurrido_en }: Informe, ahora: Date, fallas: readonly Falla[]): Date | undefined {
  const dicho = ocurrido_en === undefined ? undefined : readInstant(ocurrido_en)
  const mensaje = 'no puede estar más de 5 minutos en el futuro; revise el reloj del lector'
  const futuro: Falla = { campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }
  const todas = dicho && dicho.getTime() > ahora.getTime() + ADELANTO ? [futuro, ...fallas] : fallas
  if (todas.length > 0) throw problemOfFaults('validacion', todas)
  return dicho
}

const POR_IDEMPOTENCIA = statement<
  Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'> & { idempotencia: string },
  FilaEvento
>(
  'eventos.porIdempotencia',
  `select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and idempotencia = :idempotencia`,
)

/** Returns the event with the report's key, or undefined. */
const buscarPorClave = async (
  db: Pick<Db, 'consultar'>,
  guia: FilaGuia,
  { idempotencia }: Informe,
): Promise<FilaEvento | undefined> =>
  idempotencia === undefined ? undefined : (await db.consultar(POR_IDEMPOTENCIA, { ...deGuia(guia), idempotencia }))[0]

/** Makes the problem for a key that belongs to the event of another report. */
const claveDeOtro = ({ idempotencia, guia, secuencia }: FilaEvento) =>
  new Problema(
    'idempotencia_en_conflicto',
    `La clave ${idempotencia} ya es del evento evt_${guia}_${secuencia}, que es distinto. Use una clave nueva por cada evento.`,
  )
