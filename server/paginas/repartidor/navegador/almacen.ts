// What lies on the phone. Every write is durable before anything is said to be kept, and every tab hears of it.
import { type DBSchema, type IDBPDatabase, openDB } from 'idb'
import {
  type DatosDeEntrega,
  type Estado,
  type EventoParaRegistrar,
  esFinal,
  type GuiaDeReparto,
  pasosDesde,
  type Sesion as SesionDelServidor,
} from './dominio.ts'

/** Guides are somebody's address: they don't stay on the phone longer than a day's work. */
const CADUCAN_MS = 24 * 3_600_000

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
function abrir() {
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

// --- Who hears of changes ---

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
type Transaccion = Awaited<ReturnType<typeof transaccion>>
const transaccion = async () =>
  (await abrir()).transaction(
    ['acciones', 'imagenes', 'borradores', 'guias', 'ajustes'] satisfies Almacenes[],
    'readwrite',
    {
      durability: 'strict',
    },
  )

/** One transaction over everything: kept whole, or not at all. */
async function escribir<T>(hacer: (tx: Transaccion) => Promise<T>): Promise<T> {
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

// --- Settings ---

export const leerAjuste = async <C extends keyof Ajustes>(clave: C) =>
  (await (await abrir()).get('ajustes', clave)) as Ajustes[C] | undefined

export const ponerAjuste = <C extends keyof Ajustes>(clave: C, valor: Ajustes[C] | undefined) =>
  escribir(async (tx) => {
    const ajustes = tx.objectStore('ajustes')
    if (valor === undefined) await ajustes.delete(clave)
    else await ajustes.put(valor, clave)
  })

// --- Guides ---

export async function guiasDe(repartidor: string): Promise<GuiaGuardada[]> {
  const desde = Date.now() - CADUCAN_MS
  const guias = await (await abrir()).getAll('guias')
  return guias.filter((guia) => guia.repartidor === repartidor && guia.leida > desde)
}

export async function guiaDe(repartidor: string, guia: string) {
  return (await guiasDe(repartidor)).find((una) => una.guia === guia)
}

/** Of two copies the one with the higher `secuencia` is the newer, whichever arrived first. */
export const guardarGuias = (repartidor: string, leidas: readonly GuiaDeReparto[], servidor: number) =>
  escribir(async (tx) => {
    const guias = tx.objectStore('guias')
    for (const datos of leidas) {
      const previa = await guias.get(datos.guia)
      if (previa?.repartidor === repartidor && (previa.datos?.secuencia ?? 0) > datos.secuencia) continue
      await guias.put({
        guia: datos.guia,
        repartidor,
        datos: esFinal(datos.estado) ? sinPersona(datos) : datos,
        leida: Date.now(),
        vista: servidor,
        desconocida: false,
      })
    }
  })

/** Of a guide that is done only that is kept. */
const sinPersona = (datos: GuiaDeReparto): GuiaDeReparto => ({
  ...datos,
  destinatario: null,
  telefono: '',
  direccion: null,
  indicaciones: null,
  contenido: null,
  ubicacion: { estado: datos.ubicacion.estado, lat: null, lng: null, maps_url: null, referencia: null },
})

/** A code that was read where there is no coverage, or that the server doesn't know. */
export const guardarSinDatos = (repartidor: string, guia: string, desconocida: boolean) =>
  escribir(async (tx) => {
    const guias = tx.objectStore('guias')
    const previa = await guias.get(guia)
    if (previa?.repartidor === repartidor && previa.datos && !desconocida) return
    await guias.put({ guia, repartidor, datos: null, leida: Date.now(), vista: 0, desconocida })
  })

export const soltarGuia = (guia: string) => escribir((tx) => tx.objectStore('guias').delete(guia))

// --- Actions ---

export const acciones = async () => (await abrir()).getAll('acciones')
export const accion = async (orden: number) => (await abrir()).get('acciones', orden)
export const imagen = async (id: string) => (await abrir()).get('imagenes', id)

export type AccionNueva = Pick<
  Accion,
  'repartidor' | 'nombre' | 'guia' | 'estado' | 'evento' | 'entrega' | 'fotos' | 'firma' | 'trazos'
>

/**
 * Keeps an action with its time: corrected by what is known of the server's clock, and after whatever was done to or seen
 * of its guide before, or else the server would take it for a late scan.
 */
export const encolar = (nueva: AccionNueva, ahora: number, cuando: string | null, imagenes: readonly Imagen[] = []) =>
  escribir(async (tx) => {
    const [propias, desfase, vista] = await Promise.all([
      tx.objectStore('acciones').index('guia').getAll(nueva.guia),
      tx.objectStore('ajustes').get('desfase') as Promise<number | undefined>,
      tx.objectStore('guias').get(nueva.guia),
    ])
    const anteriores = propias.filter(({ falla }) => !falla).map(({ ocurrido_en }) => Date.parse(ocurrido_en) + 1)
    const instante = Math.max(ahora + (desfase ?? 0), vista?.vista ?? 0, ...anteriores)
    for (const imagen of imagenes) await tx.objectStore('imagenes').put(imagen)
    if (nueva.entrega) await tx.objectStore('borradores').delete(nueva.guia)
    const entera: Omit<Accion, 'orden'> = {
      ...nueva,
      id: crypto.randomUUID(),
      ocurrido_en: cuando ?? new Date(instante).toISOString(),
      zona: vista?.datos?.zona_horaria ?? null,
      situacion: 'pendiente',
      intentos: 0,
      noAntesDe: 0,
      resubida: false,
      falla: null,
      aplicado: null,
      terminada: null,
    }
    await tx.objectStore('acciones').add(entera as Accion)
  })

export const cambiarAccion = (orden: number, cambio: (accion: Accion) => Partial<Accion>) =>
  escribir(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (actual) await almacen.put({ ...actual, ...cambio(actual) })
  })

/** The server has it: what it held of people goes, and a guide that is done goes with it. */
export const terminarAccion = (
  orden: number,
  aplicado: boolean,
  guia: { estado: Estado; final: boolean; secuencia: number },
) =>
  escribir(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (!actual) return
    const { evento: _evento, entrega: _entrega, ...resto } = actual
    await borrarImagenes(
      tx,
      [...actual.fotos, ...(actual.firma ? [actual.firma] : [])].map(({ imagen: id }) => id),
    )
    await almacen.put({
      ...resto,
      fotos: [],
      firma: null,
      trazos: null,
      situacion: 'enviada',
      falla: null,
      aplicado,
      terminada: Date.now(),
    })
    const guias = tx.objectStore('guias')
    if (guia.final) return guias.delete(actual.guia)
    const guardada = await guias.get(actual.guia)
    if (guardada?.datos && guardada.datos.secuencia <= guia.secuencia) {
      const { estado, secuencia } = guia
      const siguientes = estado === guardada.datos.estado ? guardada.datos.siguientes : pasosDesde(estado)
      await guias.put({ ...guardada, datos: { ...guardada.datos, estado, secuencia, siguientes } })
    }
  })

