import { existsSync } from 'node:fs'
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ArchiveEntry, contentsOf, readArchive, writeArchive } from '../../../platform/backup/archive.ts'
import type { Passphrase } from '../../../platform/backup/seal.ts'
import { isStorageKey } from '../../../platform/files/store.ts'

/** Suffix of the marker file beside a copy whose original was deleted. The marker's modification time tells when. */
const GONE = '.borrado'
/**
 * Time after a folder's change in which it is read again, in milliseconds. A second change may fall in the same tick of
 * the file system's clock and leave the same timestamp.
 */
const TICK = 2_000

const namesIn = (folder: string) =>
  readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return []
    throw error
  })

/**
 * Sealed copies of the files of a local store (platform/files/store.ts), in the same subfolders. A file's contents
 * never change, so each is copied once. When a file is deleted, its copy stays until no backup of the database refers
 * to it.
 */
export class FileCopies {
  readonly #from: string
  readonly #to: string
  readonly #passphrase: Passphrase
  /** Modification time of each subfolder when it was last read. */
  readonly #seen = new Map<string, number>()

  constructor(from: string, to: string, passphrase: Passphrase) {
    this.#from = from
    this.#to = to
    this.#passphrase = passphrase
  }

  /** Copies new files, and marks the copies of deleted files. */
  async update(): Promise<void> {
    for (const sub of await namesIn(this.#from)) {
      const { mtimeMs } = await stat(join(this.#from, sub))
      if (this.#seen.get(sub) === mtimeMs) continue
      await this.#updateSub(sub)
      if (Date.now() - mtimeMs > TICK) this.#seen.set(sub, mtimeMs)
    }
  }

  async #updateSub(sub: string): Promise<void> {
    const [from, to] = [join(this.#from, sub), join(this.#to, sub)]
    await mkdir(to, { recursive: true, mode: 0o700 })
    const there = new Set(await namesIn(to))
    const here = new Set((await namesIn(from)).filter(isStorageKey))
    for (const name of here) if (!there.has(name)) await this.#copy(from, to, name)
    for (const name of there) {
      // A killed process leaves a copy that it was writing.
      if (name.endsWith('.parcial')) await rm(join(to, name), { force: true })
      if (!isStorageKey(name) || here.has(name) !== there.has(name + GONE)) continue
      // A restored database has files again that were gone.
      if (here.has(name)) await rm(join(to, name + GONE))
      else await writeFile(join(to, name + GONE), '', { mode: 0o600 })
    }
  }

  async #copy(from: string, to: string, name: string): Promise<void> {
    const entry: ArchiveEntry = { path: name, contenido: contentsOf(join(from, name)) }
    try {
      await writeArchive(join(to, name), this.#passphrase, [entry])
    } catch (error) {
      // The service may delete the file while it is copied.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || existsSync(join(from, name))) throw error
    }
  }

  /** Removes the copies of files that were deleted before an instant. */
  async prune(before: Date): Promise<void> {
    for (const sub of await namesIn(this.#to))
      for (const name of await namesIn(join(this.#to, sub))) {
        if (!name.endsWith(GONE)) continue
        const mark = join(this.#to, sub, name)
        if ((await stat(mark)).mtime >= before) continue
        await rm(mark.slice(0, -GONE.length), { force: true })
        await rm(mark)
      }
  }
}

/** Yields the copied files as archive entries `archivos/…`. */
export async function* copiedFiles(folder: string, passphrase: Passphrase): AsyncGenerator<ArchiveEntry> {
  for (const sub of await namesIn(folder))
    for (const name of (await namesIn(join(folder, sub))).filter(isStorageKey))
      for await (const { contenido } of readArchive(join(folder, sub, name), passphrase))
        yield { path: `archivos/${sub}/${name}`, contenido }
}
