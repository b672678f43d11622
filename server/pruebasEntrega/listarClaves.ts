import { hash } from 'node:crypto'
import type { Handler } from '../contrato/tipos.ts'
import { coincideEtag } from '../http/descarga.ts'
import { clavesPublicas } from './manifiesto.ts'

export const listarClavesPublicas: Handler<'listarClavesPublicas'> = async ({ headers = {} }, { db, secretos }) => {
  const keys = await clavesPublicas(db, secretos)
  const ETag = `"${hash('sha256', keys.map(({ kid }) => kid).join(), 'base64url')}"`
  const cabeceras = { ETag, 'Cache-Control': 'public, max-age=300', 'Access-Control-Allow-Origin': '*' }
  return coincideEtag(headers['if-none-match'], ETag)
    ? { status: 304, headers: cabeceras, body: undefined }
    : { status: 200, headers: cabeceras, body: { keys } }
}
