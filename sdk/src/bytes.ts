/**
 * Copies the given bytes, so that the caller may reuse its buffer during an asynchronous operation. Returns undefined
 * for anything else. Does not use `instanceof`, which fails across realms.
 */
export function copyBytes(value: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(value)) return new Uint8Array(new Uint8Array(value.buffer, value.byteOffset, value.byteLength))
  return Object.prototype.toString.call(value) === '[object ArrayBuffer]'
    ? new Uint8Array(new Uint8Array(value as ArrayBuffer))
    : undefined
}

export const enUtf8 = (texto: string) => new TextEncoder().encode(texto)

/**
 * Decodes UTF-8.
 *
 * @throws TypeError if the bytes are not valid UTF-8
 */
export const deUtf8 = (bytes: Uint8Array<ArrayBuffer>) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

export const enBase64 = (bytes: Uint8Array<ArrayBuffer>) => btoa(String.fromCharCode(...bytes))

/**
 * Decodes base64.
 *
 * @throws DOMException if the text is not valid base64
 */
export const deBase64 = (texto: string) => Uint8Array.from(atob(texto), (character) => character.charCodeAt(0))

export const hexadecimalDe = (bytes: Uint8Array<ArrayBuffer>) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/**
 * Returns WebCrypto, which is missing in old engines and in pages loaded without HTTPS.
 *
 * @param createError creates the error to throw, in the class that the caller needs
 * @throws the error of `createError` if WebCrypto is missing
 */
export function webCrypto(createError: (mensaje: string) => Error): typeof crypto.subtle {
  const subtle = globalThis.crypto?.subtle
  if (subtle) return subtle
  throw createError('Este entorno no tiene WebCrypto (crypto.subtle): use Node 20 o posterior, o https.')
}
