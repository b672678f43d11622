// Actions of couriers on the phone, until the server has them.
import type { Point } from '../../../../platform/maps/point.ts'
import { type Estado, esEstadoFinal, type GuiaDeReparto, pasosDesde, tomaElPaquete } from '../dominio.ts'
import { puntoDe } from '../paradas.ts'
import { rumboDe } from '../rumbo.ts'
import { type Accion, abrir, borrarImagenes, escribirAlmacen, type ImagenGuardada, type Transaccion } from './base.ts'

/** Returns all actions, in the order in which they are sent. */
export const acciones = async () => (await abrir()).getAll('acciones')
/** Returns an action by its number; undefined if it no longer exists. */
export const accion = async (orden: number) => (await abrir()).get('acciones', orden)
/** Returns an image by its id; undefined if it no longer exists. */
export const imagen = async (id: string) => (await abrir()).get('imagenes', id)

/** Fields of a new action; {@link encolar} fills in the other fields. */
export type AccionNueva = Pick<
  Accion,
  'repartidor' | 'nombre' | 'guia' | 'estado' | 'evento' | 'entrega' | 'fotos' | 'firma' | 'trazos'
>

/**
 * Stores actions in one transaction, each with its time. The phone's clock is corrected by the known difference from
 * the server's clock. The time is never before the guide's earlier actions, nor before the phone last got the guide
 * from the server. The server would otherwise take the action for a late scan.
 * @param ahora time by the phone's clock, in milliseconds since the epoch
 * @param cuando time of the actions in ISO 8601, if it is already fixed
 * @param imagenes images to store with the actions
 */
export const encolar = (
  nuevas: readonly AccionNueva[],
  ahora: number,
  cuando: string | null = null,
  imagenes: readonly ImagenGuardada[] = [],
) =>
  escribirAlmacen(async (tx) => {
    const desfase = (await tx.objectStore('ajustes').get('desfase')) as number | undefined
    for (const imagen of imagenes) await tx.objectStore('imagenes').put(imagen)
    for (const nueva of nuevas) await agregar(tx, nueva, ahora + (desfase ?? 0), cuando)
  })

async function agregar(tx: Transaccion, nueva: AccionNueva, ahora: number, cuando: string | null) {
  const [propias, vista] = await Promise.all([
    tx.objectStore('acciones').index('guia').getAll(nueva.guia),
    tx.objectStore('guias').get(nueva.guia),
  ])
  const anteriores = propias.filter(({ falla }) => !falla).map(({ ocurrido_en }) => Date.parse(ocurrido_en) + 1)
  const instante = Math.max(ahora, vista?.vista ?? 0, ...anteriores)
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
  const parada = cuando === null && dondeFue(nueva, vista?.datos ?? null)
  if (parada) await tx.objectStore('ajustes').put(parada, 'desde')
}

/** States that a courier reports at the guide's destination. */
const EN_EL_DESTINO: readonly (Estado | null)[] = ['entregado', 'intento_fallido', 'devuelto']

/** Returns the point where an action happened: the phone's position, or else the place to which the guide led. */
const dondeFue = ({ estado, entrega, evento }: AccionNueva, datos: GuiaDeReparto | null): Point | null =>
  puntoDe(entrega) ??
  puntoDe(evento) ??
  (EN_EL_DESTINO.includes(estado) ? puntoDe(rumboDe(datos, datos?.estado ?? null)?.lugar) : null)

/** Changes fields of actions in one transaction. Skips actions that no longer exist. */
export const cambiarAcciones = (unas: readonly Pick<Accion, 'orden'>[], cambio: (accion: Accion) => Partial<Accion>) =>
  escribirAlmacen(async (tx) => {
    const almacen = tx.objectStore('acciones')
    for (const { orden } of unas) {
      const actual = await almacen.get(orden)
      if (actual) await almacen.put({ ...actual, ...cambio(actual) })
    }
  })
/** Changes fields of an action; does nothing if it no longer exists. */
export const cambiarAccion = (orden: number, cambio: (accion: Accion) => Partial<Accion>) =>
  cambiarAcciones([{ orden }], cambio)

/** Action that the server has received, and the guide's state after it as the server reports it. */
type Terminada = Pick<Accion, 'orden'> & { aplicado: boolean; estado: Estado; secuencia: number }

