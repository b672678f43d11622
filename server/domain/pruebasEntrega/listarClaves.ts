import type { Db } from '../../data/db.ts'
import type { ClavePublica } from '../../generated/contract/types/index.ts'
import type { Secrets } from '../../platform/secrets.ts'
import { signingKey } from '../../platform/signing/jws.ts'
import type { Handler } from '../operation.ts'

/** Returns the public keys of all signatures: first the present key, then every earlier one. */
async function readPublicKeys(db: Db, secrets: Secrets): Promise<ClavePublica[]> {
  const { publicKey } = await signingKey(secrets)
  const rows = await db.central.prisma.clave_publica.findMany({ orderBy: [{ creado_en: 'desc' }, { kid: 'asc' }] })
  return [publicKey, ...rows.map(({ jwk }) => jwk as ClavePublica).filter(({ kid }) => kid !== publicKey.kid)]
}

export const listarClavesPublicas: Handler<'listarClavesPublicas'> = async (_input, { db, secretos }) => ({
  status: 200,
  headers: { 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' },
  body: { keys: await readPublicKeys(db, secretos) },
})
