import type { DeclaredResponse } from '../../api/contract/handler.ts'
import { type Db, statement } from '../../data/db.ts'
import type { Estado, Falla, Motivo, QuienReparte } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { type AsignacionRow, findAsignacion } from '../asignaciones/asignacion.ts'
import { withConsequences } from '../decisiones/consequences.ts'
import type { Deps } from '../deps.ts'
import { mayChangeCustodio } from '../estados/custodia.ts'
import { requireCancellable } from '../estados/estados.ts'
import {
  type EventoRow,
  type EventoWithoutFoto,
  type GuiaStep,
  IS_NOT_UNDONE,
  presentEvento,
  retryLostRaces,
  type StepWithConsequences,
  takeStep,
} from '../eventos/evento.ts'
import { contentDigest, isSameContent, requestContent } from '../idempotencia/idempotencia.ts'
import { readRepartidorNames } from '../identities/repartidor.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { dataErasedProblem, findGuia, type GuiaScope } from '../records/guiaLookup.ts'
import { checkScan, decideScan, isLate, type Scan, type ScanReporter } from './reading.ts'

/** Reporter of events about guides: an operator, a courier or a merchant. */
export interface Reporter {
  /** Guides that the reporter may name. */
  ambito: GuiaScope
  /** Code of the reporter: op_…, rep_… or com_… */
  autor: string
  /** Courier who reports, or who receives the parcel from the operator. */
  repartidor?: QuienReparte | undefined
  /**
   * Rejects a report that the reporter may not make about the guide in its present state. Without `estado` the report
   * is a note.
   * @throws Problema 403
   */
  authorize?: (guia: GuiaRow, estado?: Estado) => Promise<void>
}

/** Fields that every report may have. */
export interface Report {
  /** Time when the reported fact happened; by default the current time. */
  ocurrido_en?: string
  descripcion?: string
  lat?: number
  lng?: number
  /** Idempotency key, which identifies a repeated report. */
  idempotencia?: string
}

/** Columns of the new event that come from the report itself and do not depend on the guide's state. */
export type ReportedStep = Pick<
  GuiaStep,
  'ocurrido_en' | 'registrado_en' | 'descripcion' | 'lat' | 'lng' | 'autor' | 'repartidor' | 'idempotencia' | 'huella'
>

/** Guide and event after the event was written. */
type TakenStep = NonNullable<Awaited<ReturnType<typeof takeStep>>>

/** Result of a report: the guide, the event, and whether the event existed before. */
export type EventoRegistrado<T extends TakenStep = TakenStep> =
  | (T & { repetido: false })
  | (TakenStep & { repetido: true })

interface Decision<T> {
  /** Reported state; undefined for a note. */
  estado?: Estado | undefined
  /** Faults that the caller found in the report. The response lists them together with a fault of `ocurrido_en`. */
  fallas?: readonly Falla[]
  /**
   * Decides from the guide's present state which event the report causes, and writes the event. Returns undefined if
   * another transaction changed the guide since it was read.
   */
  record: (guia: GuiaRow, reportedStep: ReportedStep) => Promise<T | undefined>
  /** Finds the event that the same report caused earlier. For reports that have no key. */
  findPrevious?: (guia: GuiaRow) => Promise<EventoWithoutFoto | undefined>
}

/**
 * Registers a report about a guide exactly once, for every reporter and every API. Reads the guide, decides which event
 * the report causes, and writes the event. Starts again if another transaction changed the guide. A repeated report
 * returns the event of the first one.
 * @throws Problema 404; 409 if the key belongs to another event; 422
 */