const borrarImagenes = (tx: Transaccion, ids: readonly string[]) =>
  Promise.all(ids.map((id) => tx.objectStore('imagenes').delete(id)))

/** Gone, with its pictures. Only what never left the phone, or what the server refused. */
export const descartar = (orden: number) =>
  escribir(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (!actual || !descartable(actual)) return
    await borrarImagenes(
      tx,
      [...actual.fotos, ...(actual.firma ? [actual.firma] : [])].map(({ imagen: id }) => id),
    )
    await almacen.delete(orden)
  })
export const descartable = ({ situacion, intentos }: Accion) =>
  situacion === 'atencion' || (situacion === 'pendiente' && intentos === 0)

/** Back to the form, as it was filled in and with the time at which it happened; photos of another try meanwhile join it. */
export const reabrir = (orden: number) =>
  escribir(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (actual?.situacion !== 'atencion' || !actual.entrega) return
    const { recibido_por, descripcion = '', lat, lng, precision_m } = actual.entrega
    if (actual.firma) await borrarImagenes(tx, [actual.firma.imagen])
    const otro = await tx.objectStore('borradores').get(actual.guia)
    await tx.objectStore('borradores').put({
      guia: actual.guia,
      repartidor: actual.repartidor,
      fotos: [
        ...actual.fotos.map(({ imagen: id }) => id),
        ...(otro?.repartidor === actual.repartidor ? otro.fotos : []),
      ],
      trazos: actual.trazos,
      nombre: recibido_por.nombre,
      documento: recibido_por.documento ?? '',
      relacion: recibido_por.relacion ?? '',
      descripcion,
      ocurrido_en: actual.ocurrido_en,
      zona: actual.zona,
      lugar: lat === undefined ? null : { lat, lng, precision_m },
    })
    await almacen.delete(orden)
  })

