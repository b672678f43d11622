/** Escapes a name for a place in a JSON Pointer (RFC 6901, section 3). */
export const escapeToken = (name: string): string => name.replace(/~/g, '~0').replace(/\//g, '~1')

/** Returns the name that a place in a JSON Pointer stands for (RFC 6901, section 4). */
export const unescapeToken = (token: string): string => token.replace(/~1/g, '/').replace(/~0/g, '~')
