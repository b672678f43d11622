// Archive of a backup: folders and files in one stream, compressed and then sealed (seal.ts). Each entry in the gzip
// stream has the length of its head, the head as JSON, and chunks preceded by their lengths. A length of 0 ends the
// entry.

import { createReadStream, createWriteStream } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { lengthOf, type Passphrase, Reader } from './seal.ts'

/** File or folder of an archive. */
export interface ArchiveEntry {
  /** Path within the archive, with slashes: `pgdata/base/1/1259`. */
  path: string
  /** Contents of a file; undefined for a folder. */
  contenido?: AsyncIterable<Buffer> | undefined
}

/** Contents of a file. The file is opened only when its contents are read. */
export async function* contentsOf(path: string): AsyncGenerator<Buffer> {
  yield* createReadStream(path, { highWaterMark: 256 * 1024 })
}

/** Yields a text in the form of an archive entry's contents. */
export async function* textContents(text: string): AsyncGenerator<Buffer> {
  yield Buffer.from(text)
}

async function* written(entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>): AsyncGenerator<Buffer> {
  for await (const { path, contenido } of entries) {
    const head = Buffer.from(JSON.stringify({ path, folder: contenido === undefined }))
    yield lengthOf(head.length)
    yield head
    if (contenido === undefined) continue
    for await (const chunk of contenido) {
      if (chunk.length === 0) continue
      yield lengthOf(chunk.length)
      yield chunk
    }
    yield lengthOf(0)
  }
  yield lengthOf(0)
}

/**
 * Writes an archive completely or not at all.
 * @param file path of the archive; replaces an archive with the same name
 */
export async function writeArchive(
  file: string,
  key: Passphrase,
  entries: AsyncIterable<ArchiveEntry> | Iterable<ArchiveEntry>,
): Promise<void> {
  const partialPath = `${file}.${process.pid}.parcial`
  try {
    const { head, sealer } = await key.seal()
    const output = createWriteStream(partialPath, { flags: 'wx', mode: 0o600 })
    output.write(head)
    await pipeline(
      Readable.from(written(entries)),
      createGzip({ level: 1 }),
      (plain: AsyncIterable<Buffer>) => sealer.stream(plain),
      output,
    )
    const openFile = await open(partialPath, 'r+')
    await openFile.sync()
    await openFile.close()
    await rename(partialPath, file)
  } catch (error) {
    await rm(partialPath, { force: true })
    throw error
  }
}

/**
 * Reads the entries of an archive, one after the other. The contents of an entry must be read before the next one.
 * @throws ArchiveError if the passphrase is wrong, or the archive is damaged or cut off
 */
export async function* readArchive(file: string, key: Passphrase): AsyncGenerator<ArchiveEntry> {
  const gunzip = createGunzip()
  // If the source fails, this stream is destroyed, and the loop that reads it throws.
  pipeline(Readable.from(key.open(createReadStream(file))), gunzip).catch(() => {})
  const reader = new Reader(gunzip)
  for (;;) {
    const length = (await reader.take(4)).readUInt32BE()
    if (length === 0) return
    const { path, folder } = JSON.parse((await reader.take(length)).toString()) as { path: string; folder: boolean }
    if (folder) yield { path }
    else yield { path, contenido: contentsFrom(reader) }
  }
}

async function* contentsFrom(reader: Reader): AsyncGenerator<Buffer> {
  for (;;) {
    const bytes = (await reader.take(4)).readUInt32BE()
    if (bytes === 0) return
    yield await reader.take(bytes)
  }
}
