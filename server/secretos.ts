import { createHash, hash, hkdfSync } from 'node:crypto'

const partes = (texto: string) => texto.split(',').map((parte) => parte.trim())

/** In Spanish, what is wrong with each master key of a text. */
export const explicarClaves = (texto: string): string[] =>
  partes(texto).flatMap((parte, i) =>
    /^[A-Za-z0-9+/]{43}=$/.test(parte) ? [] : [`la clave ${i + 1} debe ser de 32 bytes en base64 (44 caracteres)`],
  )

/** Comma-separated master keys, in base64, of 32 bytes each; undefined if one of them isn't. */
export const leerClaves = (texto: string): readonly Buffer[] | undefined =>
  explicarClaves(texto).length > 0 ? undefined : partes(texto).map((parte) => Buffer.from(parte, 'base64'))

/** What a sub-key is for. Keys of different purposes are independent (HKDF, RFC 5869). */
export type Proposito =
  | 'cursores'
  | 'nonces'
  | 'huellas'
  | 'webhooks'
  | 'ubicacion'
  | 'enlaces'
  | 'pruebas'
  | 'repartidores'
  | 'dispositivos'

export interface Subclave {
  /** Which master key it comes from: 8 hex digits, not secret. */
  kid: string
  clave: Buffer
  /** The same key as text, for digests of texts. */
  texto: string
}

export interface Secretos {
  /** The sub-key to make new things with. */
  presente(proposito: Proposito): Subclave
  /** The sub-key that something older was made with; undefined when its master key is gone. */
  de(proposito: Proposito, kid: string): Subclave | undefined
  /** The present one and all before it that are still there. */
  todas(proposito: Proposito): readonly Subclave[]
}

/** @param masterKeys 32 bytes each; the first is the present one, the others still read what they made. */
export function crearSecretos(masterKeys: readonly Buffer[]): Secretos {
  const cache = new Map<Proposito, Subclave[]>()
  const subclaves = (proposito: Proposito) => {
    let lista = cache.get(proposito)
    if (!lista) {
      lista = masterKeys.map((maestra) => {
        const clave = Buffer.from(hkdfSync('sha256', maestra, '', `guias:${proposito}`, 32))
        const kid = createHash('sha256').update(maestra).digest('hex').slice(0, 8)
        return { kid, clave, texto: clave.toString('base64') }
      })
      cache.set(proposito, lista)
    }
    return lista
  }
  return {
    presente: (proposito) => subclaves(proposito)[0]!,
    de: (proposito, kid) => subclaves(proposito).find((subclave) => subclave.kid === kid),
    todas: subclaves,
  }
}

/**
 * 96 bits of a keyed digest: enough to tell contents apart, useless to guess a phone number from. SHA-256 over key and
 * text in one call costs a fifth of an HMAC object; what HMAC adds is against extending a digest, which a truncated one
 * doesn't allow (NIST SP 800-107, 5.1).
 */
export const huella = (subclave: Subclave, texto: string) =>
  hash('sha256', `${subclave.texto}${texto}`, 'base64url').slice(0, 16)
