import type { Handler } from '../contrato/tipos.ts'
import { enTransaccion } from '../db.ts'
import { Problema } from '../errores.ts'
import { exigirOperador } from '../operadores/operador.ts'
import { guardarLlaveDeOperador, leerRedes, leerVencimiento, loQuePuede } from './llave.ts'

export const crearLlaveDeOperador: Handler<'crearLlaveDeOperador'> = async (
  { path, body, ...quien },
  { db, reloj, bitacora },
) => {
  const { id: operadorId, operador, revocado_en } = await exigirOperador(db, path.operador)
  // Should he be revoked meanwhile, the key is born dead: it is its operator's.
  if (revocado_en)
    throw new Problema(
      'operador_revocado',
      'El operador fue revocado y no puede tener llaves nuevas. Cree otro operador.',
    )
  const ahora = reloj()
  const vence_en = leerVencimiento(body.vence_en, ahora)
  const de = { operadorId, operador, alcances: body.alcances, vence_en, redes: leerRedes(body.redes) }
  const creada = await enTransaccion(db, async (consultar) => {
    const llave = await guardarLlaveDeOperador({ consultar }, ahora, de)
    const despues = { operador, ...loQuePuede(llave) }
    await bitacora.anotar(consultar, quien, { accion: 'crearLlaveDeOperador', sobre: ['llave', llave.id], despues })
    return llave
  })
  return { status: 201, body: creada }
}
