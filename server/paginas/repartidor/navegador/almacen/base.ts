// What lies on the phone. Every write is durable before anything is said to be kept, and every tab hears of it.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type {
  DatosDeEntrega,
  Estado,
  EventoParaRegistrar,
  GuiaDeReparto,
  Sesion as SesionDelServidor,
} from '../dominio.ts'
import type { Otra } from '../puerta.ts'

/** How long a guide, which is somebody's address, stays on the phone: no longer than a day's work. */
export const CADUCAN_MS = 24 * 3_600_000

export interface Imagen {
  id: string
  guia: string
  blob: Blob
  /** When it was taken; null where nothing says it. */
  capturado_en: string | null
}
/** An action's picture; `archivo` is its name once the server has it. */
export interface Adjunto {
  imagen: string
  archivo?: string
}
/** Why the server did not accept an action. */
export interface Falla {
  titulo: string
  detalle: string
  /** The sentences about what the server found wrong, field by field. */
  errores: string[]
  /** The picture that the refusal is about. */
  imagen?: string
  /** The state in which the courier could have taken the parcel before. */
  toma?: Estado
}
/** Something that a courier did, until the server has it and a while after. */
export interface Accion {
  /** The action's number in the order in which actions go out, given by the store. */
  orden: number
  /** The key under which the server does the action once, however often it is sent. */
  id: string
  repartidor: string
  nombre: string
  guia: string
  /** The state that the guide will be in; null for a note. */
  estado: Estado | null
  ocurrido_en: string
  /** The zone in which the action's time is told; null when nothing was known of the guide but its code. */
  zona: string | null
  evento?: Pick<EventoParaRegistrar, 'motivo' | 'descripcion' | 'lat' | 'lng'>
  entrega?: DatosDeEntrega
  fotos: Adjunto[]
  firma: Adjunto | null
  /** The signature as it was drawn, kept because who signed is gone by the time a delivery has to be corrected. */
  trazos: Trazos | null
  situacion: 'pendiente' | 'enviada' | 'atencion'
  intentos: number
  /** When the action may be tried again, by this phone's clock. */
  noAntesDe: number
  /** Whether the pictures were sent once more, because the server no longer had them. */
  resubida: boolean
  falla: Falla | null
  /** Whether the action moved the guide; null until the server said so. */
  aplicado: boolean | null
  terminada: number | null
}
export type Lugar = Pick<DatosDeEntrega, 'lat' | 'lng' | 'precision_m' | 'distancia_avisada_m'>
export interface Trazos {
  ancho: number
  grupos: unknown[]
}
/** A delivery that is being filled in: the camera's own app may push the page out of memory at any moment. */
export interface Borrador {
  guia: string
  repartidor: string
  fotos: string[]
  /** The other parcels that are handed over at the same door. */
  otras: Otra[]
  trazos: Trazos | null
  nombre: string
  documento: string
  relacion: string
  descripcion: string
  /** When the delivery happened, if it came back to be corrected. */
  ocurrido_en: string | null
  /** The zone in which the delivery's time is told. */
  zona: string | null
  /** Where the delivery happened, if it came back to be corrected. */
  lugar: Lugar | null
}
export interface GuiaGuardada {
  guia: string
  repartidor: string
  /** What the server said of the guide; null for a code that was scanned without coverage. */
  datos: GuiaDeReparto | null
  /** When the guide was read, by this phone's clock. */
  leida: number
  /** When the guide was read, by the server's clock rounded up: whatever is done to it happened after. */
  vista: number
  /** Whether the server said that the code is nobody's. */
  desconocida: boolean
}
/** A session on this phone; it is `vigente` as far as the server ever said. */
export interface Sesion extends SesionDelServidor {
  vigente: boolean
}
interface Ajustes {
  sesion: Sesion
  /** The server's clock minus this phone's, in milliseconds. */
  desfase: number
  /** Until when the server asked to be left alone, by this phone's clock. */
  pausa: number
  /** Set when somebody signed out without coverage and the server is still to be told. */
  salir: true
  /** Set when the courier doesn't want the page among the phone's apps. */
  sinInstalar: true
}
interface Esquema extends DBSchema {
  acciones: { key: number; value: Accion; indexes: { guia: string } }
  imagenes: { key: string; value: Imagen; indexes: { guia: string } }
  borradores: { key: string; value: Borrador }
  guias: { key: string; value: GuiaGuardada }
  ajustes: { key: keyof Ajustes; value: Ajustes[keyof Ajustes] }
}

let abierta: Promise<IDBPDatabase<Esquema>> | undefined
export function abrir() {
  abierta ??= openDB<Esquema>('repartidor', 1, {
    upgrade(db) {
      const acciones = db.createObjectStore('acciones', { keyPath: 'orden', autoIncrement: true })
      acciones.createIndex('guia', 'guia')
      db.createObjectStore('imagenes', { keyPath: 'id' }).createIndex('guia', 'guia')
      db.createObjectStore('borradores', { keyPath: 'guia' })
      db.createObjectStore('guias', { keyPath: 'guia' })
      db.createObjectStore('ajustes')
    },
    // A newer version in another tab must not wait for this one.
    blocking(_de, _a, evento) {
      ;(evento.target as IDBDatabase).close()
      abierta = undefined
    },
    terminated() {
      abierta = undefined
    },
  })
  abierta.catch(() => {
    abierta = undefined
  })
  return abierta
}

type Oyente = () => void
const oyentes = new Set<Oyente>()
const canal = new BroadcastChannel('repartidor')
canal.addEventListener('message', ({ data }) => {
  if (data === 'cambio') for (const oyente of oyentes) oyente()
})
/** Calls `oyente` whenever something on the phone changed, in this tab or another. */
export function alCambiar(oyente: Oyente) {
  oyentes.add(oyente)
  return () => void oyentes.delete(oyente)
}
function avisar() {
  for (const oyente of oyentes) oyente()
  canal.postMessage('cambio')
}

type Almacenes = 'acciones' | 'imagenes' | 'borradores' | 'guias' | 'ajustes'
export type Transaccion = Awaited<ReturnType<typeof transaccion>>
const transaccion = async () =>
  (await abrir()).transaction(
    ['acciones', 'imagenes', 'borradores', 'guias', 'ajustes'] satisfies Almacenes[],
    'readwrite',
    {
      durability: 'strict',
    },
  )

/** Writes in one transaction over all that lies on the phone: it is kept whole, or not at all. */
export async function escribir<T>(hacer: (tx: Transaccion) => Promise<T>): Promise<T> {
  const tx = await transaccion()
  try {
    const valor = await hacer(tx)
    await tx.done
    avisar()
    return valor
  } catch (error) {
    try {
      tx.abort()
    } catch {
      // It had ended already.
    }
    await tx.done.catch(() => {})
    throw error
  }
}

/** Whether something failed because the phone has no room. */
export const sinEspacio = (error: unknown) => error instanceof DOMException && error.name === 'QuotaExceededError'

export const leerAjuste = async <C extends keyof Ajustes>(clave: C) =>
  (await (await abrir()).get('ajustes', clave)) as Ajustes[C] | undefined

export const ponerAjuste = <C extends keyof Ajustes>(clave: C, valor: Ajustes[C] | undefined) =>
  escribir(async (tx) => {
    const ajustes = tx.objectStore('ajustes')
    if (valor === undefined) await ajustes.delete(clave)
    else await ajustes.put(valor, clave)
  })

export const borrarImagenes = (tx: Transaccion, ids: readonly string[]) =>
  Promise.all(ids.map((id) => tx.objectStore('imagenes').delete(id)))
