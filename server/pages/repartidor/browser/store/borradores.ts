// Deliveries that couriers are filling in.
import { abrir, type Borrador, borrarImagenes, escribirAlmacen, type ImagenGuardada } from './base.ts'

/** Returns the drafts of a courier. */
export const borradores = async (repartidor: string) =>
  (await (await abrir()).getAll('borradores')).filter((borrador) => borrador.repartidor === repartidor)

/** Returns the draft of a guide, of any courier; undefined if there is none. */
export const borradorDe = async (guia: string) => (await abrir()).get('borradores', guia)

/**
 * Stores a draft. In the same transaction, it may store a new photo or delete a photo.
 * @param quitada id of the photo to delete
 */
export const guardarBorrador = (borrador: Borrador, nueva?: ImagenGuardada, quitada?: string) =>
  escribirAlmacen(async (tx) => {
    if (nueva) await tx.objectStore('imagenes').put(nueva)
    if (quitada) await tx.objectStore('imagenes').delete(quitada)
    await tx.objectStore('borradores').put(borrador)
  })

/** Deletes the draft of a guide, with its photos. */
export const tirarBorrador = (guia: string) =>
  escribirAlmacen(async (tx) => {
    const borrador = await tx.objectStore('borradores').get(guia)
    if (!borrador) return
    await borrarImagenes(tx, borrador.fotos)
    await tx.objectStore('borradores').delete(guia)
  })
