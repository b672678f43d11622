import { inTransaction, statement } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { enBitacora, estaVigente, exigirAlcancesPropios, exigirLlave, guardarOtra } from './llave.ts'

const HORA = 3_600_000
const SOLAPAMIENTO_POR_OMISION = 24

const VENCER = statement<{ id: string; vence_en: Date }>(
  'llaves.vencer',
  'update llave set vence_en = :vence_en where id = :id and (vence_en is null or vence_en > :vence_en)',
)

export const rotarLlave: Handler<'rotarLlave'> = async ({ path, body, ...quien }, { db, reloj, bitacora }) => {
  const vieja = await exigirLlave(db, path.llave)
  if (vieja.tipo === 'oper')
    exigirAlcancesPropios(quien.identidad, vieja.alcances, 'Rótela con una llave que los tenga.')
  const ahora = reloj()
  if (!estaVigente(vieja, ahora)) {
    const que = vieja.revocado_en ? 'fue revocada' : 'venció'
    throw new Problema('llave_inactiva', `La llave ${que} y no se puede rotar. Cree una llave nueva.`)
  }
  const fin = new Date(ahora.getTime() + (body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION) * HORA)
  const creada = await inTransaction(db.central, async (consultar) => {
    const llave = await guardarOtra({ consultar }, ahora, vieja)
    await consultar(VENCER, { id: vieja.id, vence_en: fin })
    await bitacora.anotar(consultar, quien, {
      accion: 'rotarLlave',
      sobre: ['llave', path.llave],
      ...enBitacora(vieja),
      antes: { vence_en: vieja.vence_en },
      despues: { vence_en: vieja.vence_en && vieja.vence_en < fin ? vieja.vence_en : fin, nueva: llave.id },
    })
    return llave
  })
  return { status: 201, body: creada }
}
