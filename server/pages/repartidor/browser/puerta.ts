// Rules for handing over several parcels at one door, and for the receiver of each parcel.
import { distanceKm, type Point } from '../../../platform/maps/point.ts'
import type { EstadoSiguiente, GuiaDeReparto } from './dominio.ts'
import type { Rumbo } from './rumbo.ts'
import { llano } from './textos.ts'

/** Largest distance, in metres, between the confirmed points of one door. */
export const UNA_PUERTA_M = 50

/** Door of a parcel, with the data that the phone has about it. */
export interface Puerta {
  /** Confirmed point; null if no point is confirmed. */
  punto: Point | null
  /** Address with its municipality, without accents, case and punctuation; empty if no address is written. */
  direccion: string
  telefono: string | null
}

interface ConLugar {
  ubicacion: Pick<GuiaDeReparto['ubicacion'], 'estado' | 'lat' | 'lng'>
}

/** Returns the confirmed point of the recipient's place; null if no place is confirmed or it has no coordinates. */
export function puntoConfirmado({ ubicacion: { estado, lat, lng } }: ConLugar): Point | null {
  return estado === 'confirmada' && lat !== null && lng !== null ? { lat, lng } : null
}

/** Parcel, as in the list of guides. */
interface Llevado {
  datos: (ConLugar & Pick<GuiaDeReparto, 'direccion'>) | null
  rumbo: Pick<Rumbo, 'hacia' | 'direccion' | 'telefono'> | null
  pasos: readonly Pick<EstadoSiguiente, 'estado'>[]
}

/** Returns the door of a parcel that can be handed over to its recipient now; null for any other parcel. */
export function puertaDe({ datos, rumbo, pasos }: Llevado): Puerta | null {
  if (!datos || rumbo?.hacia !== 'destinatario' || !pasos.some(({ estado }) => estado === 'entregado')) return null
  const direccion = datos.direccion ? enUnaGrafia(rumbo.direccion) : ''
  return { punto: puntoConfirmado(datos), direccion, telefono: rumbo.telefono }
}

const enUnaGrafia = (texto: string) =>
  llano(texto)
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim()

/** Result of comparing two doors; `dudosa` if a confirmed point is missing, so that the courier must decide. */
export type Comparacion = 'misma' | 'dudosa' | 'otra'

/**
 * Compares the doors of two parcels. Two doors are the same if both points are confirmed, at most `UNA_PUERTA_M` apart,
 * and the address or the telephone is equal. In villages one address text names hundreds of houses.
 */
export function compararPuertas(una: Puerta, otra: Puerta): Comparacion {
  const mismaDireccion = una.direccion !== '' && una.direccion === otra.direccion
  const mismoTelefono = una.telefono !== null && una.telefono === otra.telefono
  if (!mismaDireccion && !mismoTelefono) return 'otra'
  if (!una.punto || !otra.punto) return 'dudosa'
  return distanceKm(una.punto, otra.punto) * 1_000 <= UNA_PUERTA_M ? 'misma' : 'otra'
}

const mismoNombre = (uno: string | null, otro: string | null) =>
  uno !== null && otro !== null && enUnaGrafia(uno) === enUnaGrafia(otro)

type Persona = Pick<GuiaDeReparto, 'destinatario' | 'telefono'>

/**
 * Tells whether two parcels have the same recipient: the same name and telephone. Two people at one door may have the
 * same name, but they have different telephones.
 */
export const mismoDestinatario = (una: Persona, otra: Persona) =>
  mismoNombre(una.destinatario, otra.destinatario) && una.telefono !== null && una.telefono === otra.telefono

/** Another parcel that is handed over with the parcel of the form. It has a receiver of its own. */
export interface Otra {
  guia: string
  /** Receiver's name; null for the person who receives the parcel of the form. */
  nombre: string | null
  relacion: string
  /** True if the courier confirmed that the door is the same, although a confirmed place is missing. */
  preguntada: boolean
}

/** Receiver of a parcel as the form holds it; `relacion` is empty until the courier chooses a relation. */
export interface Recibe {
  nombre: string
  relacion: string
}

/**
 * Renames a receiver. The relation `destinatario` is dropped when the recipient's name is replaced; any other relation
 * stays.
 */
export function renombrar({ nombre, relacion }: Recibe, nuevo: string, destinatario: string | null): Recibe {
  const dejaDeSerlo = mismoNombre(nombre, destinatario) && !mismoNombre(nuevo, destinatario)
  return { nombre: nuevo, relacion: relacion === 'destinatario' && dejaDeSerlo ? '' : relacion }
}

/**
 * Renames the receiver of another parcel. The relation was chosen for the earlier name, so the courier chooses it
 * again. If the new name is that of the form's receiver, the parcel has the same receiver.
 */
export const renombrarEnOtra = (otra: Otra, nuevo: string, primero: string): Otra => ({
  ...otra,
  nombre: nuevo === primero ? null : nuevo,
  relacion: '',
})

/** Drops the relations that were chosen for the form's receiver under the earlier name. */
export const trasRenombrar = (otras: readonly Otra[]): Otra[] =>
  otras.map((otra) => (otra.nombre === null ? { ...otra, relacion: '' } : otra))

/** Tells whether the form's receiver also receives another parcel. */
export const recibeElMismo = ({ nombre }: Otra, primero: Recibe) =>
  nombre === null || nombre.trim() === primero.nombre.trim()

/**
 * Returns the receiver of another parcel. A relation that the courier did not choose is taken from the form only if the
 * same person receives both parcels for the same recipient.
 */
export function recibeDe(otra: Otra, primero: Recibe, paraElMismo: boolean): Recibe {
  const hereda = otra.relacion === '' && paraElMismo && recibeElMismo(otra, primero)
  return { nombre: otra.nombre ?? primero.nombre, relacion: hereda ? primero.relacion : otra.relacion }
}

/** Tells whether the courier still has to choose the relation of another parcel's receiver. */
export const faltaRelacion = (otra: Otra, primero: Recibe, paraElMismo: boolean) =>
  otra.relacion === '' && !(paraElMismo && recibeElMismo(otra, primero))
