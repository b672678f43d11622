import { inTransaction } from '../../data/db.ts'
import { ALCANCES_DE_OPERACION } from '../../generado/contrato/vocabulario.ts'
import { Problema } from '../../platform/errors.ts'
import { exigirOperador } from '../operadores/operador.ts'
import type { Handler } from '../operation.ts'
import { exigirAlcancesPropios, guardarLlaveDeOperador, leerRedes, leerVencimiento, loQuePuede } from './llave.ts'
import { pedirLlave } from './pedirLlave.ts'

export const crearLlaveDeOperador: Handler<'crearLlaveDeOperador'> = async ({ path, body, ...quien }, deps) => {
  const { db, reloj, bitacora, avisarTrabajo } = deps
  const { alcances = ALCANCES_DE_OPERACION } = body
  exigirAlcancesPropios(quien.identidad, alcances, 'Pida en «alcances» solo los suyos, o use una llave que los tenga.')
  const { id: operadorId, operador, nombre, revocado_en } = await exigirOperador(db, path.operador)
  // If the operator is revoked after this check, the new key is invalid too: a revoked operator has no valid keys.
  if (revocado_en)
    throw new Problema(
      'operador_revocado',
      'El operador fue revocado y no puede tener llaves nuevas. Cree otro operador.',
    )
  const ahora = reloj()
  const vence_en = leerVencimiento(body.vence_en, ahora)
  const de = { operadorId, operador, alcances, vence_en, redes: leerRedes(body.redes) }
  const hecha = await inTransaction(db.central, async (consultar) => {
    const pedida = await pedirLlave(consultar, deps, quien, { ...de, operador: { operador, nombre } })
    if (pedida) return { status: 202 as const, body: pedida }
    const llave = await guardarLlaveDeOperador({ consultar }, ahora, de)
    const despues = { operador, ...loQuePuede(llave) }
    await bitacora.anotar(consultar, quien, { accion: 'crearLlaveDeOperador', sobre: ['llave', llave.id], despues })
    return { status: 201 as const, body: llave }
  })
  if (hecha.status === 202) avisarTrabajo()
  return hecha
}
