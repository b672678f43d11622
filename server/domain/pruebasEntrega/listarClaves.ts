import type { Db } from '../../data/db.ts'
import type { ClavePublica } from '../../generado/contrato/tipos/index.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { signingKey } from '../../platform/signing/jws.ts'
import type { Handler } from '../operation.ts'

/** Returns the public keys of all signatures: first the present key, then every earlier one. */
async function clavesPublicas(db: Db, secretos: Secrets): Promise<ClavePublica[]> {
  const { publica } = await signingKey(secretos)
  const filas = await db.central.prisma.clave_publica.findMany({ orderBy: [{ creado_en: 'desc' }, { kid: 'asc' }] })
  return [publica, ...filas.map(({ jwk }) => jwk as ClavePublica).filter(({ kid }) => kid !== publica.kid)]
}

export const listarClavesPublicas: Handler<'listarClavesPublicas'> = async (_entrada, { db, secretos }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  body: { keys: await clavesPublicas(db, secretos) },
})
