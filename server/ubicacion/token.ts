import { createHmac, hash } from 'node:crypto'
import type { Secretos } from '../secretos.ts'

/** 128 bits. */
const BYTES = 16

/**
 * The secret of a recipient's link: derived from the message that carries it, so that the link can be made again for a
 * retry, and only its digest is kept.
 * @param kid which master key made it, of a link that is out already; else the present one
 * @returns undefined when that master key is gone
 */
export function tokenDe(secretos: Secretos, mensajeId: string, kid?: string | null) {
  const subclave = kid ? secretos.de('ubicacion', kid) : secretos.presente('ubicacion')
  if (!subclave) return undefined
  const token = createHmac('sha256', subclave.clave).update(mensajeId).digest().subarray(0, BYTES).toString('base64url')
  return { kid: subclave.kid, token }
}

/** What a token is looked up by. */
export const huellaDe = (token: string): Buffer => hash('sha256', token, 'buffer')
