// Actions of couriers on the phone, until the server has them.
import type { Point } from '../../../../platform/maps/point.ts'
import { headingOf } from '../heading.ts'
import { pointOf } from '../stops.ts'
import { type Estado, type GuiaDeReparto, isFinalEstado, stepsAfter, takesParcel } from '../vocabulary.ts'
import {
  type CourierAction,
  deleteImages,
  openPhoneDatabase,
  type StoredImage,
  type StoreTransaction,
  writeStore,
} from './base.ts'

/** Returns all actions, in the order in which they are sent. */
export const readActions = async () => (await openPhoneDatabase()).getAll('actions')
/** Returns an action by its number; undefined if it no longer exists. */
export const readAction = async (order: number) => (await openPhoneDatabase()).get('actions', order)
/** Returns an image by its id; undefined if it no longer exists. */
export const readStoredImage = async (id: string) => (await openPhoneDatabase()).get('imagenes', id)

/** Time for which the courier can undo a step before it is sent, in milliseconds. */
export const UNDO_MS = 6_000

/** Fields of a new action; {@link enqueue} fills in the other fields. */
export type NewAction = Pick<
  CourierAction,
  'repartidor' | 'nombre' | 'guia' | 'estado' | 'evento' | 'entrega' | 'fotos' | 'firma' | 'strokes'
>

/**
 * Stores actions in one transaction, each with its time. The phone's clock is corrected by the known difference from
 * the server's clock. The time is never before the guide's earlier actions, nor before the phone last got the guide
 * from the server. The server would otherwise take the action for a late scan.
 * @param now time by the phone's clock, in milliseconds since the epoch
 * @param fixedTime time of the actions in ISO 8601, if it is already fixed
 * @param images images to store with the actions
 * @param undoMs time for which the actions wait before they are sent, in milliseconds, so that the courier can undo them
 */
export const enqueue = (
  newActions: readonly NewAction[],
  now: number,
  fixedTime: string | null = null,
  images: readonly StoredImage[] = [],
  undoMs = 0,
) =>
  writeStore(async (tx) => {
    const clockOffset = (await tx.objectStore('settings').get('clockOffset')) as number | undefined
    for (const image of images) await tx.objectStore('imagenes').put(image)
    const notBefore = undoMs && Date.now() + undoMs
    for (const newAction of newActions)
      await addAction(tx, { ...newAction, notBefore }, now + (clockOffset ?? 0), fixedTime)
  })

async function addAction(
  tx: StoreTransaction,
  newAction: NewAction & Pick<CourierAction, 'notBefore'>,
  now: number,
  fixedTime: string | null,
) {
  const [guiaActions, storedGuia] = await Promise.all([
    tx.objectStore('actions').index('guia').getAll(newAction.guia),
    tx.objectStore('guias').get(newAction.guia),
  ])
  const earlierTimes = guiaActions.filter(({ fault }) => !fault).map(({ ocurrido_en }) => Date.parse(ocurrido_en) + 1)
  const instant = Math.max(now, storedGuia?.serverReadAt ?? 0, ...earlierTimes)
  if (newAction.entrega) await tx.objectStore('drafts').delete(newAction.guia)
  const fullAction: Omit<CourierAction, 'order'> = {
    ...newAction,
    id: crypto.randomUUID(),
    ocurrido_en: fixedTime ?? new Date(instant).toISOString(),
    zona: storedGuia?.datos?.zona_horaria ?? null,
    status: 'pendiente',
    intentos: 0,
    isReuploaded: false,
    fault: null,
    aplicado: null,
    terminada: null,
  }
  await tx.objectStore('actions').add(fullAction as CourierAction)
  const stopPoint = fixedTime === null && pointOfAction(newAction, storedGuia?.datos ?? null)
  if (stopPoint) await tx.objectStore('settings').put(stopPoint, 'desde')
}

/** States that a courier reports at the guide's destination. */
const AT_DESTINO: readonly (Estado | null)[] = ['entregado', 'intento_fallido', 'devuelto']

/** Returns the point where an action happened: the phone's position, or else the place to which the guide led. */
const pointOfAction = ({ estado, entrega, evento }: NewAction, datos: GuiaDeReparto | null): Point | null =>
  pointOf(entrega) ??
  pointOf(evento) ??
  (AT_DESTINO.includes(estado) ? pointOf(headingOf(datos, datos?.estado ?? null)?.lugar) : null)

