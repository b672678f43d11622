// Rules for handing over several parcels at one door, and for the receiver of each parcel.
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import type { Heading } from './heading.ts'
import { foldText } from './texts.ts'
import type { EstadoSiguiente, GuiaDeReparto } from './vocabulary.ts'

/** Largest distance, in metres, between the confirmed points of one door. */
export const SAME_DOOR_M = 50

/** Door of a parcel, with the data that the phone has about it. */
export interface Door {
  /** Confirmed point; null if no point is confirmed. */
  point: Point | null
  /** Address with its municipality, without accents, case and punctuation; empty if no address is written. */
  direccion: string
  telefono: string | null
}

interface WithPlace {
  ubicacion: Pick<GuiaDeReparto['ubicacion'], 'estado' | 'lat' | 'lng'>
}

/** Returns the confirmed point of the recipient's place; null if no place is confirmed or it has no coordinates. */
export function confirmedPoint({ ubicacion: { estado, lat, lng } }: WithPlace): Point | null {
  return estado === 'confirmada' && lat !== null && lng !== null ? { lat, lng } : null
}

/** Parcel, as in the list of guides. */
interface CarriedParcel {
  datos: (WithPlace & Pick<GuiaDeReparto, 'direccion'>) | null
  heading: Pick<Heading, 'target' | 'direccion' | 'telefono'> | null
  steps: readonly Pick<EstadoSiguiente, 'estado'>[]
}

/** Returns the door of a parcel that can be handed over to its recipient now; null for any other parcel. */
export function doorOf({ datos, heading, steps }: CarriedParcel): Door | null {
  if (!datos || heading?.target !== 'destinatario' || !steps.some(({ estado }) => estado === 'entregado')) return null
  const direccion = datos.direccion ? normalizeSpelling(heading.direccion) : ''
  return { point: confirmedPoint(datos), direccion, telefono: heading.telefono }
}

const normalizeSpelling = (text: string) =>
  foldText(text)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Result of comparing two doors; `dudosa` if a confirmed point is missing, so that the courier must decide. */
export type Comparison = 'misma' | 'dudosa' | 'otra'

/**
 * Compares the doors of two parcels. Two doors are the same if both points are confirmed, at most `SAME_DOOR_M` apart,
 * and the address or the telephone is equal. In villages one address text names hundreds of houses.
 */
export function compareDoors(first: Door, other: Door): Comparison {
  const sameDireccion = first.direccion !== '' && first.direccion === other.direccion
  const sameTelefono = first.telefono !== null && first.telefono === other.telefono
  if (!sameDireccion && !sameTelefono) return 'otra'
  if (!first.point || !other.point) return 'dudosa'
  return distanceKm(first.point, other.point) * 1_000 <= SAME_DOOR_M ? 'misma' : 'otra'
}

const isSameName = (name: string | null, other: string | null) =>
  name !== null && other !== null && normalizeSpelling(name) === normalizeSpelling(other)

type Persona = Pick<GuiaDeReparto, 'destinatario' | 'telefono'>

/**
 * Tells whether two parcels have the same recipient: the same name and telephone. Two people at one door may have the
 * same name, but they have different telephones.
 */
export const isSameDestinatario = (first: Persona, other: Persona) =>
  isSameName(first.destinatario, other.destinatario) && first.telefono !== null && first.telefono === other.telefono

/** Another parcel that is handed over with the parcel of the form. It has a receiver of its own. */
export interface OtherParcel {
  guia: string
  /** Receiver's name; null for the person who receives the parcel of the form. */
  nombre: string | null
  relacion: string
  /** True if the courier confirmed that the door is the same, although a confirmed place is missing. */
  wasAsked: boolean
}

/** Receiver of a parcel as the form holds it; `relacion` is empty until the courier chooses a relation. */
export interface Receiver {
  nombre: string
  relacion: string
}

/**
 * Renames a receiver. The relation `destinatario` is dropped when the recipient's name is replaced; any other relation
 * stays.
 */
export function renameReceiver({ nombre, relacion }: Receiver, nuevo: string, destinatario: string | null): Receiver {
  const stopsBeingDestinatario = isSameName(nombre, destinatario) && !isSameName(nuevo, destinatario)
  return { nombre: nuevo, relacion: relacion === 'destinatario' && stopsBeingDestinatario ? '' : relacion }
}

/**
 * Renames the receiver of another parcel. The relation was chosen for the earlier name, so the courier chooses it
 * again. If the new name is that of the form's receiver, the parcel has the same receiver.
 */
export const renameInOther = (other: OtherParcel, nuevo: string, formName: string): OtherParcel => ({
  ...other,
  nombre: nuevo === formName ? null : nuevo,
  relacion: '',
})

/** Drops the relations that were chosen for the form's receiver under the earlier name. */
export const afterRename = (otherParcels: readonly OtherParcel[]): OtherParcel[] =>
  otherParcels.map((other) => (other.nombre === null ? { ...other, relacion: '' } : other))

/** Tells whether the form's receiver also receives another parcel. */
export const isSameReceiver = ({ nombre }: OtherParcel, formReceiver: Receiver) =>
  nombre === null || nombre.trim() === formReceiver.nombre.trim()

/**
 * Returns the receiver of another parcel. A relation that the courier did not choose is taken from the form only if the
 * same person receives both parcels for the same recipient.
 */
export function receiverOf(other: OtherParcel, formReceiver: Receiver, isForSamePerson: boolean): Receiver {
  const inherits = other.relacion === '' && isForSamePerson && isSameReceiver(other, formReceiver)
  return { nombre: other.nombre ?? formReceiver.nombre, relacion: inherits ? formReceiver.relacion : other.relacion }
}

/** Tells whether the courier still has to choose the relation of another parcel's receiver. */
export const lacksRelation = (other: OtherParcel, formReceiver: Receiver, isForSamePerson: boolean) =>
  other.relacion === '' && !(isForSamePerson && isSameReceiver(other, formReceiver))
