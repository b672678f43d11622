// Files of the write-ahead log in a backup's folder. Each log segment has one or several files (pieces), and each piece
// starts at the segment's beginning. After a lost connection the receiver starts the segment again; the earlier piece
// stays until the segment is complete.

import { createReadStream, readdirSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { deflateRaw, inflateRawSync } from 'node:zlib'
import { FRAME, type Passphrase, type Sealer } from '../../../platform/backup/seal.ts'
import type { Lsn } from '../../lsn.ts'
import { SEGMENT, segmentName } from './walStream.ts'

const deflate = promisify(deflateRaw)
/** Maximum bytes of the log in one frame. Even bytes that compression makes larger must fit. */
const CHUNK = FRAME - 1024

const PIECE = /^([0-9A-F]{24})\.(\d+)$/

/** Lists the pieces in a folder, by the name of their segment. */
export function listPieces(folder: string): Map<string, string[]> {
  const pieces = new Map<string, string[]>()
  for (const name of readdirSync(folder).sort()) {
    const segment = PIECE.exec(name)?.[1]
    if (segment) pieces.set(segment, [...(pieces.get(segment) ?? []), name])
  }
  return pieces
}

/** Writes the write-ahead log of PostgreSQL into a folder, in encrypted pieces. */
export class WalPieces {
  readonly #folder: string
  readonly #passphrase: Passphrase
  readonly #timeline: number
  #piece: { segment: string; name: string; file: FileHandle; sealer: Sealer } | undefined

  constructor(folder: string, passphrase: Passphrase, timeline: number) {
    this.#folder = folder
    this.#passphrase = passphrase
    this.#timeline = timeline
  }

  /** Appends bytes that follow the previous bytes. The promise resolves when the bytes are on the disk. */
  async append(lsn: Lsn, bytes: Buffer): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      const here = lsn + BigInt(done)
      const left = Number(SEGMENT - (here % SEGMENT))
      const part = bytes.subarray(done, done + left)
      await this.#write(segmentName(this.#timeline, here), part, part.length === left)
      done += part.length
    }
    await this.#piece?.file.datasync()
  }

  async #write(segment: string, bytes: Buffer, whole: boolean): Promise<void> {
    this.#piece ??= await this.#begin(segment)
    const { name, file, sealer } = this.#piece
    for (let at = 0; at < bytes.length; at += CHUNK)
      await file.write(sealer.frame(await deflate(bytes.subarray(at, at + CHUNK), { level: 1 }), false))
    if (!whole) return
    await file.sync()
    await this.close()
    for (const other of listPieces(this.#folder).get(segment) ?? [])
      if (other !== name) await rm(join(this.#folder, other))
  }

  async #begin(segment: string) {
    const taken = (listPieces(this.#folder).get(segment) ?? []).map((name) => Number(PIECE.exec(name)![2]))
    const name = `${segment}.${Math.max(-1, ...taken) + 1}`
    const { head, sealer } = await this.#passphrase.seal()
    const file = await open(join(this.#folder, name), 'wx', 0o600)
    try {
      await file.write(head)
    } catch (error) {
      // On a full disk, each attempt would leave an empty file.
      await file.close()
      await rm(join(this.#folder, name), { force: true })
      throw error
    }
    return { segment, name, file, sealer }
  }

  async close(): Promise<void> {
    const piece = this.#piece
    this.#piece = undefined
    await piece?.file.close()
  }
}

/**
 * Reads the available bytes of a segment from its pieces, starting at the segment's beginning.
 * @throws ArchiveError if the passphrase is wrong
 */
export async function readSegment(folder: string, pieces: readonly string[], passphrase: Passphrase): Promise<Buffer> {
  let longest: Buffer = Buffer.alloc(0)
  for (const name of pieces) {
    const chunks: Buffer[] = []
    for await (const frame of passphrase.open(createReadStream(join(folder, name)), true))
      chunks.push(inflateRawSync(frame))
    const bytes = Buffer.concat(chunks)
    if (bytes.length > longest.length) longest = bytes
  }
  return longest
}
