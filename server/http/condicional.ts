import { hash } from 'node:crypto'

/** The strong entity tag of a body (RFC 9110, 8.8.1): whatever a body is made of, other bytes have another tag. */
export const etagDe = (bytes: string | Buffer) => `"${hash('sha256', bytes, 'base64url')}"`

/** Whether an `If-None-Match` header names the entity tag of what would be sent (RFC 9110, 13.1.2). */
export const coincideEtag = (cabecera: string | undefined, etag: string) =>
  cabecera !== undefined &&
  (cabecera.trim() === '*' || cabecera.split(',').some((uno) => uno.trim().replace(/^W\//, '') === etag))
