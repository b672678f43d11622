// What lies on the phone. Every write is durable before anything is said to be kept, and every tab hears of it.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type {
  DatosDeEntrega,
  Estado,
  EventoParaRegistrar,
  GuiaDeReparto,
  Sesion as SesionDelServidor,
} from '../dominio.ts'

/** Guides are somebody's address: they don't stay on the phone longer than a day's work. */
export const CADUCAN_MS = 24 * 3_600_000

export interface Imagen {
  id: string
  guia: string
  blob: Blob
}
/** A picture of an action; `archivo` once the server has it. */
export interface Adjunto {
  imagen: string
  archivo?: string
}
export interface Falla {
  titulo: string
  detalle: string
  /** What the server found wrong, field by field. */
  errores: string[]
  /** The picture it is about. */
  imagen?: string
}
export interface Accion {
  /** Given by the store: actions go out in this order. */
  orden: number
  /** The `idempotencia` of whatever is sent: the server never does the same action twice. */
  id: string
  repartidor: string
  nombre: string
  guia: string
  /** What the guide will be; null: a note. */
  estado: Estado | null
  ocurrido_en: string
  /** In which zone that is told; null: nothing was known of the guide but its code. */
  zona: string | null
  evento?: Pick<EventoParaRegistrar, 'motivo' | 'descripcion' | 'lat' | 'lng'>
  entrega?: DatosDeEntrega
  fotos: Adjunto[]
  firma: Adjunto | null
  /** The signature as it was drawn, should the delivery have to be corrected: who signed is gone by then. */
  trazos: Trazos | null
  situacion: 'pendiente' | 'enviada' | 'atencion'
  intentos: number
  /** Not to be tried again before (this phone's clock). */
  noAntesDe: number
  /** The server no longer had the pictures, and they were sent once more. */
  resubida: boolean
  falla: Falla | null
  /** Whether it moved the guide, once the server said so. */
  aplicado: boolean | null
  terminada: number | null
}
export type Lugar = Pick<DatosDeEntrega, 'lat' | 'lng' | 'precision_m'>
export interface Trazos {
  ancho: number
  grupos: unknown[]
}
/** A delivery that is being filled in: the camera's own app may push the page out of memory at any moment. */
export interface Borrador {
  guia: string
  repartidor: string
  fotos: string[]
  trazos: Trazos | null
  nombre: string
  documento: string
  relacion: string
  descripcion: string
  /** When it happened, if it is a delivery that came back to be corrected. */
  ocurrido_en: string | null
  /** In which zone that is told. */
  zona: string | null
  /** And where. */
  lugar: Lugar | null
}
export interface GuiaGuardada {
  guia: string
  repartidor: string
  /** Null: scanned without coverage, so nothing is known but its code. */
  datos: GuiaDeReparto | null
  /** This phone's clock. */
  leida: number
  /** The server's clock when it was read, rounded up: whatever is done to the guide happened after. */
  vista: number
  /** What the server said of the code, if it is nobody's. */
  desconocida: boolean
}
/** `vigente`: as far as the server ever said. */
export interface Sesion extends SesionDelServidor {
  vigente: boolean
}
interface Ajustes {
  sesion: Sesion
  /** Server's clock minus this phone's, in milliseconds. */
  desfase: number
  /** The server asked to be left alone until then (this phone's clock). */
  pausa: number
  /** Signed out without coverage: the server is still to be told. */
  salir: true
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

/** One transaction over everything: kept whole, or not at all. */
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
