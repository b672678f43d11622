// Rules for handing several parcels over at one door, and for who receives each of them.
import { distanciaKm, type Punto } from '../../../mapas/punto.ts'
import type { EstadoSiguiente, GuiaDeReparto } from './dominio.ts'
import type { Rumbo } from './rumbo.ts'
import { llano } from './textos.ts'

/** Largest distance, in metres, between the confirmed points of one door. */
export const UNA_PUERTA_M = 50

/** The door of a parcel, as far as the phone knows it. */
export interface Puerta {
  /** The confirmed point; null while none is confirmed. */
  punto: Punto | null
  /** The address with its municipality, without accents, case and punctuation; empty where no address is written. */
  direccion: string
  telefono: string | null
}

interface ConLugar {
  ubicacion: Pick<GuiaDeReparto['ubicacion'], 'estado' | 'lat' | 'lng'>
}

/** Returns the confirmed point of the recipient's place; null where no place is confirmed or it has no coordinates. */
export function puntoConfirmado({ ubicacion: { estado, lat, lng } }: ConLugar): Punto | null {
  return estado === 'confirmada' && lat !== null && lng !== null ? { lat, lng } : null
}

/** A parcel as the list of guides has it. */
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

/** Result of comparing two doors; `dudosa`: a confirmed point is missing, so only the courier can tell. */
export type Comparacion = 'misma' | 'dudosa' | 'otra'

/**
 * Compares the doors of two parcels. They are the same if both points are confirmed, at most `UNA_PUERTA_M` apart, and the
 * address or the telephone is equal: in villages one address text names hundreds of houses.
 */
export function compararPuertas(una: Puerta, otra: Puerta): Comparacion {
  const mismaDireccion = una.direccion !== '' && una.direccion === otra.direccion
  const mismoTelefono = una.telefono !== null && una.telefono === otra.telefono
  if (!mismaDireccion && !mismoTelefono) return 'otra'
  if (!una.punto || !otra.punto) return 'dudosa'
  return distanciaKm(una.punto, otra.punto) * 1_000 <= UNA_PUERTA_M ? 'misma' : 'otra'
}

const mismoNombre = (uno: string | null, otro: string | null) =>
  uno !== null && otro !== null && enUnaGrafia(uno) === enUnaGrafia(otro)

type Persona = Pick<GuiaDeReparto, 'destinatario' | 'telefono'>

/** Tells whether two parcels have the same recipient: namesakes at one door have different telephones. */
export const mismoDestinatario = (una: Persona, otra: Persona) =>
  mismoNombre(una.destinatario, otra.destinatario) && una.telefono !== null && una.telefono === otra.telefono

/** Another parcel handed over with the parcel of the form, with a receiver of its own. */
export interface Otra {
  guia: string
  /** The receiver's name; null for the person who receives the form's own parcel. */
  nombre: string | null
  relacion: string
  /** The courier confirmed that the door is the same, where a confirmed place is missing. */
  preguntada: boolean
}

/** The receiver of a parcel as the form holds it; an empty `relacion` is one that nobody chose. */
export interface Recibe {
  nombre: string
  relacion: string
}

/** Renames a receiver. `destinatario` goes with the recipient's name; a relation to somebody else stays. */
export function renombrar({ nombre, relacion }: Recibe, nuevo: string, destinatario: string | null): Recibe {
  const dejaDeSerlo = mismoNombre(nombre, destinatario) && !mismoNombre(nuevo, destinatario)
  return { nombre: nuevo, relacion: relacion === 'destinatario' && dejaDeSerlo ? '' : relacion }
}

/**
 * Renames the receiver of another parcel. Its relation was chosen for the earlier name, so the courier chooses it again; the
 * name of the form's own receiver makes the two one person.
 */
export const renombrarEnOtra = (otra: Otra, nuevo: string, primero: string): Otra => ({
  ...otra,
  nombre: nuevo === primero ? null : nuevo,
  relacion: '',
})

/** Drops the relations that were chosen for the form's own receiver, who has another name now. */
export const trasRenombrar = (otras: readonly Otra[]): Otra[] =>
  otras.map((otra) => (otra.nombre === null ? { ...otra, relacion: '' } : otra))

/** Tells whether the form's own receiver receives another parcel, too. */
export const recibeElMismo = ({ nombre }: Otra, primero: Recibe) =>
  nombre === null || nombre.trim() === primero.nombre.trim()

/**
 * Returns the receiver of another parcel. A relation that was not chosen is the form's own only if the same person receives
 * both parcels for the same recipient.
 */
export function recibeDe(otra: Otra, primero: Recibe, paraElMismo: boolean): Recibe {
  const hereda = otra.relacion === '' && paraElMismo && recibeElMismo(otra, primero)
  return { nombre: otra.nombre ?? primero.nombre, relacion: hereda ? primero.relacion : otra.relacion }
}

/** Tells whether the courier still has to choose the relation of another parcel's receiver. */
export const faltaRelacion = (otra: Otra, primero: Recibe, paraElMismo: boolean) =>
  otra.relacion === '' && !(paraElMismo && recibeElMismo(otra, primero))
