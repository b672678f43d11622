import type { Handler } from '../contrato/tipos.ts'
import { Problema } from '../errores.ts'
import { estaVigente, exigirLlave, guardarOtra } from './llave.ts'

const HORA = 3_600_000
const SOLAPAMIENTO_POR_OMISION = 24

/**
 * Creates the new key before the old one gets its end: if the second write is lost, both work and the rotation can be
 * repeated.
 */
export const rotarLlave: Handler<'rotarLlave'> = async ({ path, body }, { db, reloj }) => {
  const vieja = await exigirLlave(db, path.llave)
  const ahora = reloj()
  if (!estaVigente(vieja, ahora)) {
    const que = vieja.revocado_en ? 'fue revocada' : 'venció'
    throw new Problema('llave_inactiva', `La llave ${que} y no se puede rotar. Cree una llave nueva.`)
  }
  const llave = await guardarOtra(db, ahora, vieja)
  const fin = new Date(ahora.getTime() + (body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION) * HORA)
  if (!vieja.vence_en || fin < vieja.vence_en)
    await db.prisma.llave.update({ where: { id: vieja.id }, data: { vence_en: fin } })
  return { status: 201, body: llave }
}