// --- Drafts ---

export const borradores = async (repartidor: string) =>
  (await (await abrir()).getAll('borradores')).filter((borrador) => borrador.repartidor === repartidor)

export const borradorDe = async (guia: string) => (await abrir()).get('borradores', guia)

export const guardarBorrador = (borrador: Borrador, nueva?: Imagen, quitada?: string) =>
  escribir(async (tx) => {
    if (nueva) await tx.objectStore('imagenes').put(nueva)
    if (quitada) await tx.objectStore('imagenes').delete(quitada)
    await tx.objectStore('borradores').put(borrador)
  })

export const tirarBorrador = (guia: string) =>
  escribir(async (tx) => {
    const borrador = await tx.objectStore('borradores').get(guia)
    if (!borrador) return
    await borrarImagenes(tx, borrador.fotos)
    await tx.objectStore('borradores').delete(guia)
  })

// --- Forgetting ---

/** What is old or nobody's. Unsent actions and drafts stay, whatever their age. */
export const limpiar = () =>
  escribir(async (tx) => {
    const desde = Date.now() - CADUCAN_MS
    const usadas = new Set<string>()
    for (const una of await tx.objectStore('acciones').getAll()) {
      if (una.situacion === 'enviada' && (una.terminada ?? 0) < desde)
        await tx.objectStore('acciones').delete(una.orden)
      for (const adjunto of [...una.fotos, ...(una.firma ? [una.firma] : [])]) usadas.add(adjunto.imagen)
    }
    for (const borrador of await tx.objectStore('borradores').getAll()) for (const id of borrador.fotos) usadas.add(id)
    for (const id of await tx.objectStore('imagenes').getAllKeys()) if (!usadas.has(id)) await borrarImagenes(tx, [id])
    for (const guia of await tx.objectStore('guias').getAll()) {
      if (guia.leida < desde) await tx.objectStore('guias').delete(guia.guia)
    }
  })

/** A courier signs in. What somebody else had at hand is not for him; what somebody else did and isn't sent yet stays. */
export const entrar = (sesion: SesionDelServidor) =>
  escribir(async (tx) => {
    for (const guia of await tx.objectStore('guias').getAll()) {
      if (guia.repartidor !== sesion.repartidor) await tx.objectStore('guias').delete(guia.guia)
    }
    await tx.objectStore('ajustes').delete('salir')
    await tx.objectStore('ajustes').put({ ...sesion, vigente: true }, 'sesion')
  })

/** Everything of people goes but what still has to be sent. `sinAvisar`: the server could not be told. */
export const olvidar = (sinAvisar: boolean) =>
  escribir(async (tx) => {
    await tx.objectStore('guias').clear()
    for (const borrador of await tx.objectStore('borradores').getAll()) await borrarImagenes(tx, borrador.fotos)
    await tx.objectStore('borradores').clear()
    for (const una of await tx.objectStore('acciones').getAll()) {
      if (una.situacion === 'enviada') await tx.objectStore('acciones').delete(una.orden)
    }
    await tx.objectStore('ajustes').delete('sesion')
    if (sinAvisar) await tx.objectStore('ajustes').put(true, 'salir')
  })
