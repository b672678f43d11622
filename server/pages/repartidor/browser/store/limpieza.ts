// Rules for what stays on the phone, and for how long.
import type { Sesion as SesionDelServidor } from '../dominio.ts'
import { borrarImagenes, CADUCAN_MS, escribirAlmacen } from './base.ts'

/**
 * Deletes guides and sent actions older than a day, and images that nothing uses. Unsent actions and drafts stay at any
 * age.
 */
export const limpiarAlmacen = () =>
  escribirAlmacen(async (tx) => {
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

/** Starts the session of a courier. The guides of other couriers are deleted; their unsent actions stay. */
export const entrar = (sesion: SesionDelServidor) =>
  escribirAlmacen(async (tx) => {
    for (const guia of await tx.objectStore('guias').getAll()) {
      if (guia.repartidor !== sesion.repartidor) await tx.objectStore('guias').delete(guia.guia)
    }
    for (const clave of ['salir', 'hoy', 'asignadas', 'desde'] as const) await tx.objectStore('ajustes').delete(clave)
    await tx.objectStore('ajustes').put({ ...sesion, vigente: true }, 'sesion')
  })

/**
 * Deletes all personal data except the actions that still have to be sent.
 * @param sinAvisar true if the server does not know yet that the courier has signed out
 */
export const olvidarSesion = (sinAvisar: boolean) =>
  escribirAlmacen(async (tx) => {
    await tx.objectStore('guias').clear()
    for (const borrador of await tx.objectStore('borradores').getAll()) await borrarImagenes(tx, borrador.fotos)
    await tx.objectStore('borradores').clear()
    for (const una of await tx.objectStore('acciones').getAll()) {
      if (una.situacion === 'enviada') await tx.objectStore('acciones').delete(una.orden)
    }
    for (const clave of ['sesion', 'hoy', 'asignadas', 'desde'] as const) await tx.objectStore('ajustes').delete(clave)
    if (sinAvisar) await tx.objectStore('ajustes').put(true, 'salir')
  })
