import type { Socket } from 'node:net'

const CR = 0x0d
const LF = 0x0a
/** Positions in the status line `HTTP/1.1 100`. */
const FIRST_DIGIT = 9
const LAST_DIGIT = 11
const [ZERO, ONE, TWO] = [0x30, 0x31, 0x32]

/**
 * Turns each `100 Continue` that a receiver sends before its answer into `102`. HTTP lets a server send a 100 that
 * nobody asked for, but undici ends the connection at one, while it skips every other 1xx.
 *
 * Phases: `status`, within the first 12 bytes of an answer; `headers`, after the status of a 1xx; `final`, after the
 * status of any other answer, whose bytes are not read.
 */
export class InterimAnswers {
  #phase: 'status' | 'headers' | 'final' = 'status'
  #position = 0
  #atLineStart = false

  constructor(socket: Socket) {
    const push = socket.push.bind(socket)
    socket.push = (chunk: Buffer | null, encoding) => {
      if (chunk && this.#phase !== 'final') this.#rewrite(chunk)
      return push(chunk, encoding)
    }
  }

  /** Expects the answer to another request on the same connection. */
  restart(): void {
    this.#phase = 'status'
    this.#position = 0
  }

  #rewrite(chunk: Buffer): void {
    for (let i = 0; i < chunk.length && this.#phase !== 'final'; i++) {
      if (this.#phase === 'headers') this.#readHeader(chunk[i]!)
      else this.#readStatus(chunk, i)
    }
  }

  #readStatus(chunk: Buffer, i: number): void {
    const byte = chunk[i]!
    if (this.#position === 0 && (byte === CR || byte === LF)) return
    if (this.#position === FIRST_DIGIT && byte !== ONE) this.#phase = 'final'
    else if (this.#position === FIRST_DIGIT + 1 && byte !== ZERO) this.#phase = 'headers'
    else if (this.#position === LAST_DIGIT) {
      if (byte === ZERO) chunk[i] = TWO
      this.#phase = 'headers'
    }
    this.#position++
    this.#atLineStart = false
  }

  /** An empty line ends the headers, and with them an answer 1xx, which has no body. */
  #readHeader(byte: number): void {
    if (byte === CR) return
    if (byte === LF && this.#atLineStart) this.restart()
    else this.#atLineStart = byte === LF
  }
}
