import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { writeEntries } from '../../server/data/embedded/backup.ts'
import { type ArchiveEntry, readArchive, writeArchive } from '../../server/platform/backup/archive.ts'
import { ArchiveError, Passphrase } from '../../server/platform/backup/seal.ts'

const folder = mkdtempSync(join(tmpdir(), 'guias-archivo-'))
afterAll(() => rmSync(folder, { recursive: true }))
const CLAVE = new Passphrase('una clave larga de prueba')

let seriesId = 0
async function write(entradas: readonly { path: string; bytes?: Buffer }[]) {
  const file = join(folder, `${seriesId++}.respaldo`)
  async function* all(): AsyncGenerator<ArchiveEntry> {
    for (const { path, bytes } of entradas) yield { path, ...(bytes && { contenido: Readable.from([bytes]) }) }
  }
  await writeArchive(file, CLAVE, all())
  return file
}
async function read(file: string, key = CLAVE) {
  const entries: { path: string; bytes?: Buffer }[] = []
  for await (const { path, contenido } of readArchive(file, key)) {
    const chunks: Buffer[] = []
    if (contenido) for await (const chunk of contenido) chunks.push(chunk)
    entries.push({ path, ...(contenido && { bytes: Buffer.concat(chunks) }) })
  }
  return entries
}
/** Bytes that do not compress. */
const GRANDE = randomBytes(300_000)
const ENTRADAS = [{ path: 'pgdata' }, { path: 'pgdata/vacio', bytes: Buffer.alloc(0) }, { path: 'a/b', bytes: GRANDE }]

describe('an archive', () => {
  it('gives back folders and files, and shows neither names nor contents', async () => {
    const file = await write(ENTRADAS)
    expect(await read(file)).toEqual(ENTRADAS)
    expect(readFileSync(file).includes('pgdata')).toBe(false)
    expect(readFileSync(file).includes(GRANDE.subarray(0, 32))).toBe(false)
  })

  it('is not opened by another passphrase', async () => {
    await expect(read(await write(ENTRADAS), new Passphrase('otra clave'))).rejects.toThrow(
      /^La clave no es la de este respaldo/,
    )
  })

  it('is refused if a byte changed, its end is missing, or two of its frames change places', async () => {
    const file = await write(ENTRADAS)
    const good = readFileSync(file)
    const probar = (bytes: Buffer) => {
      writeFileSync(file, bytes)
      return expect(read(file)).rejects.toBeInstanceOf(ArchiveError)
    }
    for (const place of [0, 10, 30, 1_000, 100_000, good.length - 1]) {
      const bad = Buffer.from(good)
      bad[place] = bad[place]! ^ 1
      await probar(bad)
    }
    for (const length of [4, 20, 24, 40, 42, 1_000, 200_000, good.length - 1]) await probar(good.subarray(0, length))
    const marco = 4 + 64 * 1024 + 16
    const header = 8 + 16 + 16
    const [head, one, other, rest] = [
      good.subarray(0, header),
      good.subarray(header, header + marco),
      good.subarray(header + marco, header + 2 * marco),
      good.subarray(header + 2 * marco),
    ]
    await probar(Buffer.concat([head, other, one, rest]))
    await probar(Buffer.concat([head, one, rest]))
  })

  it('leaves nothing behind if its contents cannot be read', async () => {
    const file = join(folder, 'falla.respaldo')
    async function* bad(): AsyncGenerator<ArchiveEntry> {
      yield { path: 'a', contenido: Readable.from([GRANDE]) }
      throw new Error('disk on fire')
    }
    await expect(writeArchive(file, CLAVE, bad())).rejects.toThrow('disk on fire')
    expect(readdirSync(folder).filter((name) => name.startsWith('falla'))).toEqual([])
  })
})

describe('the files of a restore', () => {
  it.each(['../fuera', 'a/../../fuera', '/fuera', 'a//b', './fuera', 'a\\b', ''])(
    'are not written to «%s»',
    async (path) => {
      const inside = join(folder, `${seriesId++}`)
      const file = await write([
        { path: 'bien', bytes: Buffer.from('x') },
        { path, bytes: Buffer.from('x') },
      ])
      await expect(writeEntries(inside, readArchive(file, CLAVE))).rejects.toThrow('tiene una ruta que no vale')
      expect([readdirSync(inside), existsSync(join(folder, 'fuera'))]).toEqual([['bien'], false])
    },
  )
})
