import type { Estado, Falla, QuienReparte } from '../contrato/generado/tipos/index.ts'
import type { Respuesta } from '../contrato/tipos.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import { Problema, problemaDeFallas } from '../errores.ts'
import { type Ambito, buscarGuia, type FilaGuia } from '../guias/guia.ts'
import { huella, type Secretos } from '../secretos.ts'
import { leerInstante } from '../tiempo/instante.ts'
import {
  type darPaso,
  deGuia,
  type EventoSinFoto,
  type FilaEvento,
  type Paso,
  presentarEvento,
  sinCarrera,
} from './evento.ts'
import { decidirLectura, esTardia, type Lector, type Lectura, revisarLectura } from './lectura.ts'

/** Who reports what happens to guides. */
export interface Informante {
  /** The guides that he may name. */
  ambito: Ambito
  /** The code of whoever reports: op_…, rep_… or com_… */
  autor: string
  /** The courier who reports, or to whom the operator gives the parcel. */
  repartidor?: QuienReparte | undefined
  /**
   * Refuses what isn't his to report of the guide as it is; without a state it is a note.
   * @throws Problema 403
   */
  permitir?: (guia: FilaGuia, estado?: Estado) => void
}

/** What every report may say, whatever it tells. */
export interface Informe {
  /** When it happened; now, if it isn't said. */
  ocurrido_en?: string
  descripcion?: string
  lat?: number
  lng?: number
  /** The key by which the same report is known when it comes again. */
  idempotencia?: string
}

/** The part of a step that the report itself says, whatever the guide's state. */
export type PasoInformado = Pick<
  Paso,
  'ocurrido_en' | 'registrado_en' | 'descripcion' | 'lat' | 'lng' | 'autor' | 'repartidor' | 'idempotencia' | 'huella'
>

/** A guide and the event that a step gave it. */
type Dado = NonNullable<Awaited<ReturnType<typeof darPaso>>>

/** What became of a report: its event, and whether that was there before. */
export type Registro<T extends Dado = Dado> = (T & { repetido: false }) | (Dado & { repetido: true })

interface Decision<T> {
  /** The state that is reported; undefined for a note. */
  estado?: Estado | undefined
  /** Faults that the caller found in the report; those of its instant are told with them. */
  fallas?: readonly Falla[]
  /** Decides and steps from the guide as it is; undefined when somebody else moved it meanwhile. */
  dar: (guia: FilaGuia, informado: PasoInformado) => Promise<T | undefined>
  /** The event that the same report may have given the guide before, for reports that have no key. */
  buscarAnterior?: (guia: FilaGuia) => Promise<EventoSinFoto | undefined>
}

/**
 * Registers a report of a guide, once: whoever reports, through whatever API. It reads the guide, decides and steps, and
 * starts anew when somebody else moved the guide; a report that comes again gets the event of its first time.
 * @throws Problema 404, 409 when the key is another event's, 422
 */
