import type { Handler } from '../contrato/tipos.ts'
import { clavesPublicas } from '../firma/jws.ts'

export const listarClavesPublicas: Handler<'listarClavesPublicas'> = async (_entrada, { db, secretos }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  body: { keys: await clavesPublicas(db, secretos) },
})
