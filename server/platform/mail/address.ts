/** Maximum length of an address, as SMTP allows it (RFC 5321, 4.5.3.1.3). */
export const MAX_ADDRESS = 254

/** Longest local part that SMTP allows (RFC 5321, 4.5.3.1.1). */
const MAX_LOCAL = 64

const SHAPE =
  /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])$/

/**
 * Reads a mail address as people write it, and returns it in lower case. Undefined if mail cannot be sent to it. Only
 * ASCII is accepted, so that no two addresses look alike; a domain in another script is written in its `xn--` form.
 */
export function readAddress(text: string): string | undefined {
  const direccion = text.trim().toLowerCase()
  if (direccion.length > MAX_ADDRESS || direccion.indexOf('@') > MAX_LOCAL) return undefined
  return SHAPE.test(direccion) ? direccion : undefined
}
