import { statement } from '../../data/db.ts'
import { dbOfKey } from '../../data/owners.ts'
import { tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import { FAR_KM } from '../catalogo/catalogo.ts'
import type { Deps } from '../deps.ts'
import { retryLostRaces, takeStep } from '../eventos/evento.ts'
import { judgeDestino } from '../records/advertencias.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { IS_LIVE_LINK } from '../records/locationRequest.ts'
import {
  type PlaceFault,
  type PlaceProposal,
  proposeDescription,
  proposeUbicacion,
  type RecipientPlace,
} from './proposal.ts'
import { requestAgain } from './resend.ts'
import { type ShownParcel, shownParcel } from './shownParcel.ts'
import { admitsUbicacion, isSamePlace, linkToFollow, placeStep, ubicacionPlaceOf } from './ubicacion.ts'

export type { RecipientPlace as ProposedPlace } from './proposal.ts'

/** Data of a location request that is shown to any client with the recipient's link. */
export interface UbicacionRequestData extends ShownParcel {
  /** `cerrada`: the parcel no longer needs the location (delivered, cancelled, on its way). */
  estado: 'abierta' | 'confirmada' | 'vencida' | 'cerrada'
  confirmed: ConfirmedPlace | null
  /** True if the recipient may still change the confirmed location, because no courier is on the way to it. */
  correctable: boolean
}

/** Confirmed location; without coordinates if a link or a description names it. */
export interface ConfirmedPlace {
  lat: number | null
  lng: number | null
  precision_m: number | null
  enlace: string | null
  referencia: string | null
  /**
   * Progress of a link whose coordinates are unknown. `leyendo`: it is being followed for the first time. `demorado`:
   * it did not answer, and will be followed again. `sin_lugar`: it leads to no location. Null for any other location.
   */
  lectura: 'leyendo' | 'demorado' | 'sin_lugar' | null
}

/** Result of a location that a recipient proposed. */
export type ConfirmationResult =
  | { ok: true }
  | { ok: false; motivo: 'lejos'; distancia_km: number }
  | ({ ok: false } & PlaceFault)
  /** `con_punto`: words instead of the location would drop a confirmed point or link. */
  | { ok: false; motivo: 'con_punto' }
  /** `agotada`: the recipient changed the location too often. */
  | { ok: false; motivo: 'vencida' | 'cerrada' | 'desconocida' | 'agotada' }

/** Result of a request for another link. `repetida`: a link that was sent before is still valid. */
export type AnotherLinkResult =
  | { ok: true; repetida: boolean /** Last two digits of the telephone. */; lastDigits: string }
  | { ok: false; motivo: 'agotada' | 'sin_efecto' }

/** Operations of the recipient's page. The link's token alone identifies the guide. */
export interface UbicacionRequests {
  /** Reads the request without changing anything, because messengers open the page to make previews. */
  read(token: string): Promise<UbicacionRequestData | undefined>
  /**
   * Confirms a location. Returns `ok` again for a repeated location, because the first answer may get lost on a bad
   * network.
   */
  confirm(token: string, place: RecipientPlace): Promise<ConfirmationResult>
  /**
   * Changes the description of a confirmed location; its point or link stays. Returns `ok` again for the same
   * description.
   * @param referencia at most 200 characters; empty to remove the words
   */
  describe(token: string, referencia: string): Promise<ConfirmationResult>
  /** Sends another link in place of an expired link, to the guide's own telephone. */
  requestAnother(token: string): Promise<AnotherLinkResult>
}

/**
 * Finds a request by the digest of its token, so that the table's contents do not open any page. A link that was sent
 * to another telephone finds nothing, and neither does a link from before a correction of the telephone.
 */
const BY_TOKEN = statement<{ huella: Buffer }, UbicacionRequestRow>(
  'ubicacion.byToken',
  'part',
  `select g.*, c.nombre as comercio, l.vence_en as expiry, k.maps_url as pending_url, k.intentos as times
   from enlace_ubicacion l
   join guia g on g.comercio_id = l.comercio_id and g.modo = l.modo and g.id = l.guia_id
   join mensaje m on m.comercio_id = l.comercio_id and m.modo = l.modo and m.guia_id = l.guia_id and m.numero = l.numero
     and ${IS_LIVE_LINK} and m.tipo = 'solicitud_ubicacion'
   join comercio c on c.id = g.comercio_id
   left join enlace_corto k on k.comercio_id = g.comercio_id and k.modo = g.modo and k.guia_id = g.id
   where l.huella = :huella`,
)

/**
 * `pending_url`: link whose location is still to be looked up. `times`: failed attempts to do so. Both are null if there
 * is none.
 */
type UbicacionRequestRow = GuiaRow & {
  comercio: string
  expiry: Date
  pending_url: string | null
  times: number | null
}

/**
 * Maximum confirmations of a guide's location by recipients. A short link counts twice: when the recipient sends it,
 * and when its coordinates are found.
 */
const MAX_CONFIRMATIONS = 10

const COUNT_CONFIRMATIONS = statement<ReturnType<typeof guiaKeyOf>, { times: number }>(
  'ubicacion.countConfirmations',
  'merchant',
  `select count(*)::int as times from evento where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and tipo = 'ubicacion.confirmada' and foto ->> 'ubicacion_origen' = 'destinatario'`,
)

type UbicacionRequestDeps = Pick<Deps, 'db' | 'clock' | 'newId' | 'notifyJobs' | 'channelOf'>

/** Creates the operations of the recipient's page. */
export function createUbicacionRequests(deps: UbicacionRequestDeps): UbicacionRequests {
  const { db, clock } = deps
  const find = async (token: string) => {
    const huella = tokenHash(token)
    return (await (await dbOfKey(db, huella.toString('hex')))?.query(BY_TOKEN, { huella }))?.[0]
  }
  return {
    async read(token) {
      const row = await find(token)
      return row && presentUbicacionRequest(row, clock())
    },
    async confirm(token, place): Promise<ConfirmationResult> {
      const proposal = proposeUbicacion(place)
      if ('motivo' in proposal) return { ok: false, ...proposal }
      return retryLostRaces(async (): Promise<ConfirmationResult | undefined> => {
        const row = await find(token)
        if (!row) return { ok: false, motivo: 'desconocida' }
        const earlyResult = await judgePlace(deps, row, place, proposal)
        if (earlyResult) return earlyResult
        const step = await takeStep(deps, row, {
          ...placeStep(row, proposal, clock()),
          shortLink: linkToFollow(proposal.enlace, deps.newId),
        })
        return step && { ok: true }
      })
    },
    describe: (token, referencia) =>
      retryLostRaces(async (): Promise<ConfirmationResult | undefined> => {
        const row = await find(token)
        if (!row) return { ok: false, motivo: 'desconocida' }
        const estado = requestStateOf(row, clock())
        if (estado === 'abierta') return { ok: false, motivo: 'sin_lugar', mensaje: 'Falta el lugar.' }
        if (estado !== 'confirmada') return { ok: false, motivo: estado }
        const proposal = proposeDescription(ubicacionPlaceOf(row), referencia)
        if ('motivo' in proposal) return { ok: false, ...proposal }
        const earlyResult = await judgeChange(db, row, proposal)
        if (earlyResult) return earlyResult
        const step = await takeStep(deps, row, placeStep(row, proposal, clock()))
        return step && { ok: true }
      }),
    async requestAnother(token): Promise<AnotherLinkResult> {
      const result = await retryLostRaces(async () => {
        const row = await find(token)
        return row && requestStateOf(row, clock()) === 'vencida' ? requestAnother(deps, row) : NO_EFFECT
      })
      deps.notifyJobs()
      return result
    },
  }
}

const NO_EFFECT: AnotherLinkResult = { ok: false, motivo: 'sin_efecto' }

function requestStateOf(row: UbicacionRequestRow, now: Date): UbicacionRequestData['estado'] {
  if (row.ubicacion_estado === 'confirmada' && row.ubicacion_origen === 'destinatario') return 'confirmada'
  if (!admitsUbicacion(row) || row.ubicacion_estado === 'confirmada') return 'cerrada'
  return row.expiry <= now ? 'vencida' : 'abierta'
}

function presentUbicacionRequest(row: UbicacionRequestRow, now: Date): UbicacionRequestData {
  const estado = requestStateOf(row, now)
  return {
    estado,
    ...shownParcel(row),
    confirmed: estado === 'confirmada' ? { ...ubicacionPlaceOf(row), lectura: readingOf(row) } : null,
    correctable: estado === 'confirmada' && admitsUbicacion(row),
  }
}

function readingOf({
  ubicacion_lat,
  ubicacion_extra,
  pending_url,
  times,
}: UbicacionRequestRow): ConfirmedPlace['lectura'] {
  const link = ubicacion_extra?.enlace
  if (link === undefined || ubicacion_lat !== null) return null
  if (pending_url !== link) return 'sin_lugar'
  return times === 0 ? 'leyendo' : 'demorado'
}

/**
 * Returns the answer if a requested change is not recorded: it changes nothing, comes too late, or exceeds the limit.
 * Undefined if the change is to be recorded.
 */
async function judgeChange(
  db: Pick<Deps['db'], 'query'>,
  row: UbicacionRequestRow,
  proposal: PlaceProposal,
): Promise<ConfirmationResult | undefined> {
  if (isSamePlace(row, proposal)) return { ok: true }
  if (!admitsUbicacion(row)) return { ok: false, motivo: 'cerrada' }
  const [cuenta] = await db.query(COUNT_CONFIRMATIONS, guiaKeyOf(row))
  return cuenta!.times >= MAX_CONFIRMATIONS ? { ok: false, motivo: 'agotada' } : undefined
}

/**
 * Returns the answer if a location is not recorded: it is already confirmed, too late, changed too often, or far away
 * and not confirmed by the person. Undefined if the location is to be recorded.
 */
async function judgePlace(
  { db, clock }: UbicacionRequestDeps,
  row: UbicacionRequestRow,
  place: RecipientPlace,
  proposal: PlaceProposal,
): Promise<ConfirmationResult | undefined> {
  const estado = requestStateOf(row, clock())
  if (estado === 'confirmada') {
    // The browser sent the answer twice over a bad network. The location is already confirmed, as the recipient wanted.
    if (!place.cambiar) return { ok: true }
    const earlyResult = await judgeChange(db, row, proposal)
    if (earlyResult) return earlyResult
    const { lat, enlace } = ubicacionPlaceOf(row)
    if (place.method === 'descripcion' && !place.removesPoint && (lat !== null || enlace !== null))
      return { ok: false, motivo: 'con_punto' }
  } else if (estado !== 'abierta') return { ok: false, motivo: estado }
  const { distancia_km } = judgeDestino(row, { ubicacion_lat: proposal.lat, ubicacion_lng: proposal.lng })
  if (distancia_km !== null && distancia_km > FAR_KM && !place.acceptsDistance)
    return { ok: false, motivo: 'lejos', distancia_km: Math.round(distancia_km) }
  return undefined
}

/**
 * Queues another location request, unless a newer link is on its way or still valid. Returns undefined if another
 * request changed the guide.
 */
async function requestAnother(
  deps: UbicacionRequestDeps,
  row: UbicacionRequestRow,
): Promise<AnotherLinkResult | undefined> {
  const { telefono, ubicacion_extra } = row
  if (telefono === null) return NO_EFFECT
  const lastDigits = telefono.slice(-2)
  const { estado, vence_en, numero = 0 } = ubicacion_extra?.solicitud ?? {}
  if (estado === 'pendiente' || (vence_en !== undefined && new Date(vence_en) > deps.clock()))
    return { ok: true, repetida: true, lastDigits }
  try {
    return (await requestAgain(deps, row, { previous: numero })) && { ok: true, repetida: false, lastDigits }
  } catch (error) {
    if (error instanceof Problema && error.codigo === 'limite_de_solicitudes') return { ok: false, motivo: 'agotada' }
    throw error
  }
}
