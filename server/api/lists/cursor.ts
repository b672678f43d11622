import { Problema } from '../../platform/errors.ts'
import { remembering } from '../../platform/remember.ts'
import { keyIdOf, seal, unseal } from '../../platform/sealing.ts'
import { digest, type Secrets } from '../../platform/secrets.ts'

/** Position in a list: the sort values of the last row that the client has. */
export type CursorPosition = readonly (string | number)[]

/**
 * List to which a cursor belongs: operation, owner (such as merchant and mode) and filters. The cursor is invalid for
 * any other list.
 */
export interface CursorScope {
  operacion: string
  dueno: string
  filters?: Readonly<Record<string, unknown>>
}

/** Encrypts positions to cursors, and decrypts cursors. */
export interface Cursors {
  encrypt(scope: CursorScope, position: CursorPosition): string
  /**
   * Returns the position of a cursor.
   * @throws Problema `cursor_invalido` for any text that `encrypt` did not create for this very scope
   */
  decrypt(scope: CursorScope, cursor: string): CursorPosition
}

/** Maximum number of cursors in memory, for each direction; about 0.5 MB in all. */
const MAX_RECENT = 1_000

/**
 * Creates opaque, authenticated cursors: AES-256-GCM with the list ({@link CursorScope}) as additional data. Positions
 * are encrypted and not only signed, because they contain internal keys, which never leave the server.
 *
 * The nonce is a keyed digest of the whole input. The same page therefore always gives the same bytes, and no nonce is
 * used for two positions. A client that polls the end of the feed gets the same cursor back. Recent cursors are cached
 * by list and position, and by list and text.
 */
export function createCursors(secrets: Secrets): Cursors {
  const additionalData = ({ operacion, dueno, filters = {} }: CursorScope) =>
    JSON.stringify([
      operacion,
      dueno,
      Object.entries(filters)
        .filter(([, value]) => value !== undefined)
        .sort(),
    ])
  const encrypt = (additional: string, plaintext: string): string => {
    const nonce = Buffer.from(digest(secrets.current('nonces'), additional + plaintext), 'base64url')
    return seal(secrets, 'cursores', additional, Buffer.from(plaintext), nonce).toString('base64url')
  }
  const decrypt = (additional: string, cursor: string): CursorPosition => {
    const bytes = Buffer.from(cursor, 'base64url')
    // Several base64url texts stand for the same bytes. Only the text that was given out is accepted.
    if (!secrets.de('cursores', keyIdOf(bytes)) || bytes.toString('base64url') !== cursor)
      throw new Error('the cursor is not from this service')
    return JSON.parse(unseal(secrets, 'cursores', additional, bytes).toString()) as CursorPosition
  }
  const encrypted = remembering(MAX_RECENT, encrypt)
  const decryptRemembered = remembering(MAX_RECENT, decrypt)
  return {
    encrypt(scope, position) {
      return encrypted(additionalData(scope), JSON.stringify(position))
    },
    decrypt(scope, cursor) {
      try {
        return decryptRemembered(additionalData(scope), cursor)
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