export async function registrarUnaVez<T extends Dado>(
  { db, reloj, secretos }: Pick<Deps, 'db' | 'reloj' | 'secretos'>,
  { ambito, autor, repartidor, permitir }: Informante,
  codigo: string,
  informe: Informe,
  { estado, fallas = [], dar, buscarAnterior }: Decision<T>,
): Promise<Registro<T>> {
  const dicho = leerOcurrido(informe, reloj(), fallas)
  const contenido = contenidoDe(informe)
  return sinCarrera(async (): Promise<Registro<T> | undefined> => {
    const guia = await buscarGuia(db, ambito, codigo)
    const anterior =
      (await buscarPorClave({ db, secretos }, guia, informe, contenido)) ?? (await buscarAnterior?.(guia))
    if (anterior && esElMismo(secretos, anterior, contenido)) return { guia, evento: anterior, repetido: true }
    permitir?.(guia, estado)
    const registrado_en = reloj()
    // The guard on the sequence also makes the key unique: two equal reports can't both step from here.
    const dado = await dar(guia, {
      // Now is never before what the guide has been through, whatever clock that was dated by.
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

const TOMAS = sentencia<Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'>, { ultima: Date | null }>(
  'eventos.ultimaToma',
  `select max(ocurrido_en) as ultima from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and custodio is not null`,
)

/** When a guide's parcel was last taken, by the clock of whoever took it; while nobody did, when the guide began. */
async function llevadaEn(db: Pick<Db, 'consultar'>, guia: FilaGuia): Promise<Date> {
  const [tomas] = await db.consultar(TOMAS, deGuia(guia))
  return tomas?.ultima ?? guia.creado_en
}

/**
 * Registers a change of state or a note.
 * @param dar takes the step, with the proof that goes with it
 */
export const registrarLectura = (
  deps: Pick<Deps, 'db' | 'reloj' | 'secretos'>,
  quien: Informante & Lector,
  codigo: string,
  lectura: Lectura & Informe,
  dar: (guia: FilaGuia, paso: Paso) => Promise<Dado | undefined>,
): Promise<Registro> =>
  registrarUnaVez(deps, quien, codigo, lectura, {
    estado: lectura.estado,
    fallas: revisarLectura(lectura),
    async dar(guia, informado) {
      const { ocurrido_en } = informado
      const esUltima = !esTardia(guia, ocurrido_en) || ocurrido_en > (await llevadaEn(deps.db, guia))
      return dar(guia, { ...informado, ...decidirLectura(guia, lectura, ocurrido_en, esUltima, quien) })
    },
  })

/** The answer to whoever registered a reading. */
export const contestarLectura = (registro: Registro): Respuesta<'registrarEvento'> =>
  contestar(registro, {
    ...presentarEvento(registro.evento),
    aplicado: registro.evento.tipo !== 'guia.escaneo_tardio',
  })

/** The answer to a report: 201 with what was registered now, 200 with what was registered before. */
export const contestar = <Cuerpo>({ repetido }: Registro, body: Cuerpo) =>
  repetido
    ? ({ status: 200, headers: { 'Idempotent-Replayed': 'true' }, body } as const)
    : ({ status: 201, body } as const)

const masTarde = (...instantes: Date[]) => new Date(Math.max(...instantes.map((instante) => instante.getTime())))

/** How far ahead of ours the clock of whoever reports may be, in milliseconds. */
const ADELANTO = 5 * 60_000

/**
 * When a report says that it happened, if it says so.
 * @throws Problema 422 with these faults and that of an instant in the future
 */
function leerOcurrido({ ocurrido_en }: Informe, ahora: Date, fallas: readonly Falla[]): Date | undefined {
  const dicho = ocurrido_en === undefined ? undefined : leerInstante(ocurrido_en)
  const mensaje = 'no puede estar más de 5 minutos en el futuro; revise el reloj del lector'
  const futuro: Falla = { campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }
  const todas = dicho && dicho.getTime() > ahora.getTime() + ADELANTO ? [futuro, ...fallas] : fallas
  if (todas.length > 0) throw problemaDeFallas('validacion', todas)
  return dicho
}

/** The content of a report as one text, whatever the order of its members. */
const contenidoDe = (informe: object): string =>
  JSON.stringify(informe, (_clave, valor) =>
    valor !== null && typeof valor === 'object' && !Array.isArray(valor)
      ? Object.fromEntries(Object.entries(valor).sort(([a], [b]) => (a < b ? -1 : 1)))
      : valor,
  )

/** A report's digest with the name of its key, so that a new master key doesn't make a replay a conflict. */
function huellaDeContenido(secretos: Secretos, contenido: string): string {
  const presente = secretos.presente('huellas')
  return `${presente.kid}:${huella(presente, contenido)}`
}

/** Whether an event was registered by a report that said just that. */
function esElMismo(secretos: Secretos, evento: Pick<EventoSinFoto, 'huella'>, contenido: string): boolean {
  const [kid = '', primera] = evento.huella?.split(':') ?? []
  const subclave = secretos.de('huellas', kid)
  return subclave !== undefined && huella(subclave, contenido) === primera
}

const POR_IDEMPOTENCIA = sentencia<
  Pick<FilaEvento, 'comercio_id' | 'modo' | 'guia_id'> & { idempotencia: string },
  FilaEvento
>(
  'eventos.porIdempotencia',
  `select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and idempotencia = :idempotencia`,
)

/** The event that the report's key names. @throws Problema 409 when it says something else */
async function buscarPorClave(
  { db, secretos }: Pick<Deps, 'db' | 'secretos'>,
  guia: FilaGuia,
  { idempotencia }: Informe,
  contenido: string,
): Promise<EventoSinFoto | undefined> {
  if (idempotencia === undefined) return undefined
  const [evento] = await db.consultar(POR_IDEMPOTENCIA, { ...deGuia(guia), idempotencia })
  if (evento && !esElMismo(secretos, evento, contenido)) {
    throw new Problema(
      'idempotencia_en_conflicto',
      `La clave ${idempotencia} ya es del evento evt_${evento.guia}_${evento.secuencia}, que es distinto. Use una clave nueva por cada evento.`,
    )
  }
  return evento
}