/**
 * Marks actions as received by the server, in one transaction, and deletes their personal data. Also deletes each guide
 * whose state is final.
 */
export const terminarAcciones = (unas: readonly Terminada[]) =>
  escribirAlmacen(async (tx) => {
    for (const una of unas) await terminar(tx, una)
  })

async function terminar(tx: Transaccion, { orden, aplicado, estado, secuencia }: Terminada) {
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
  if (esEstadoFinal(estado)) return void (await guias.delete(actual.guia))
  const guardada = await guias.get(actual.guia)
  if (!guardada?.datos || guardada.datos.secuencia > secuencia) return
  // A courier who took the parcel may now see all data of the guide, so the guide is fetched again.
  const ajena = tomaElPaquete(actual.estado) && guardada.datos.custodia !== 'propia'
  const siguientes = estado === guardada.datos.estado ? guardada.datos.siguientes : pasosDesde(estado)
  await guias.put({ ...guardada, datos: ajena ? null : { ...guardada.datos, estado, secuencia, siguientes } })
}

/**
 * Inserts before a refused action the missing action with which its courier took the parcel. The refused action and the
 * guide's later unsent actions follow, in their order and with their times.
 * @param estado state of the guide after the inserted action
 */
export const tomarAntes = (orden: number, estado: Estado) =>
  escribirAlmacen(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (actual?.situacion !== 'atencion') return
    const { orden: _orden, entrega: _entrega, ...resto } = actual
    const pendiente = { situacion: 'pendiente', intentos: 0, noAntesDe: 0, resubida: false, falla: null } as const
    const toma: Omit<Accion, 'orden'> = {
      ...resto,
      ...pendiente,
      id: crypto.randomUUID(),
      estado,
      ocurrido_en: new Date(Date.parse(actual.ocurrido_en) - 1).toISOString(),
      evento: {},
      fotos: [],
      firma: null,
      trazos: null,
    }
    const siguen = (await almacen.index('guia').getAll(actual.guia)).filter(
      (una) => una.orden >= orden && una.situacion !== 'enviada' && una.repartidor === actual.repartidor,
    )
    await almacen.add(toma as Accion)
    for (const { orden: suyo, ...una } of siguen) {
      await almacen.delete(suyo)
      await almacen.add((suyo === orden ? { ...una, ...pendiente } : una) as Accion)
    }
  })

/** Deletes an action and its images, if the action never left the phone or the server refused it. */
export const descartar = (orden: number) =>
  escribirAlmacen(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (!actual || !descartable(actual)) return
    await borrarImagenes(
      tx,
      [...actual.fotos, ...(actual.firma ? [actual.firma] : [])].map(({ imagen: id }) => id),
    )
    await almacen.delete(orden)
  })
/** Tells whether an action may be deleted: it never left the phone, or the server refused it. */
export const descartable = ({ situacion, intentos }: Accion) =>
  situacion === 'atencion' || (situacion === 'pendiente' && intentos === 0)

/**
 * Turns a refused delivery back into a draft with the same data and time. Photos of another draft of the same courier
 * are added to it.
 */
export const reabrir = (orden: number) =>
  escribirAlmacen(async (tx) => {
    const almacen = tx.objectStore('acciones')
    const actual = await almacen.get(orden)
    if (actual?.situacion !== 'atencion' || !actual.entrega) return
    const {
      recibido_por,
      descripcion = '',
      sin_firma = '',
      lat,
      lng,
      precision_m,
      distancia_avisada_m,
    } = actual.entrega
    if (actual.firma) await borrarImagenes(tx, [actual.firma.imagen])
    const otro = await tx.objectStore('borradores').get(actual.guia)
    await tx.objectStore('borradores').put({
      guia: actual.guia,
      repartidor: actual.repartidor,
      fotos: [
        ...actual.fotos.map(({ imagen: id }) => id),
        ...(otro?.repartidor === actual.repartidor ? otro.fotos : []),
      ],
      otras: [],
      trazos: actual.trazos,
      sin_firma,
      nombre: recibido_por.nombre,
      documento: recibido_por.documento ?? '',
      relacion: recibido_por.relacion ?? '',
      descripcion,
      ocurrido_en: actual.ocurrido_en,
      zona: actual.zona,
      lugar: lat === undefined ? null : { lat, lng, precision_m, distancia_avisada_m },
    })
    await almacen.delete(orden)
  })
