import type { Handler } from '../../api/contract/handler.ts'
import { clavesPublicas } from '../../platform/signing/jws.ts'

export const listarClavesPublicas: Handler<'listarClavesPublicas'> = async (_entrada, { db, secretos }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  body: { keys: await clavesPublicas(db, secretos) },
})