export async function registerOnce<T extends TakenStep>(
  { db, clock, secretos }: Pick<Deps, 'db' | 'clock' | 'secretos'>,
  { ambito, autor, repartidor, authorize }: Reporter,
  code: string,
  report: Report,
  { estado, fallas = [], record, findPrevious }: Decision<T>,
): Promise<EventoRegistrado<T>> {
  const reportedAt = readReportedAt(report, clock(), fallas)
  const content = requestContent(report)
  return retryLostRaces(async (): Promise<EventoRegistrado<T> | undefined> => {
    const guia = await findGuia(db, ambito, code)
    const withKey = await findByKey(db, guia, report)
    const previous = withKey ?? (await findPrevious?.(guia))
    const isRepeated = previous !== undefined && isSameContent(secretos, previous.huella, content)
    // The reporter of an event may repeat it after the parcel went on. Events of others are not told without custody.
    const isOwn = (isRepeated || withKey !== undefined) && previous?.autor === autor
    if (!isOwn) await authorize?.(guia, estado)
    if (withKey && !isRepeated) throw takenKeyProblem(withKey)
    if (previous && isRepeated) return { guia, evento: previous, repetido: true }
    const registrado_en = clock()
    // The update requires the sequence that was read, which also makes the key unique: of two equal reports with the
    // same sequence, only one can write its event.
    const takenStep = await record(guia, {
      // The default time is never before the guide's latest changes, whose times may come from another clock.
      ocurrido_en: reportedAt ?? latestOf(registrado_en, guia.estado_en, guia.actualizado_en),
      registrado_en,
      descripcion: report.descripcion ?? null,
      lat: report.lat ?? null,
      lng: report.lng ?? null,
      autor,
      repartidor,
      idempotencia: report.idempotencia ?? null,
      huella: contentDigest(secretos, content),
    })
    return takenStep && { ...takenStep, repetido: false }
  })
}

const TOMAS = statement<Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id'>, { ultima: Date | null }>(
  'eventos.tomas',
  'merchant',
  `select max(ocurrido_en) as ultima from evento e where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and custodio is not null and ${IS_NOT_UNDONE}`,
)

/**
 * Returns the time when a courier last took the guide's parcel, as reported. Returns the guide's creation time if no
 * courier has taken the parcel.
 */
async function readLastTakenAt(db: Pick<Db, 'query'>, guia: GuiaRow): Promise<Date> {
  const [tomas] = await db.query(TOMAS, guiaKeyOf(guia))
  return tomas?.ultima ?? guia.creado_en
}

/** Nulls in place of a late report's text and place, which nothing would ever erase after the guide's personal data. */
const ERASED_DETAILS = { descripcion: null, lat: null, lng: null }

/**
 * Registers a change of state or a note.
 * @param record writes the event, together with the proof that belongs to the report
 * @throws Problema 409 `datos_borrados` for a note if the guide's personal data were erased
 */
export const registerScan = (
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'settings' | 'newId' | 'channelOf'>,
  caller: Reporter & ScanReporter,
  code: string,
  reading: Scan & Report,
  record: (guia: GuiaRow, step: StepWithConsequences) => Promise<TakenStep | undefined>,
): Promise<EventoRegistrado> =>
  registerOnce(deps, caller, code, reading, {
    estado: reading.estado,
    fallas: checkScan(reading),
    async record(guia, reportedStep) {
      const { ocurrido_en } = reportedStep
      if (guia.datos_borrados_en && reading.estado === undefined) throw dataErasedProblem()
      const { estado } = reading
      const isLatest =
        !(isLate(guia, ocurrido_en) || estado === guia.estado) || ocurrido_en > (await readLastTakenAt(deps.db, guia))
      const asignacion =
        caller.taker !== undefined && estado !== undefined && mayChangeCustodio(guia, estado)
          ? await findAsignacion(deps.db, guia)
          : undefined
      const scanReporter = { ...caller, assignedTo: asignacion?.repartidor }
      const decided = decideScan(guia, reading, ocurrido_en, isLatest, scanReporter)
      const erasedDetails = guia.datos_borrados_en ? ERASED_DETAILS : {}
      const datos = await withCustodyDetails(deps.db, guia, decided, asignacion)
      const step = { ...reportedStep, ...erasedDetails, ...decided, datos }
      return record(guia, await withConsequences(deps, guia, step, reading.fecha))
    },
  })

/** Adds who assigned the guide to the courier who takes the parcel, and the courier who hands it over. */
async function withCustodyDetails(
  db: Db,
  guia: GuiaRow,
  { tipo, custodio, datos }: Pick<GuiaStep, 'tipo' | 'custodio' | 'datos'>,
  asignacion: Pick<AsignacionRow, 'repartidor' | 'autor'> | undefined,
): Promise<GuiaStep['datos']> {
  if (custodio === undefined || asignacion?.repartidor !== custodio) return datos ?? null
  const withAuthor = { ...datos, asignado_por: asignacion.autor }
  if (tipo !== 'guia.traspasada') return withAuthor
  const traspasado_por = (await readRepartidorNames(db, [guia.custodio!])).get(guia.custodio!)!
  return { ...withAuthor, traspasado_por }
}

