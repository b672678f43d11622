import { hash } from 'node:crypto'

/** Returns a strong entity tag (RFC 9110, 8.8.1): the SHA-256 of the bytes from which a body is made. */
export const etagOf = (bytes: string | Buffer) => `"${hash('sha256', bytes, 'base64url')}"`

/** Reports whether an `If-None-Match` header names the entity tag of the answer, or is `*` (RFC 9110, 13.1.2). */
export const etagMatches = (header: string | undefined, etag: string) =>
  header !== undefined &&
  (header.trim() === '*' || header.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag))