/** Changes fields of actions in one transaction. Skips actions that no longer exist. */
export const changeActions = (
  actions: readonly Pick<CourierAction, 'order'>[],
  change: (action: CourierAction) => Partial<CourierAction>,
) =>
  writeStore(async (tx) => {
    const actionStore = tx.objectStore('actions')
    for (const { order } of actions) {
      const current = await actionStore.get(order)
      if (current) await actionStore.put({ ...current, ...change(current) })
    }
  })
/** Changes fields of an action; does nothing if it no longer exists. */
export const changeAction = (order: number, change: (action: CourierAction) => Partial<CourierAction>) =>
  changeActions([{ order }], change)

/** Action that the server has received, and the guide's state after it as the server reports it. */
type FinishedAction = Pick<CourierAction, 'order'> & { aplicado: boolean; estado: Estado; secuencia: number }

/**
 * Marks actions as received by the server, in one transaction, and deletes their personal data. Also deletes each guide
 * whose state is final.
 */
export const finishActions = (actions: readonly FinishedAction[]) =>
  writeStore(async (tx) => {
    for (const action of actions) await finishAction(tx, action)
  })

async function finishAction(tx: StoreTransaction, { order, aplicado, estado, secuencia }: FinishedAction) {
  const actionStore = tx.objectStore('actions')
  const current = await actionStore.get(order)
  if (!current) return
  const { evento, entrega: _entrega, ...rest } = current
  await deleteImages(
    tx,
    [...current.fotos, ...(current.firma ? [current.firma] : [])].map(({ imagen: id }) => id),
  )
  await actionStore.put({
    ...rest,
    // The list shows the reason of an attempt for the rest of the day.
    ...(evento?.motivo ? { evento: { motivo: evento.motivo } } : {}),
    fotos: [],
    firma: null,
    strokes: null,
    status: 'enviada',
    fault: null,
    aplicado,
    terminada: Date.now(),
  })
  const guias = tx.objectStore('guias')
  if (isFinalEstado(estado)) return void (await guias.delete(current.guia))
  const storedGuia = await guias.get(current.guia)
  if (!storedGuia?.datos || storedGuia.datos.secuencia > secuencia) return
  // A courier who took the parcel may now see all data of the guide, so the guide is fetched again.
  const foreign = takesParcel(current.estado) && storedGuia.datos.custodia !== 'propia'
  const siguientes = estado === storedGuia.datos.estado ? storedGuia.datos.siguientes : stepsAfter(estado)
  await guias.put({ ...storedGuia, datos: foreign ? null : { ...storedGuia.datos, estado, secuencia, siguientes } })
}

/**
 * Inserts before a refused action the missing action with which its courier took the parcel. The refused action and the
 * guide's later unsent actions follow, in their order and with their times.
 * @param estado state of the guide after the inserted action
 */
export const insertTakeBefore = (order: number, estado: Estado) =>
  writeStore(async (tx) => {
    const actionStore = tx.objectStore('actions')
    const current = await actionStore.get(order)
    if (current?.status !== 'atencion') return
    const { order: _order, entrega: _entrega, ...rest } = current
    const pending = { status: 'pendiente', intentos: 0, noAntesDe: 0, isReuploaded: false, falla: null } as const
    const takeAction: Omit<CourierAction, 'order'> = {
      ...rest,
      ...pending,
      id: crypto.randomUUID(),
      estado,
      ocurrido_en: new Date(Date.parse(current.ocurrido_en) - 1).toISOString(),
      evento: {},
      fotos: [],
      firma: null,
      strokes: null,
    }
    const laterActions = (await actionStore.index('guia').getAll(current.guia)).filter(
      (action) => action.order >= order && action.status !== 'enviada' && action.repartidor === current.repartidor,
    )
    await actionStore.add(takeAction as CourierAction)
    for (const { order: actionNumber, ...action } of laterActions) {
      await actionStore.delete(actionNumber)
      await actionStore.add((actionNumber === order ? { ...action, ...pending } : action) as CourierAction)
    }
  })

/** Deletes an action and its images, if the action never left the phone or the server refused it. */
export const discardAction = (order: number) =>
  writeStore(async (tx) => {
    const actionStore = tx.objectStore('actions')
    const current = await actionStore.get(order)
    if (!current || !isDiscardable(current)) return
    await deleteImages(
      tx,
      [...current.fotos, ...(current.firma ? [current.firma] : [])].map(({ imagen: id }) => id),
    )
    await actionStore.delete(order)
  })