/**
 * Cancels a guide that no courier took. A cancelled guide stays as it is.
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `transicion_invalida` or `carrera_perdida`
 */
export const cancelGuiaFor = (
  { db, clock, notifyJobs }: Pick<Deps, 'db' | 'clock' | 'notifyJobs'>,
  { ambito, autor }: Pick<Reporter, 'ambito' | 'autor'>,
  code: string,
  { motivo = null, descripcion = null }: { motivo?: Motivo | null; descripcion?: string | null | undefined },
): Promise<GuiaRow & { comercio: string }> =>
  retryLostRaces(async () => {
    const guiaRow = await findGuia(db, ambito, code)
    if (guiaRow.estado === 'cancelado') return guiaRow
    requireCancellable(guiaRow.estado)
    const now = clock()
    const step = await takeStep({ db, notifyJobs }, guiaRow, {
      tipo: 'guia.cancelado',
      estado: 'cancelado',
      motivo,
      descripcion,
      autor,
      ocurrido_en: now,
      registrado_en: now,
    })
    return step && { ...step.guia, comercio: guiaRow.comercio }
  })

/** Returns the event of a report of a state or a note, in the contract's form. */
export const presentScan = ({ evento }: Pick<EventoRegistrado, 'evento'>) => ({
  ...presentEvento(evento),
  aplicado: evento.tipo !== 'guia.escaneo_tardio',
})

/** Returns the HTTP response to a report of a state or a note. */
export const answerScan = (registered: EventoRegistrado): DeclaredResponse<'registrarEvento'> =>
  answerReport(registered, presentScan(registered))

/** Returns the HTTP response to a report: 201 for a new event, 200 for an event that existed before. */
export const answerReport = <Body>({ repetido }: EventoRegistrado, body: Body) =>
  repetido
    ? ({ status: 200, headers: { 'Idempotent-Replayed': 'true' }, body } as const)
    : ({ status: 201, body } as const)

const latestOf = (...instants: Date[]) => new Date(Math.max(...instants.map((instant) => instant.getTime())))

/** Maximum time that the reporter's clock may be ahead of the server's clock, in milliseconds. */
const MAX_CLOCK_LEAD_MS = 5 * MINUTE_MS

/**
 * Returns the time when the reported fact happened, or undefined if the report has none.
 * @throws Problema 422 with `faults`, and with a fault for a time more than 5 minutes in the future
 */
function readReportedAt({ ocurrido_en }: Report, now: Date, faults: readonly Falla[]): Date | undefined {
  const reportedAt = ocurrido_en === undefined ? undefined : readInstant(ocurrido_en)
  const mensaje = 'no puede estar más de 5 minutos en el futuro; revise el reloj del lector'
  const futureFault: Falla = { campo: '/ocurrido_en', codigo: 'fuera_de_rango', mensaje }
  const todas =
    reportedAt && reportedAt.getTime() > now.getTime() + MAX_CLOCK_LEAD_MS ? [futureFault, ...faults] : faults
  if (todas.length > 0) throw problemOfFaults('validacion', todas)
  return reportedAt
}

const BY_IDEMPOTENCIA = statement<
  Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id'> & { idempotencia: string },
  EventoRow
>(
  'eventos.byIdempotencia',
  'merchant',
  `select * from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and idempotencia = :idempotencia`,
)

/** Returns the event with the report's key, or undefined. */
const findByKey = async (
  db: Pick<Db, 'query'>,
  guia: GuiaRow,
  { idempotencia }: Report,
): Promise<EventoRow | undefined> =>
  idempotencia === undefined ? undefined : (await db.query(BY_IDEMPOTENCIA, { ...guiaKeyOf(guia), idempotencia }))[0]

/** Makes the problem for a key that belongs to the event of another report. */
const takenKeyProblem = ({ idempotencia, guia, secuencia }: EventoRow) =>
  new Problema(
    'idempotencia_en_conflicto',
    `La clave ${idempotencia} ya es del evento evt_${guia}_${secuencia}, que es distinto. Use una clave nueva por cada evento.`,
  )
