// Deliveries that couriers are filling in.
import { deleteImages, type EntregaDraft, openPhoneDatabase, type StoredImage, writeStore } from './base.ts'

export const readDrafts = async (repartidor: string) =>
  (await (await openPhoneDatabase()).getAll('drafts')).filter((draft) => draft.repartidor === repartidor)

/** Returns the draft of a guide, of any courier; undefined if there is none. */
export const readDraft = async (guia: string) => (await openPhoneDatabase()).get('drafts', guia)

/**
 * Stores a draft. In the same transaction, it may store a new photo or delete a photo.
 * @param removedImage id of the photo to delete
 */
export const storeDraft = (draft: EntregaDraft, newImage?: StoredImage, removedImage?: string) =>
  writeStore(async (tx) => {
    if (newImage) await tx.objectStore('imagenes').put(newImage)
    if (removedImage) await tx.objectStore('imagenes').delete(removedImage)
    await tx.objectStore('drafts').put(draft)
  })

/** Deletes the draft of a guide, with its photos. */
export const discardDraft = (guia: string) =>
  writeStore(async (tx) => {
    const draft = await tx.objectStore('drafts').get(guia)
    if (!draft) return
    await deleteImages(tx, draft.fotos)
    await tx.objectStore('drafts').delete(guia)
  })
