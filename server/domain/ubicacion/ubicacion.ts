import { createHmac } from 'node:crypto'
import type { Query } from '../../data/db.ts'
import type { CodigoDeAdvertencia, UbicacionParaConfirmar } from '../../generated/contract/types/index.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readMapLink } from '../../platform/maps/links.ts'
import { readLinkedPlace } from '../../platform/maps/plusCodes.ts'
import type { Secrets } from '../../platform/secrets.ts'
import type { Deps } from '../deps.ts'
import { isFinalState } from '../estados/estados.ts'
import { type GuiaStep, type GuiaUbicacion, retryLostRaces, takeStep } from '../eventos/evento.ts'
import { explainImplausible, judgeDestino, type StoredAdvertencia } from '../records/advertencias.ts'
import type { GuiaRow } from '../records/guiaFields.ts'
import { findGuia, type GuiaScope } from '../records/guiaLookup.ts'
import type { PlaceProposal } from './proposal.ts'
import { requestAgain } from './resend.ts'

export {
  type PlaceFault,
  type PlaceProposal,
  proposeUbicacion,
  type RecipientPlace as ProposedPlace,
} from './proposal.ts'
export { RESENDS_PER_GUIA } from './resend.ts'
export { type ShownParcel, shownParcel } from './shownParcel.ts'

/**
 * Reports whether a guide's location may still be set or changed. A confirmed location may change until the courier is
 * on the way to it.
 */
export const admitsUbicacion = ({ estado, ubicacion_estado }: Pick<GuiaRow, 'estado' | 'ubicacion_estado'>) =>
  !isFinalState(estado) && estado !== 'en_devolucion' && !(estado === 'en_ruta' && ubicacion_estado === 'confirmada')

/** Returns the location that a guide's row has. */
export function ubicacionPlaceOf({ ubicacion_lat: lat, ubicacion_lng: lng, ubicacion_extra }: GuiaRow) {
  const { precision_m = null, enlace = null, referencia = null } = ubicacion_extra ?? {}
  return { lat, lng, precision_m, enlace, referencia }
}

/**
 * Codes of warnings that are checked again for every location. `telefono_fijo` is included because a confirmed location
 * needs no message.
 */
const PLACE_ADVERTENCIAS: readonly CodigoDeAdvertencia[] = [
  ...([
    'telefono_fijo',
    'enlace_sin_coordenadas',
    'lugar_descrito',
    'lugar_por_revisar',
    'destino_desconocido',
    'lugar_nulo',
  ] as const),
  ...([
    'coordenadas_en_cero',
    'coordenadas_sin_signo',
    'coordenadas_invertidas',
    'fuera_del_departamento',
    'ubicacion_lejana',
  ] as const),
]

const WITHOUT_COORDINATES: StoredAdvertencia = { codigo: 'enlace_sin_coordenadas', campo: '/ubicacion/maps_url' }
const ONLY_DESCRIBED: StoredAdvertencia = { codigo: 'lugar_descrito', campo: '/ubicacion/referencia' }

/** Returns the location columns of a guide after confirmation. The data of the location request stays visible. */
function toConfirmedPlace(guia: GuiaRow, proposal: PlaceProposal, now: Date): GuiaUbicacion {
  const { enlace, lat, lng, precision_m, referencia, origen } = proposal
  const { distancia_km, advertencias } = judgeDestino(guia, { ubicacion_lat: lat, ubicacion_lng: lng })
  const solicitud = guia.ubicacion_extra?.solicitud
  return {
    ubicacion_estado: 'confirmada',
    ubicacion_origen: origen,
    ubicacion_lat: lat,
    ubicacion_lng: lng,
    ubicacion_extra: {
      ...(enlace === null ? {} : { enlace }),
      ...(precision_m === null ? {} : { precision_m }),
      ...(referencia === null ? {} : { referencia }),
      ...(distancia_km === null ? {} : { distancia_km }),
      confirmado_en: now.toISOString(),
      ...(solicitud ? { solicitud } : {}),
    },
    advertencias: [
      ...guia.advertencias.filter(({ codigo }) => !PLACE_ADVERTENCIAS.includes(codigo)),
      ...(lat === null ? [enlace === null ? ONLY_DESCRIBED : WITHOUT_COORDINATES] : []),
      ...advertencias,
    ],
  }
}

/**
 * Returns the event that confirms a location, with the changes to the guide. The event has the location's coordinates.
 */
export const placeStep = (guia: GuiaRow, proposal: PlaceProposal, now: Date) =>
  ({
    tipo: 'ubicacion.confirmada',
    ocurrido_en: now,
    registrado_en: now,
    lat: proposal.lat,
    lng: proposal.lng,
    ubicacion: toConfirmedPlace(guia, proposal, now),
  }) satisfies GuiaStep

/**
 * Reports whether the guide's location is already confirmed with the same values. Confirming the same values again
 * changes nothing and writes no event.
 */
export const isSamePlace = (guia: GuiaRow, { enlace, lat, lng, referencia, origen }: PlaceProposal) =>
  guia.ubicacion_estado === 'confirmada' &&
  guia.ubicacion_origen === origen &&
  (enlace !== null
    ? guia.ubicacion_extra?.enlace === enlace
    : guia.ubicacion_lat === lat && guia.ubicacion_lng === lng) &&
  (guia.ubicacion_extra?.referencia ?? null) === referencia

