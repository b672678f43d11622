/** Alphabet of Crockford's base32, which has no I, L, O or U. */
export const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'

/**
 * Returns the check character: the sum of each character's value times an odd weight (1, 3, 5…), modulo 32. With odd
 * weights, every single wrong character changes the sum.
 */
export function checkDigit(body: string): string {
  let sum = 0
  for (let i = 0; i < body.length; i++) sum += ALPHABET.indexOf(body[i]!) * (2 * i + 1)
  return ALPHABET[sum % 32]!
}

/** Converts typed text to Crockford's base32: upper case, without spaces and hyphens, O as 0, I and L as 1. */
export const normalizeBase32 = (text: string) =>
  text.toUpperCase().replace(/[\s-]/g, '').replace(/O/g, '0').replace(/[IL]/g, '1')

/** Converts a typed guide code to the stored form; undefined if the text cannot be a guide code. */
export function normalizeGuideCode(text: string): string | undefined {
  const code = normalizeBase32(text)
  if (!/^[0-9A-HJKMNP-TV-Z]{12}$/.test(code)) return undefined
  return checkDigit(code.slice(0, 11)) === code[11] ? code : undefined
}

/** Formats a code for people, in groups of four: `7K3M-9QX2-A1B4`. */
export const inGroups = (code: string) => code.replace(/(.{4})(?=.)/g, '$1-')
