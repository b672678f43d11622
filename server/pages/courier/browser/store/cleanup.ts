// Rules for what stays on the phone, and for how long.
import type { Sesion as ServerSesion } from '../vocabulary.ts'
import { deleteImages, GUIA_MAX_AGE_MS, writeStore } from './base.ts'

/**
 * Deletes guides and sent actions older than a day, and images that nothing uses. Unsent actions and drafts stay at any
 * age.
 */
export const cleanStore = () =>
  writeStore(async (tx) => {
    const from = Date.now() - GUIA_MAX_AGE_MS
    const usedImages = new Set<string>()
    for (const action of await tx.objectStore('actions').getAll()) {
      if (action.status === 'enviada' && (action.terminada ?? 0) < from)
        await tx.objectStore('actions').delete(action.order)
      for (const attachment of [...action.fotos, ...(action.firma ? [action.firma] : [])])
        usedImages.add(attachment.imagen)
    }
    for (const draft of await tx.objectStore('drafts').getAll()) for (const id of draft.fotos) usedImages.add(id)
    for (const id of await tx.objectStore('imagenes').getAllKeys())
      if (!usedImages.has(id)) await deleteImages(tx, [id])
    for (const guia of await tx.objectStore('guias').getAll()) {
      if (guia.readAt < from) await tx.objectStore('guias').delete(guia.guia)
    }
  })

/** Starts the session of a courier. The guides of other couriers are deleted; their unsent actions stay. */
export const signIn = (sesion: ServerSesion) =>
  writeStore(async (tx) => {
    for (const guia of await tx.objectStore('guias').getAll()) {
      if (guia.repartidor !== sesion.repartidor) await tx.objectStore('guias').delete(guia.guia)
    }
    for (const key of ['isSigningOut', 'hoy', 'asignadas', 'desde'] as const)
      await tx.objectStore('settings').delete(key)
    await tx.objectStore('settings').put({ ...sesion, isActive: true }, 'sesion')
  })

/**
 * Deletes all personal data except the actions that still have to be sent.
 * @param isServerUninformed true if the server does not know yet that the courier has signed out
 */
export const forgetSesion = (isServerUninformed: boolean) =>
  writeStore(async (tx) => {
    await tx.objectStore('guias').clear()
    for (const draft of await tx.objectStore('drafts').getAll()) await deleteImages(tx, draft.fotos)
    await tx.objectStore('drafts').clear()
    for (const action of await tx.objectStore('actions').getAll()) {
      if (action.status === 'enviada') await tx.objectStore('actions').delete(action.order)
    }
    for (const key of ['sesion', 'hoy', 'asignadas', 'desde'] as const) await tx.objectStore('settings').delete(key)
    if (isServerUninformed) await tx.objectStore('settings').put(true, 'isSigningOut')
  })
