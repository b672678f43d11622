import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { guardarOperador, presentarOperador } from './operador.ts'

export const crearOperador: Handler<'crearOperador'> = async ({ body, ...quien }, { db, nuevoId, bitacora }) => {
  const fila = await inTransaction(db, async (consultar) => {
    const creado = await guardarOperador({ db: { consultar }, nuevoId }, body.nombre)
    await bitacora.anotar(consultar, quien, {
      accion: 'crearOperador',
      sobre: ['operador', creado.operador],
      campos: ['nombre'],
    })
    return creado
  })
  return { status: 201, body: presentarOperador(fila) }
}
