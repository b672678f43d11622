// Storage on the phone (IndexedDB). Every write is durable before the page reports it, and every tab learns of it.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import type { AvanceDelDia, GuiaAsignada } from '../../../../generated/contract/types/index.ts'
import type { Point } from '../../../../platform/maps/point.ts'
import type { OtherParcel } from '../sameDoor.ts'
import type { EntregaData, Estado, EventoParaRegistrar, GuiaDeReparto, Sesion as ServerSesion } from '../vocabulary.ts'

/** Time that a guide stays on the phone, in milliseconds: a day's work, because a guide contains a person's address. */
export const GUIA_MAX_AGE_MS = 24 * 3_600_000

/** Photo or signature on the phone. */
export interface StoredImage {
  id: string
  guia: string
  blob: Blob
  /** Time at which the photo was taken, in ISO 8601; null if unknown. */
  capturado_en: string | null
}
/** Image of an action; `archivo` is its name on the server, once uploaded. */
export interface Attachment {
  imagen: string
  archivo?: string
}
/** Reason for which the server did not accept an action. */
export interface StoredFailure {
  titulo: string
  detalle: string
  /** Server's sentences about the invalid fields, at most 5. */
  errores: string[]
  /** Image that the refusal is about. */
  imagen?: string
  /**
   * State with which the courier could have taken the parcel before the action; undefined if the server offers none.
   */
  takenEstado?: Estado
}
/** Action of a courier. It is kept until the server has received it, and usually a day longer. */
export interface CourierAction {
  /** Number of the action, assigned by the store. Actions are sent in the order of their numbers. */
  order: number
  /** Idempotency key: the server performs the action once, however often the page sends it. */
  id: string
  repartidor: string
  nombre: string
  guia: string
  /** State of the guide after the action; null for a note. */
  estado: Estado | null
  ocurrido_en: string
  /** Time zone in which the page shows the action's time; null if the phone knew only the guide's code. */
  zona: string | null
  evento?: Pick<EventoParaRegistrar, 'motivo' | 'descripcion' | 'fecha' | 'lat' | 'lng'>
  entrega?: EntregaData
  fotos: Attachment[]
  firma: Attachment | null
  /** Signature as strokes. It is kept for a later correction of the delivery, when the signer is no longer there. */
  strokes: Strokes | null
  status: 'pendiente' | 'enviada' | 'atencion'
  intentos: number
  /** Earliest time of the next attempt, by the phone's clock, in milliseconds since the epoch. */
  notBefore: number
  /** True if the images were uploaded again, because the server no longer had them. */
  isReuploaded: boolean
  fault: StoredFailure | null
  /** True if the action changed the guide; null until the server reports the result. */
  aplicado: boolean | null
  terminada: number | null
}
export type EntregaPlace = Pick<EntregaData, 'lat' | 'lng' | 'precision_m' | 'distancia_avisada_m'>
/** Strokes of a signature, drawn on a canvas of the width `ancho`, in CSS pixels. */
export interface Strokes {
  ancho: number
  groups: unknown[]
}
/**
 * Delivery that a courier is filling in. It is stored, because the camera app may push the page out of memory at any
 * moment.
 */
export interface EntregaDraft {
  guia: string
  repartidor: string
  fotos: string[]
  /** Other parcels handed over at the same door. */
  otherParcels: OtherParcel[]
  strokes: Strokes | null
  /** Reason for which there is no signature; empty if there is none. */
  sin_firma: string
  nombre: string
  documento: string
  relacion: string
  descripcion: string
  /** Time of a delivery that came back to be corrected; null for any other draft. */
  ocurrido_en: string | null
  /** Time zone in which the page shows the delivery's time. */
  zona: string | null
  /** Place of a delivery that came back to be corrected; null for any other draft. */
  lugar: EntregaPlace | null
}
/** Guide as the courier's phone stores it. */
export interface StoredGuia {
  guia: string
  repartidor: string
  /** Guide as the server sent it; null if the phone has only the code, for example after a scan without coverage. */
  datos: GuiaDeReparto | null
  /** Time when the phone got the guide from the server, by the phone's clock, in milliseconds since the epoch. */
  readAt: number
  /**
   * Time when the phone got the guide, by the server's clock, rounded up, in milliseconds since the epoch. Later
   * actions on the guide are not dated before it.
   */
  serverReadAt: number
  /** True if the server said that no guide has this code. */
  isUnknown: boolean
  /** True if the server said that the guide is not assigned to the courier, who therefore may not see it. */
  isUnassigned?: boolean
}
/** Guides that are assigned to the courier, but that the courier does not carry yet. */
export interface AssignedGuias {
  guias: GuiaAsignada[]
  /** Time when the phone got them from the server, by the phone's clock, in milliseconds since the epoch. */
  readAt: number
}
/** Session on this phone; `isActive` until the server says that the session is over. */
export interface Sesion extends ServerSesion {
  isActive: boolean
}
interface Settings {
  sesion: Sesion
  /** Server's clock minus the phone's clock, in milliseconds. */
  clockOffset: number
  /** End of the pause that the server asked for, by the phone's clock, in milliseconds since the epoch. */
  pausedUntil: number
  /** Point at which the order of the stops begins: the last stop, or where the courier asked for the order. */
  desde: Point
  /** Guides that the courier finished today by the company's calendar, from the server's last answer. */
  hoy: AvanceDelDia
  asignadas: AssignedGuias
  /** Colours that the courier chose; absent if the phone chooses them. */
  theme: 'claro' | 'oscuro'
  /** Set if the courier signed out without coverage and the server does not know yet. */
  isSigningOut: true
  /** Set if the courier does not want to install the page. */
  declinesInstall: true
}
interface StoreSchema extends DBSchema {
  actions: { key: number; value: CourierAction; indexes: { guia: string } }
  imagenes: { key: string; value: StoredImage; indexes: { guia: string } }
  drafts: { key: string; value: EntregaDraft }
  guias: { key: string; value: StoredGuia }
  settings: { key: keyof Settings; value: Settings[keyof Settings] }
}

