// Deliveries that are being filled in.
import { abrir, type Borrador, borrarImagenes, escribir, type Imagen } from './base.ts'

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
