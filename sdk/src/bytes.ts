/** A copy of given bytes: the caller may use its buffer again meanwhile. Tests by `instanceof` would fail across realms. */
export function copiar(dado: unknown): Uint8Array<ArrayBuffer> | undefined {
  if (ArrayBuffer.isView(dado)) return new Uint8Array(new Uint8Array(dado.buffer, dado.byteOffset, dado.byteLength))
  return Object.prototype.toString.call(dado) === '[object ArrayBuffer]'
    ? new Uint8Array(new Uint8Array(dado as ArrayBuffer))
    : undefined
}

export const enUtf8 = (texto: string) => new TextEncoder().encode(texto)

/** @throws TypeError when they aren't UTF-8 */
export const deUtf8 = (bytes: Uint8Array<ArrayBuffer>) => new TextDecoder('utf-8', { fatal: true }).decode(bytes)

export const enBase64 = (bytes: Uint8Array<ArrayBuffer>) => btoa(String.fromCharCode(...bytes))

/** @throws DOMException when it isn't base64 */
export const deBase64 = (texto: string) => Uint8Array.from(atob(texto), (letra) => letra.charCodeAt(0))

export const enHexadecimal = (bytes: Uint8Array<ArrayBuffer>) =>
  Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')

/** Missing in old engines, and in pages that did not come by https. @param fallar makes the error of whoever needs it */
export function webCrypto(fallar: (mensaje: string) => Error): SubtleCrypto {
  const subtle = globalThis.crypto?.subtle
  if (subtle) return subtle
  throw fallar('Este entorno no tiene WebCrypto (crypto.subtle): use Node 20 o posterior, o https.')
}
