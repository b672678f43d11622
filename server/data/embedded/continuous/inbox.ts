import { setTimeout as sleep } from 'node:timers/promises'
import type { Lsn } from '../../lsn.ts'
import type { WalPieces } from './pieces.ts'
import type { WalStream } from './walStream.ts'

/**
 * Interval between two writes to the backup's folder, in milliseconds. A disaster loses at most the log of this time.
 */
const FLUSH = 1_000
/** Maximum bytes that wait in memory. Beyond it, PostgreSQL is made to wait. */
const FULL = 8 * 1024 * 1024

/** Buffer for received log that is not in the backup's folder yet. */
export class WalInbox {
  #first: Lsn = 0n
  #chunks: Buffer[] = []
  #bytes = 0
  #written: Lsn = 0n
  #closed = false
  #hurry = () => {}

  /**
   * Adds a chunk that follows the previous chunks.
   * @returns false if the buffer is full until the next write
   */
  add(lsn: Lsn, bytes: Buffer): boolean {
    if (this.#closed) return true
    if (this.#bytes === 0) this.#first = lsn
    this.#chunks.push(bytes)
    this.#bytes += bytes.length
    if (this.#bytes < FULL) return true
    this.#hurry()
    return false
  }

  close(): void {
    this.#closed = true
    this.#hurry()
  }

  /** Discards the waiting bytes, and closes the buffer. */
  discard(): void {
    this.#chunks = []
    this.#bytes = 0
    this.close()
  }

  /**
   * Writes the received log to the folder, each second or sooner. Tells PostgreSQL up to which position the log is
   * safe.
   */
  async writeTo(writer: WalPieces, stream: Pick<WalStream, 'confirm'>): Promise<void> {
    while (!this.#closed) {
      const hurried = new AbortController()
      this.#hurry = () => hurried.abort()
      if (this.#bytes < FULL && !this.#closed) await sleep(FLUSH, undefined, hurried).catch(() => {})
      if (this.#bytes === 0) continue
      const [first, bytes] = [this.#first, Buffer.concat(this.#chunks)]
      this.#chunks = []
      this.#bytes = 0
      await writer.append(first, bytes)
      this.#written = first + BigInt(bytes.length)
      stream.confirm(this.#written)
    }
  }

  /**
   * Waits until the log up to a position is written.
   * @returns false if the time runs out first
   */
  async reaches(lsn: Lsn, ms: number): Promise<boolean> {
    for (const end = Date.now() + ms; this.#written < lsn; await sleep(20)) {
      if (this.#closed || Date.now() > end) return false
      if (this.#first + BigInt(this.#bytes) >= lsn) this.#hurry()
    }
    return true
  }
}
