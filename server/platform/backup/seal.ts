// Encryption of a backup's files with a passphrase.
//
// Layout: magic, 16 bytes of the passphrase's salt, 16 bytes of the file's own, then frames. A frame is its length
// (4 bytes, the highest bit marks the last one) and AES-256-GCM over its bytes. The nonce is the frame's number and its
// last bit, so that no frame can be left out, moved or cut off unnoticed. Each file has a key of its own.

import { createCipheriv, createDecipheriv, hkdfSync, randomBytes, scrypt } from 'node:crypto'
import { promisify } from 'node:util'

/** Error: a file cannot be read. The message, in Spanish, tells the operator why. */
export class ArchiveError extends Error {
  override readonly name = 'ArchiveError'
}

/** Error: a file ends too soon. */
class CutOff extends ArchiveError {}

const MAGIC = Buffer.from('GUIASR1\n')
const SALT = 16
const TAG = 16
const LAST = 0x8000_0000
/** Maximum bytes of a frame before encryption. */
export const FRAME = 64 * 1024
const derive = promisify(scrypt) as (secret: string, salt: Buffer, bytes: number, options: object) => Promise<Buffer>
/** Cost of the key derivation by scrypt: about a tenth of a second and 64 MB. */
const COST = { N: 2 ** 16, r: 8, p: 1, maxmem: 128 * 1024 * 1024 }

/** Writes a length as four bytes. */
export const lengthOf = (n: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(n)
  return bytes
}

function nonceOf(number: number, last: boolean): Buffer {
  const nonce = Buffer.alloc(12)
  nonce.writeBigUInt64BE(BigInt(number), 3)
  nonce[11] = last ? 1 : 0
  return nonce
}

/** Passphrase of a backup, which opens and creates its files. The slow key derivation runs once for each salt. */
export class Passphrase {
  readonly #text: string
  readonly #salt = randomBytes(SALT)
  readonly #derived = new Map<string, Promise<Buffer>>()

  constructor(text: string) {
    this.#text = text
  }

  async #keyOf(salt: Buffer, own: Buffer): Promise<Buffer> {
    const name = salt.toString('hex')
    const derived = this.#derived.get(name) ?? derive(this.#text, salt, 32, COST)
    this.#derived.set(name, derived)
    return Buffer.from(hkdfSync('sha256', await derived, own, MAGIC, 32))
  }

  /** Starts a file: returns its first bytes, and the sealer of its frames. */
  async seal(): Promise<{ head: Buffer; sealer: Sealer }> {
    const own = randomBytes(SALT)
    return { head: Buffer.concat([MAGIC, this.#salt, own]), sealer: new Sealer(await this.#keyOf(this.#salt, own)) }
  }

  /**
   * Reads the bytes of a file.
   * @param growing true if the file need not have its last frame: the bytes end with the last whole frame
   * @throws ArchiveError if the passphrase is another, or the file is damaged or, unless it is `growing`, cut off
   */
  async *open(input: AsyncIterable<Buffer>, growing = false): AsyncGenerator<Buffer> {
    const reader = new Reader(input)
    let number = 0
    try {
      if (!(await reader.take(MAGIC.length)).equals(MAGIC))
        throw new ArchiveError('El archivo no es un respaldo de guías.')
      const key = await this.#keyOf(await reader.take(SALT), await reader.take(SALT))
      for (let last = false; !last; number++) {
        const sealed = await frameOf(reader)
        last = sealed.last
        yield unseal(key, number, sealed)
      }
    } catch (error) {
      // The first frame shows whether the passphrase is right. In a growing file, a later frame may be only half
      // written.
      if (growing && (error instanceof CutOff || (error instanceof ArchiveError && number > 0))) return
      throw error
    }
  }
}

async function frameOf(reader: Reader): Promise<{ bytes: Buffer; last: boolean }> {
  const length = (await reader.take(4)).readUInt32BE()
  const last = length >= LAST
  return { bytes: await reader.take(Math.min(last ? length - LAST : length, FRAME + TAG)), last }
}

function unseal(key: Buffer, number: number, { bytes, last }: { bytes: Buffer; last: boolean }): Buffer {
  const decipher = createDecipheriv('aes-256-gcm', key, nonceOf(number, last))
  try {
    decipher.setAuthTag(bytes.subarray(-TAG))
    return Buffer.concat([decipher.update(bytes.subarray(0, -TAG)), decipher.final()])
  } catch (cause) {
    const message =
      number === 0 ? 'La clave no es la de este respaldo, o el archivo está dañado.' : 'El respaldo está dañado.'
    throw new ArchiveError(message, { cause })
  }
}

/** Seals the frames of one file in order. */
export class Sealer {
  readonly #key: Buffer
  #number = 0

  constructor(key: Buffer) {
    this.#key = key
  }

  /** Seals a frame of at most {@link FRAME} bytes. */
  frame(plain: Buffer, last: boolean): Buffer {
    const cipher = createCipheriv('aes-256-gcm', this.#key, nonceOf(this.#number++, last))
    const sealed = Buffer.concat([cipher.update(plain), cipher.final(), cipher.getAuthTag()])
    return Buffer.concat([lengthOf(last ? (sealed.length | LAST) >>> 0 : sealed.length), sealed])
  }

  /** Seals all chunks of a stream. The end of the stream becomes the last frame. */
  async *stream(plain: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    let waiting = Buffer.alloc(0)
    for await (const chunk of plain) {
      waiting = Buffer.concat([waiting, chunk])
      while (waiting.length > FRAME) {
        yield this.frame(waiting.subarray(0, FRAME), false)
        waiting = waiting.subarray(FRAME)
      }
    }
    yield this.frame(waiting, true)
  }
}

/** Reads an exact number of bytes from a stream of chunks. */
export class Reader {
  readonly #chunks: AsyncIterator<Buffer>
  #rest: Buffer = Buffer.alloc(0)
  constructor(stream: AsyncIterable<Buffer>) {
    this.#chunks = stream[Symbol.asyncIterator]()
  }
  /**
   * Returns the next `n` bytes.
   * @throws ArchiveError if the stream ends too soon
   */
  async take(bytes: number): Promise<Buffer> {
    const parts = [this.#rest]
    let length = this.#rest.length
    while (length < bytes) {
      const { value, done } = await this.#chunks.next()
      if (done) throw new CutOff('El respaldo está cortado: le falta el final.')
      parts.push(value)
      length += value.length
    }
    const all = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
    this.#rest = all.subarray(bytes)
    return all.subarray(0, bytes)
  }
}
