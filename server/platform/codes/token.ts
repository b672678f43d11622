import { hash, randomBytes } from 'node:crypto'

/** Generates a token of 256 random bits. Only a browser or a link contains the token; the database stores its hash. */
export const newToken = () => randomBytes(32).toString('base64url')

/** Reports whether a text has the form of a token. */
export const isToken = (text: string) => /^[\w-]{43}$/.test(text)

/** Returns the SHA-256 hash under which a token is stored. */
export const tokenHash = (token: string) => hash('sha256', token, 'buffer')

/** Returns the hash of a token in base64. */
export const tokenHashText = (token: string) => tokenHash(token).toString('base64')