/** Tells whether an action may be deleted: it never left the phone, or the server refused it. */
export const isDiscardable = ({ status, intentos }: CourierAction) =>
  status === 'atencion' || (status === 'pendiente' && intentos === 0)

/** Fields of a draft that its delivery keeps. */
const draftFieldsOf = ({ guia, repartidor, fotos, strokes, entrega }: CourierAction) => ({
  guia,
  repartidor,
  fotos: fotos.map(({ imagen: id }) => id),
  strokes,
  sin_firma: entrega!.sin_firma ?? '',
  nombre: entrega!.recibido_por.nombre,
  documento: entrega!.recibido_por.documento ?? '',
  relacion: entrega!.recibido_por.relacion ?? '',
  descripcion: entrega!.descripcion ?? '',
})

/**
 * Turns a refused delivery back into a draft with the same data and time. Photos of another draft of the same courier
 * are added to it.
 */
export const reopenEntrega = (order: number) =>
  writeStore(async (tx) => {
    const actionStore = tx.objectStore('actions')
    const current = await actionStore.get(order)
    if (current?.status !== 'atencion' || !current.entrega) return
    const { lat, lng, precision_m, distancia_avisada_m } = current.entrega
    if (current.firma) await deleteImages(tx, [current.firma.imagen])
    const other = await tx.objectStore('drafts').get(current.guia)
    const draft = draftFieldsOf(current)
    await tx.objectStore('drafts').put({
      ...draft,
      fotos: [...draft.fotos, ...(other?.repartidor === current.repartidor ? other.fotos : [])],
      otherParcels: [],
      ocurrido_en: current.ocurrido_en,
      zona: current.zona,
      lugar: lat === undefined ? null : { lat, lng, precision_m, distancia_avisada_m },
    })
    await actionStore.delete(order)
  })

/**
 * Tells whether a time is still in the future. A time more than `maxMs` milliseconds ahead does not count, because
 * then the phone's clock was set back after the time was stored.
 */
export function isAhead(until: number, maxMs: number): boolean {
  const ms = until - Date.now()
  return ms > 0 && ms <= maxMs
}

/** Tells whether an action still waits for the courier to undo it. The queue sends it only afterwards. */
export const canBeUndone = ({ status, intentos, notBefore }: CourierAction) =>
  status === 'pendiente' && intentos === 0 && isAhead(notBefore, UNDO_MS)

/** Ends the time in which actions can be undone. */
export const endUndo = (orders: readonly number[]) =>
  changeActions(
    orders.map((order) => ({ order })),
    (action) => (canBeUndone(action) ? { notBefore: 0 } : {}),
  )

/**
 * Undoes the actions of one step, and deletes their images. A delivery becomes a draft again, the other parcels of its
 * door included.
 * @param orders numbers of the actions; the first belongs to the guide of the form
 * @returns false if one of the actions does not wait any more
 */
export const undoActions = (orders: readonly number[]) =>
  writeStore(async (tx) => {
    const actionStore = tx.objectStore('actions')
    const actions = (await Promise.all(orders.map((order) => actionStore.get(order)))).filter((action) => !!action)
    const [formAction, ...otherActions] = actions
    if (!formAction || actions.length < orders.length || !actions.every(canBeUndone)) return false
    const draft = formAction.entrega && draftFieldsOf(formAction)
    const keptImages = draft?.fotos ?? []
    const images = actions.flatMap(({ fotos, firma }) => [...fotos, ...(firma ? [firma] : [])])
    const imageIds = images.map(({ imagen: id }) => id)
    await deleteImages(
      tx,
      imageIds.filter((id) => !keptImages.includes(id)),
    )
    if (draft) {
      const otherParcels = otherActions.map(({ guia, entrega }) => {
        const { nombre, relacion = '' } = entrega!.recibido_por
        return { guia, nombre: nombre === draft.nombre ? null : nombre, relacion, wasAsked: true }
      })
      await tx.objectStore('drafts').put({ ...draft, otherParcels, ocurrido_en: null, zona: null, lugar: null })
    }
    for (const order of orders) await actionStore.delete(order)
    return true
  })