let abierta: Promise<IDBPDatabase<StoreSchema>> | undefined
/** Returns the connection to the database, which is opened at the first call. */
export function openPhoneDatabase() {
  abierta ??= openDB<StoreSchema>('repartidor', 2, {
    upgrade(db) {
      // Before the first release a version keeps nothing of an earlier one.
      for (const name of [...db.objectStoreNames]) db.deleteObjectStore(name)
      const actionStore = db.createObjectStore('actions', { keyPath: 'order', autoIncrement: true })
      actionStore.createIndex('guia', 'guia')
      db.createObjectStore('imagenes', { keyPath: 'id' }).createIndex('guia', 'guia')
      db.createObjectStore('drafts', { keyPath: 'guia' })
      db.createObjectStore('guias', { keyPath: 'guia' })
      db.createObjectStore('settings')
    },
    // A newer version in another tab must not wait for this tab to close its connection.
    blocking(_from, _a, evento) {
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

type StoreListener = () => void
const listeners = new Set<StoreListener>()
const canal = new BroadcastChannel('repartidor')
canal.addEventListener('message', ({ data }) => {
  if (data === 'cambio') for (const listener of listeners) listener()
})
/**
 * Calls `listener` after every change on the phone, in this tab or another.
 * @returns a function that removes the listener
 */
export function onStoreChange(listener: StoreListener) {
  listeners.add(listener)
  return () => void listeners.delete(listener)
}
function notifyChange() {
  for (const listener of listeners) listener()
  canal.postMessage('cambio')
}

type StoreName = 'actions' | 'imagenes' | 'drafts' | 'guias' | 'settings'
/** Read-write transaction over all stores. */
export type StoreTransaction = Awaited<ReturnType<typeof openTransaction>>
const openTransaction = async () =>
  (await openPhoneDatabase()).transaction(
    ['actions', 'imagenes', 'drafts', 'guias', 'settings'] satisfies StoreName[],
    'readwrite',
    {
      durability: 'strict',
    },
  )

/**
 * Runs `run` in one transaction over all stores: all its writes are kept, or none.
 * @returns the result of `run`
 * @throws the error of `run` or of the transaction
 */
export async function writeStore<T>(run: (tx: StoreTransaction) => Promise<T>): Promise<T> {
  const tx = await openTransaction()
  try {
    const value = await run(tx)
    await tx.done
    notifyChange()
    return value
  } catch (error) {
    try {
      tx.abort()
    } catch {
      // The transaction had ended already.
    }
    await tx.done.catch(() => {})
    throw error
  }
}

/** Tells whether an error means that the phone has no free storage. */
export const isOutOfSpace = (error: unknown) => error instanceof DOMException && error.name === 'QuotaExceededError'

/** Returns a setting; undefined if it is not set. */
export const readSetting = async <C extends keyof Settings>(key: C) =>
  (await (await openPhoneDatabase()).get('settings', key)) as Settings[C] | undefined

/** Stores a setting, or deletes it if the value is undefined. */
export const setSetting = <C extends keyof Settings>(key: C, value: Settings[C] | undefined) =>
  writeStore(async (tx) => {
    const settingStore = tx.objectStore('settings')
    if (value === undefined) await settingStore.delete(key)
    else await settingStore.put(value, key)
  })

/** Deletes images within a transaction. */
export const deleteImages = (tx: StoreTransaction, ids: readonly string[]) =>
  Promise.all(ids.map((id) => tx.objectStore('imagenes').delete(id)))