/**
 * Rejects a guide whose location may not be set any more.
 * @throws Problema 409 `ubicacion_cerrada`
 */
export function requireOpen(guia: GuiaRow): void {
  if (admitsUbicacion(guia)) return
  const por =
    guia.estado === 'en_ruta' ? 'el repartidor ya va hacia el lugar confirmado' : 'ya no se va a entregar en otro lugar'
  throw new Problema('ubicacion_cerrada', `La guía está en ${guia.estado}; ${por}.`, { estado: guia.estado })
}

/**
 * Returns the task to follow a short link, whose location is known only after following it; undefined for any other
 * link.
 */
export const linkToFollow = (link: string | null, newId: () => { id: string }) =>
  link !== null && readMapLink(link).tipo === 'corto' ? { id: newId().id, maps_url: link } : undefined

/** Person or system that confirms a location through an API. */
interface Confirmer {
  ambito: GuiaScope
  /** Code of the merchant or operator, stored with the event. */
  autor: string
  origen: 'comercio' | 'operador'
  /** True to reject an implausible location. Otherwise it only causes a warning. */
  estricto?: boolean
  /** Reason for the change, shown in its event. */
  descripcion?: string
}

/**
 * Confirms or corrects the location of a guide. The same location again changes nothing and writes no event.
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `ubicacion_cerrada` or `carrera_perdida`; 422 if `estricto` and the location is implausible
 */
export function confirmPlace(
  { db, clock, newId, notifyJobs }: Pick<Deps, 'db' | 'clock' | 'newId' | 'notifyJobs'>,
  { ambito, autor, origen, estricto = false, descripcion }: Confirmer,
  code: string,
  place: UbicacionParaConfirmar,
): Promise<GuiaRow & { comercio: string }> {
  // Coordinates take precedence over a link.
  const link = place.maps_url === undefined || place.lat !== undefined ? undefined : readLinkedPlace(place.maps_url)
  const linkCoordinates = link?.tipo === 'coordenadas' ? link.coordinates : undefined
  const proposal = {
    enlace: link ? place.maps_url! : null,
    lat: place.lat ?? linkCoordinates?.lat ?? null,
    lng: place.lng ?? linkCoordinates?.lng ?? null,
    referencia: place.referencia ?? null,
    precision_m: null,
    origen,
  }
  return retryLostRaces(async () => {
    const storedGuia = await findGuia(db, ambito, code)
    if (isSamePlace(storedGuia, proposal)) return storedGuia
    requireOpen(storedGuia)
    const step = placeStep(storedGuia, proposal, clock())
    const faults = explainImplausible({ ...storedGuia, ...step.ubicacion }, proposal.enlace !== null)
    if (estricto && faults.length > 0) throw problemOfFaults('validacion', faults)
    const paso = await takeStep({ db, notifyJobs }, storedGuia, {
      ...step,
      autor,
      ...(descripcion === undefined ? {} : { descripcion }),
      shortLink: linkToFollow(proposal.enlace, newId),
    })
    return paso && { ...paso.guia, comercio: storedGuia.comercio }
  })
}

/**
 * Asks a guide's recipient for the location once more, on behalf of its merchant or of an operator. Notifies workers
 * after the commit.
 * @param runLast runs last in the transaction of the request
 * @returns the guide's row afterwards, with the code of its merchant
 * @throws Problema 404; 409 `ubicacion_ya_confirmada`, `ubicacion_cerrada`, `limite_de_solicitudes` or
 *   `carrera_perdida`
 */
export async function resendRequestOf(
  deps: Pick<Deps, 'db' | 'clock' | 'newId' | 'channelOf' | 'notifyJobs'>,
  scope: GuiaScope,
  code: string,
  runLast: (query: Query, guia: GuiaRow) => Promise<unknown>,
): Promise<GuiaRow & { comercio: string }> {
  const requestedGuia = await retryLostRaces(async () => {
    const storedGuia = await findGuia(deps.db, scope, code)
    requireUnconfirmed(storedGuia)
    const guia = await requestAgain(deps, storedGuia, { runLast: (query) => runLast(query, storedGuia) })
    return guia && { ...guia, comercio: storedGuia.comercio }
  })
  deps.notifyJobs()
  return requestedGuia
}

function requireUnconfirmed(guia: GuiaRow): void {
  if (guia.ubicacion_estado === 'confirmada') {
    const from = guia.ubicacion_extra?.confirmado_en ?? guia.creado_en.toISOString()
    throw new Problema('ubicacion_ya_confirmada', `La ubicación está confirmada desde ${from}; no hay nada que pedir.`)
  }
  requireOpen(guia)
}

/** Length of a recipient's token in bytes (128 bits). */
const TOKEN_BYTES = 16

/**
 * Derives the secret token of a recipient's link from the id of the message that contains the link. A retry can
 * therefore create the same link, and only the token's digest is stored.
 * @param kid id of the master key that made a link already sent; the current key if omitted
 * @returns undefined if that master key no longer exists
 */
export function tokenOf(secrets: Secrets, mensajeId: string, kid?: string | null) {
  const subkey = kid ? secrets.de('ubicacion', kid) : secrets.current('ubicacion')
  if (!subkey) return undefined
  const token = createHmac('sha256', subkey.clave)
    .update(mensajeId)
    .digest()
    .subarray(0, TOKEN_BYTES)
    .toString('base64url')
  return { kid: subkey.kid, token }
}
