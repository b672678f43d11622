import { inTransaction } from '../../data/db.ts'
import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import {
  enBitacora,
  estaVigente,
  exigirAlcancesPropios,
  exigirLlave,
  finDelSolapamiento,
  guardarOtra,
  vencerLlave,
} from './llave.ts'
import { pedirLlave } from './pedirLlave.ts'

const SOLAPAMIENTO_POR_OMISION = 24

export const rotarLlave: Handler<'rotarLlave'> = async ({ path, body, ...quien }, deps) => {
  const { db, reloj, bitacora, avisarTrabajo } = deps
  const vieja = await exigirLlave(db, path.llave)
  if (vieja.tipo === 'oper')
    exigirAlcancesPropios(quien.identidad, vieja.alcances, 'Rótela con una llave que los tenga.')
  const ahora = reloj()
  if (!estaVigente(vieja, ahora)) {
    const que = vieja.revocado_en ? 'fue revocada' : 'venció'
    throw new Problema('llave_inactiva', `La llave ${que} y no se puede rotar. Cree una llave nueva.`)
  }
  const solapamiento_horas = body?.solapamiento_horas ?? SOLAPAMIENTO_POR_OMISION
  const hecha = await inTransaction(db.central, async (consultar) => {
    if (vieja.tipo === 'oper') {
      const { dueno: operador, nombre, alcances, vence_en, redes } = vieja
      const rotacion = { rota: path.llave, solapamiento_horas }
      const llave = { operador: { operador, nombre }, alcances, vence_en, redes, rotacion }
      const pedida = await pedirLlave(consultar, deps, quien, llave)
      if (pedida) return { status: 202 as const, body: pedida }
    }
    const llave = await guardarOtra({ consultar }, ahora, vieja)
    const despues = await vencerLlave(consultar, vieja, finDelSolapamiento(ahora, solapamiento_horas))
    await bitacora.anotar(consultar, quien, {
      accion: 'rotarLlave',
      sobre: ['llave', path.llave],
      ...enBitacora(vieja),
      antes: { vence_en: vieja.vence_en },
      despues: { ...despues, nueva: llave.id },
    })
    return { status: 201 as const, body: llave }
  })
  if (hecha.status === 202) avisarTrabajo()
  return hecha
}
