import { type Db, statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import type { Decision, Dia, Motivo } from '../../generated/contract/types/index.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import { dayIn, isDay } from '../../platform/time/day.ts'
import { FAR_KM } from '../catalogo/catalogo.ts'
import { timeZoneOf } from '../catalogo/timeZone.ts'
import { correctLockedGuia } from '../correcciones/correccion.ts'
import { ASKED_OTHER_DAY, daysOf, isTaken, offeredDaysOf } from '../estados/decision.ts'
import { retryLostRaces, takeStep } from '../eventos/evento.ts'
import { judgeDestino } from '../records/advertencias.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { IS_LIVE_LINK } from '../records/locationRequest.ts'
import { type LockedGuia, type LockedGuiaWriter, withLockedGuia } from '../records/lockedGuia.ts'
import {
  isSamePlace,
  linkToFollow,
  type PlaceFault,
  type PlaceProposal,
  type ProposedPlace,
  placeStep,
  proposeUbicacion,
  type ShownParcel,
  shownParcel,
} from '../ubicacion/ubicacion.ts'
import { type Neighbour, neighbourOf, withNeighbour, withoutNeighbour } from './neighbour.ts'
import { type DecisionDeps, retryLockedGuia, returnLockedGuia } from './retryOrReturn.ts'

/** Kind of request that a recipient can make on the page. */
export type RecipientChoice = 'otro_dia' | 'otro_lugar' | 'vecino' | 'rechazo'

/** Answer of a recipient. Without a day it means the first possible day. */
export type RecipientAnswer =
  | { eleccion: 'otro_dia'; fecha: Dia | undefined }
  | { eleccion: 'otro_lugar'; fecha: Dia | undefined; lugar: ProposedPlace }
  | { eleccion: 'vecino'; fecha: Dia | undefined; vecino: Neighbour }
  | { eleccion: 'rechazo' }

/** Data of a decision that are shown to any client with the recipient's link. */
export interface DecisionData extends ShownParcel {
  /**
   * `abierta`: the recipient may decide. `decidida`: a decision was taken. `superada`: an event made the decision
   * needless. `vencida`: the deadline passed without a decision. `detenida`: the parcel is lost, and no decision is
   * possible until it is found.
   */
  estado: 'abierta' | 'decidida' | 'superada' | 'vencida' | 'detenida'
  /** Reason why the delivery failed; null if unknown. */
  motivo: Motivo | null
  /** Instant until which the recipient may decide, as a text for people. */
  vence_en: string
  /** True if the parcel automatically returns to the sender at that instant. */
  returns: boolean
  /** IANA time zone of the destination. */
  zona: string
  /** Days that the recipient may choose for another attempt, at least one; null if no attempt is left. */
  dias: readonly Dia[] | null
  /** Decision that was taken; null if none was. */
  decided: (Pick<Decision, 'accion' | 'por'> & { eleccion: RecipientChoice | null }) | null
  /**
   * Number of the decision, if the recipient may still replace it: it is the recipient's own, and not carried out yet.
   * Null if not.
   */
  replaceable: number | null
  /** Neighbour that the recipient named in the decision; null for any other decision. */
  vecino: string | null
}

/** Result of a recipient's answer. */
export type DecisionResult =
  | { ok: true }
  | { ok: false; motivo: 'desconocida' | 'cerrada' | 'no_admitida' | 'fecha_invalida' }
  | { ok: false; motivo: 'lejos'; distancia_km: number }
  | ({ ok: false } & PlaceFault)

/** Operations of the page where the recipient decides. The link's token alone identifies the guide. */
export interface Decisiones {
  /** Reads the decision without changing anything, because messengers open the page to make previews. */
  read(token: string): Promise<DecisionData | undefined>
  /**
   * Takes the decision, unless a decision was already taken, became needless or expired.
   * @param replaced number of the recipient's own decision that the answer replaces. An answer that is sent twice, or
   * that comes after another, names an old one and changes nothing.
   */
  decide(token: string, response: RecipientAnswer, replaced?: number): Promise<DecisionResult>
}

/** Description of the event for a recipient's decision. It names the choice without personal data. */
const CHOICE_DESCRIPTIONS: Readonly<Record<RecipientChoice, string>> = {
  otro_dia: ASKED_OTHER_DAY,
  otro_lugar: 'El destinatario pidió otro lugar',
  vecino: 'El destinatario pidió que se deje con un vecino',
  rechazo: 'El destinatario no lo quiere',
}
/** Returns the choice that the description of an event names; null if it names none. */
export const choiceOf = (descripcion: string | null): RecipientChoice | null =>
  (Object.keys(CHOICE_DESCRIPTIONS) as RecipientChoice[]).find(
    (choice) => CHOICE_DESCRIPTIONS[choice] === descripcion,
  ) ?? null

/**
 * Finds a decision by the digest of its token. A link that was sent to another telephone finds nothing, and neither
 * does a link from before a correction of the telephone. The failed attempt is the event before the event that opened the decision.
 */
const BY_TOKEN = statement<{ huella: Buffer }, DecisionRow>(
  'decisiones.byToken',
  'part',
  `select g.*, c.nombre as comercio, m.vence_en as expiry,
     (select e.motivo from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo and e.guia_id = m.guia_id
       and e.secuencia = m.decision_secuencia - 1) as motivo,
     (select e.descripcion from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo
       and e.guia_id = m.guia_id and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_tomada'
       order by e.secuencia desc limit 1) as requested,
     (select count(*)::int from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo and e.guia_id = m.guia_id
       and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_tomada') as decision_count,
     exists (select from evento e where e.comercio_id = m.comercio_id and e.modo = m.modo and e.guia_id = m.guia_id
       and e.secuencia > m.decision_secuencia and e.tipo = 'guia.decision_pendiente') as has_other
   from enlace_ubicacion l
   join guia g on g.comercio_id = l.comercio_id and g.modo = l.modo and g.id = l.guia_id
   join mensaje m on m.comercio_id = l.comercio_id and m.modo = l.modo and m.guia_id = l.guia_id and m.numero = l.numero
     and ${IS_LIVE_LINK} and m.tipo = 'solicitud_decision'
   join comercio c on c.id = g.comercio_id where l.huella = :huella`,
)

type DecisionRow = GuiaRow & {
  comercio: string
  expiry: Date | null
  motivo: string | null
  /** Description of the newest event that recorded a decision. A rectification may have undone an earlier one. */
  requested: string | null
  /** Number of decisions since the attempt. */
  decision_count: number
  /** True if a later attempt failed too, so that the guide now has another decision. */
  has_other: boolean | null
}

async function find(db: Db, token: string): Promise<DecisionRow | undefined> {
  const huella = tokenHash(token)
  return (await (await dbOfKey(db, huella.toString('hex')))?.query(BY_TOKEN, { huella }))?.[0]
}

/** Creates the operations of the page where the recipient decides. */
export const createDecisiones = (deps: DecisionDeps): Decisiones => ({
  async read(token) {
    const row = await find(deps.db, token)
    return row && presentDecisionData(deps, row)
  },
  async decide(token, respuesta, replaced) {
    const proposal = respuesta.eleccion === 'otro_lugar' ? proposeUbicacion(respuesta.lugar) : undefined
    if (proposal && 'motivo' in proposal) return { ok: false, ...proposal }
    return retryLostRaces(async () => {
      const row = await find(deps.db, token)
      if (!row) return { ok: false, motivo: 'desconocida' }
      return (
        judgeAnswer(deps, row, { respuesta, proposal, replaced }) ??
        (await takeDecision(deps, row, respuesta, proposal))
      )
    })
  },
})

function decisionStateOf({ has_other, decision, estado, expiry }: DecisionRow, now: Date): DecisionData['estado'] {
  if (has_other || decision === null || decision.estado === 'superada') return 'superada'
  if (decision.estado !== 'pendiente') return 'decidida'
  if (expiry === null || expiry <= now) return 'vencida'
  return estado === 'extraviado' ? 'detenida' : 'abierta'
}

/** Number of decisions after one attempt from which the recipient replaces none. It bounds the events of one link. */
const MAX_DECISIONS = 10

/** Returns the number of the decision that the recipient may replace; null if none. */
function replaceableOf(row: DecisionRow, now: Date): number | null {
  const { decision, estado, decision_count } = row
  const isOwn = isTaken(decision) && decision.por === 'destinatario' && decision.opciones.includes('reintentar')
  const isPossible = decisionStateOf(row, now) === 'decidida' && estado !== 'extraviado'
  return isOwn && isPossible && decision_count < MAX_DECISIONS ? decision_count : null
}

function presentDecisionData({ clock, settings }: DecisionDeps, row: DecisionRow): DecisionData {
  const now = clock()
  const estado = decisionStateOf(row, now)
  const zona = timeZoneOf(row, settings.timeZone)
  const { accion = null, por = null } = row.decision ?? {}
  const eleccion = por === 'destinatario' ? choiceOf(row.requested) : null
  return {
    estado,
    ...shownParcel(row),
    motivo: row.motivo as Motivo | null,
    vence_en: (row.expiry ?? now).toISOString(),
    returns: row.decision_vence !== null,
    zona,
    dias: row.decision?.opciones.includes('reintentar')
      ? daysOf(offeredDaysOf(row.decision.fecha_desde, dayIn(now, zona)), settings.restDays)
      : null,
    decided: estado === 'decidida' ? { accion, por, eleccion } : null,
    replaceable: replaceableOf(row, now),
    vecino: estado === 'decidida' && eleccion === 'vecino' ? neighbourOf(row.indicaciones) : null,
  }
}

/** Answer of a recipient, with the place that it proposes. */
interface Answer {
  respuesta: RecipientAnswer
  proposal: PlaceProposal | undefined
  /** Number of the decision that the answer replaces; undefined for the first answer. */
  replaced: number | undefined
}

/**
 * Returns the answer if nothing is to be changed, because the decision is closed or the input is faulty; undefined if
 * the decision is to be taken.
 */
function judgeAnswer(
  { clock }: DecisionDeps,
  row: DecisionRow,
  { respuesta, proposal, replaced }: Answer,
): DecisionResult | undefined {
  const now = clock()
  const isReplacement = replaced !== undefined && replaced === replaceableOf(row, now)
  if (!isReplacement && decisionStateOf(row, now) !== 'abierta') return { ok: false, motivo: 'cerrada' }
  if ('fecha' in respuesta && respuesta.fecha !== undefined && !isDay(respuesta.fecha))
    return { ok: false, motivo: 'fecha_invalida' }
  if (respuesta.eleccion !== 'otro_lugar' || !proposal) return undefined
  const { distancia_km } = judgeDestino(row, { ubicacion_lat: proposal.lat, ubicacion_lng: proposal.lng })
  return distancia_km !== null && distancia_km > FAR_KM && !respuesta.lugar.acceptsDistance
    ? { ok: false, motivo: 'lejos', distancia_km: Math.round(distancia_km) }
    : undefined
}

/** Answers to the recipient for problem codes that mean that the decision cannot be taken. */
const REASON_OF: Readonly<Record<string, 'cerrada' | 'no_admitida' | 'fecha_invalida'>> = {
  decision_tomada: 'cerrada',
  decision_no_admitida: 'no_admitida',
  transicion_invalida: 'cerrada',
  no_corregible: 'no_admitida',
  limite_de_correcciones: 'no_admitida',
  validacion: 'fecha_invalida',
}

/**
 * Takes the decision and makes the changes that it needs, in one transaction. Returns undefined if another request
 * changed the guide since it was read.
 */
async function takeDecision(
  deps: DecisionDeps,
  { guia, secuencia }: DecisionRow,
  response: RecipientAnswer,
  proposal: PlaceProposal | undefined,
): Promise<DecisionResult | undefined> {
  const rememberNothing = async () => {}
  try {
    await withLockedGuia(deps, 'todos', guia, secuencia, rememberNothing, (writer, lockedGuia) =>
      answerLockedGuia(deps, writer, reopened(lockedGuia), response, proposal),
    )
    return { ok: true }
  } catch (error) {
    if (!(error instanceof Problema)) throw error
    if (error.codigo === 'carrera_perdida') return undefined
    const motivo = REASON_OF[error.codigo]
    if (!motivo) throw error
    return { ok: false, motivo }
  }
}

/** Returns a guide with its decision open again: its row still has the sequence in which the recipient may decide. */
const reopened = (guia: LockedGuia): LockedGuia => ({
  ...guia,
  decision: guia.decision && {
    ...guia.decision,
    estado: 'pendiente',
    accion: null,
    fecha: null,
    franja: null,
    por: null,
  },
})

/**
 * Carries out the recipient's choice for a locked guide, in the lock's transaction.
 * @param proposal place of `otro_lugar`
 * @returns the guide's row afterwards
 * @throws Problema 409 `decision_tomada`, `decision_no_admitida`, `transicion_invalida`, or one of a correction; 422
 */
export function answerLockedGuia(
  deps: Pick<DecisionDeps, 'settings'>,
  writer: LockedGuiaWriter,
  lockedGuia: LockedGuia,
  response: RecipientAnswer,
  proposal: PlaceProposal | undefined,
): Promise<GuiaRow> {
  const caller = { por: 'destinatario', autor: null, descripcion: CHOICE_DESCRIPTIONS[response.eleccion] } as const
  if (response.eleccion === 'rechazo') return returnLockedGuia(writer, caller, lockedGuia)
  return retryLockedGuia(deps, writer, caller, lockedGuia, {
    fecha: response.fecha,
    restDays: deps.settings.restDays,
    changeGuia: async () => {
      const neighbour = response.eleccion === 'vecino' ? response.vecino : undefined
      const correctedGuia = await changeNeighbour(writer, caller, lockedGuia, neighbour)
      return proposal ? changePlace(writer, correctedGuia, proposal) : correctedGuia
    },
  })
}

/**
 * Writes the neighbour who takes the parcel into the indications for the courier. Without a neighbour, removes one that
 * was written before.
 */
async function changeNeighbour(
  writer: LockedGuiaWriter,
  { descripcion }: { descripcion: string },
  lockedGuia: LockedGuia,
  neighbour: Neighbour | undefined,
): Promise<GuiaRow> {
  const indicaciones = neighbour
    ? withNeighbour(lockedGuia.indicaciones, neighbour)
    : withoutNeighbour(lockedGuia.indicaciones)
  if (indicaciones === lockedGuia.indicaciones) return lockedGuia
  const caller = { ambito: 'todos', autor: null, origen: 'destinatario', pais: null, descripcion } as const
  return correctLockedGuia(writer, caller, lockedGuia, { indicaciones })
}

/** Confirms the place that the recipient gave. If it is the confirmed place already, writes no event. */
async function changePlace(
  { query, notifyJobs, clock, newId }: LockedGuiaWriter,
  guia: GuiaRow,
  proposal: PlaceProposal,
): Promise<GuiaRow> {
  if (isSamePlace(guia, proposal)) return guia
  const step = await takeStep({ db: { query }, notifyJobs }, guia, {
    ...placeStep(guia, proposal, clock()),
    shortLink: linkToFollow(proposal.enlace, newId),
  })
  return step!.guia
}
