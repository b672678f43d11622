import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { presentOperador, saveOperador } from './operador.ts'

export const crearOperador: Handler<'crearOperador'> = async ({ body, ...caller }, { db, newId, bitacora }) => {
  const row = await inTransaction(db, async (query) => {
    const createdOperador = await saveOperador({ db: { query }, newId }, body.nombre)
    await bitacora.record(query, caller, {
      accion: 'crearOperador',
      sobre: ['operador', createdOperador.operador],
      campos: ['nombre'],
    })
    return createdOperador
  })
  return { status: 201, body: presentOperador(row) }
}
