import { createCipheriv, createDecipheriv, createSecretKey, type KeyObject } from 'node:crypto'
import { Problema } from '../../platform/errors.ts'
import { digest, type Secrets, type SubKey } from '../../platform/secrets.ts'

/** Position in a list: the sort values of the last row that the client has. */
export type CursorPosition = readonly (string | number)[]

/**
 * List to which a cursor belongs: operation, owner (such as merchant and mode) and filters. The cursor is invalid for
 * any other list.
 */
export interface CursorScope {
  operacion: string
  dueno: string
  filtros?: Readonly<Record<string, unknown>>
}

/** Encrypts positions to cursors, and decrypts cursors. */
export interface Cursors {
  cifrar(ambito: CursorScope, posicion: CursorPosition): string
  /**
   * Returns the position of a cursor.
   * @throws Problema `cursor_invalido` for any text that `cifrar` did not create for this very scope
   */
  descifrar(ambito: CursorScope, cursor: string): CursorPosition
}

const NONCE = 12
const SELLO = 16
const KID = 4

/** Maximum number of cursors in memory, for each direction; about 0.5 MB in all. */
const MAX_RECIENTES = 1_000

/** Creates a cache of a function's results for the last {@link MAX_RECIENTES} new texts. An exception is not cached. */
function recordar<T>(): (texto: string, hacer: () => T) => T {
  const hechos = new Map<string, T>()
  return (texto, hacer) => {
    const conocido = hechos.get(texto)
    if (conocido !== undefined) return conocido
    const nuevo = hacer()
    if (hechos.size >= MAX_RECIENTES) hechos.delete(hechos.keys().next().value!)
    hechos.set(texto, nuevo)
    return nuevo
  }
}

/**
 * Creates opaque, authenticated cursors: AES-256-GCM with the list ({@link CursorScope}) as additional data. Positions
 * are encrypted and not only signed, because they contain internal keys, which never leave the server.
 *
 * The nonce is a keyed digest of the whole input. The same page therefore always gives the same bytes, and no nonce is
 * used for two positions. A client that polls the end of the feed gets the same cursor back. Recent cursors are cached
 * by list and position, and by list and text.
 */
export function createCursors(secretos: Secrets): Cursors {
  const adicional = ({ operacion, dueno, filtros = {} }: CursorScope) =>
    JSON.stringify([
      operacion,
      dueno,
      Object.entries(filtros)
        .filter(([, valor]) => valor !== undefined)
        .sort(),
    ])
  // Each key object is created once, because ciphers take four times as long if they get the bytes.
  const llaves = new Map<string, KeyObject>()
  const llaveDe = ({ kid, clave }: SubKey) => {
    const llave = llaves.get(kid) ?? createSecretKey(clave)
    llaves.set(kid, llave)
    return llave
  }
  const cifrar = (adicionales: string, claro: string): string => {
    const subclave = secretos.presente('cursores')
    const nonce = Buffer.from(digest(secretos.presente('nonces'), adicionales + claro), 'base64url')
    const cifrador = createCipheriv('aes-256-gcm', llaveDe(subclave), nonce).setAAD(Buffer.from(adicionales))
    const texto = Buffer.concat([cifrador.update(claro), cifrador.final()])
    return Buffer.concat([Buffer.from(subclave.kid, 'hex'), nonce, cifrador.getAuthTag(), texto]).toString('base64url')
  }
  const descifrar = (adicionales: string, cursor: string): CursorPosition => {
    const bytes = Buffer.from(cursor, 'base64url')
    const subclave = secretos.de('cursores', bytes.subarray(0, KID).toString('hex'))
    // Several base64url texts stand for the same bytes. Only the text that was given out is accepted.
    if (!subclave || bytes.toString('base64url') !== cursor) throw new Error('the cursor is not from this service')
    const [nonce, sello, texto] = [KID, KID + NONCE, KID + NONCE + SELLO].map((desde, i) =>
      bytes.subarray(desde, i === 2 ? undefined : desde + [NONCE, SELLO][i]!),
    ) as [Buffer, Buffer, Buffer]
    const descifrador = createDecipheriv('aes-256-gcm', llaveDe(subclave), nonce, { authTagLength: SELLO })
    descifrador.setAAD(Buffer.from(adicionales)).setAuthTag(sello)
    return JSON.parse(Buffer.concat([descifrador.update(texto), descifrador.final()]).toString()) as CursorPosition
  }
  // The cache key is the list plus the text, which is unambiguous. The list is a JSON array, and no JSON array is a
  // prefix of another JSON array.
  const cifrados = recordar<string>()
  const descifrados = recordar<CursorPosition>()
  return {
    cifrar(ambito, posicion) {
      const [adicionales, claro] = [adicional(ambito), JSON.stringify(posicion)]
      return cifrados(adicionales + claro, () => cifrar(adicionales, claro))
    },
    descifrar(ambito, cursor) {
      const adicionales = adicional(ambito)
      try {
        return descifrados(adicionales + cursor, () => descifrar(adicionales, cursor))
      } catch (cause) {
        throw new Problema(
          'cursor_invalido',
          'El cursor no es de esta lista con estos filtros. Empiece sin cursor, o repita los filtros con los que lo recibió.',
          {
            errores: [
              {
                campo: 'cursor',
                codigo: 'valor_no_admitido',
                mensaje: 'use el cursor_siguiente tal como lo recibió, con los mismos filtros',
              },
            ],
            cause,
          },
        )
      }
    },
  }
}
