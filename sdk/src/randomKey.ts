import { hexadecimalDe } from './bytes.js'

/**
 * Returns a key of 128 random bits. Does not use `randomUUID`, which is missing in pages loaded without HTTPS.
 */
export const newKey = () => `auto-${hexadecimalDe(crypto.getRandomValues(new Uint8Array(16)))}`
