import { createHash, hash, hkdfSync } from 'node:crypto'

const splitList = (text: string) => text.split(',').map((part) => part.trim())

/** Lists, in Spanish, the faults of each master key in a text. */
export const explainKeys = (text: string): string[] =>
  splitList(text).flatMap((part, i) =>
    /^[A-Za-z0-9+/]{43}=$/.test(part) ? [] : [`la clave ${i + 1} debe ser de 32 bytes en base64 (44 caracteres)`],
  )

/** Reads comma-separated master keys in base64, of 32 bytes each. Undefined if one of them is not valid. */
export const readKeys = (text: string): readonly Buffer[] | undefined =>
  explainKeys(text).length > 0 ? undefined : splitList(text).map((part) => Buffer.from(part, 'base64'))

/** Purpose of a sub-key. Sub-keys of different purposes are independent (HKDF, RFC 5869). */
export type KeyPurpose =
  | 'cursores'
  | 'nonces'
  | 'huellas'
  | 'webhooks'
  | 'correcciones'
  | 'ubicacion'
  | 'enlaces'
  | 'pruebas'
  | 'repartidores'
  | 'dispositivos'
  | 'correos'
  | 'entradas'
  | 'aprobaciones'
  | 'segundo_factor'
  | 'olvidos'

/** Key for one purpose, derived from a master key. */
export interface SubKey {
  /** Id of its master key: 8 hex digits, not secret. */
  kid: string
  clave: Buffer
  /** The same key in base64, for digests of texts. */
  texto: string
}

/** Sub-keys of all master keys. */
export interface Secrets {
  /** Returns the sub-key for new values. */
  current(purpose: KeyPurpose): SubKey
  /** Returns the sub-key with which an older value was made; undefined if its master key no longer exists. */
  de(purpose: KeyPurpose, kid: string): SubKey | undefined
  /** Returns the sub-keys of all master keys, the present one first. */
  todas(purpose: KeyPurpose): readonly SubKey[]
}

/**
 * Derives the sub-keys of master keys.
 * @param masterKeys 32 bytes each; the first is the present key, and the others still read older values
 */
export function createSecrets(masterKeys: readonly Buffer[]): Secrets {
  const cache = new Map<KeyPurpose, SubKey[]>()
  const subKeysOf = (purpose: KeyPurpose) => {
    let subKeys = cache.get(purpose)
    if (!subKeys) {
      subKeys = masterKeys.map((masterKey) => {
        const clave = Buffer.from(hkdfSync('sha256', masterKey, '', `guias:${purpose}`, 32))
        const kid = createHash('sha256').update(masterKey).digest('hex').slice(0, 8)
        return { kid, clave, texto: clave.toString('base64') }
      })
      cache.set(purpose, subKeys)
    }
    return subKeys
  }
  return {
    current: (purpose) => subKeysOf(purpose)[0]!,
    de: (purpose, kid) => subKeysOf(purpose).find((subKey) => subKey.kid === kid),
    todas: subKeysOf,
  }
}

/**
 * Returns 96 bits of a keyed digest: enough to tell contents apart, and useless to guess a telephone number. SHA-256
 * over key and text in one call costs a fifth of an HMAC object. HMAC protects against length extension, but a
 * truncated digest cannot be extended anyway (NIST SP 800-107, 5.1).
 */
export const digest = (subKey: SubKey, text: string) =>
  hash('sha256', `${subKey.texto}${text}`, 'base64url').slice(0, 16)
