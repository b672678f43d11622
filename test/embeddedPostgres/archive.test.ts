import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, describe, expect, it } from 'vitest'
import { writeEntries } from '../../server/data/embedded/backup.ts'
import { type ArchiveEntry, readArchive, writeArchive } from '../../server/platform/backup/archive.ts'
import { ArchiveError, Passphrase } from '../../server/platform/backup/seal.ts'

const carpeta = mkdtempSync(join(tmpdir(), 'guias-archivo-'))
afterAll(() => rmSync(carpeta, { recursive: true }))
const CLAVE = new Passphrase('una clave larga de prueba')

let serie = 0
async function escribir(entradas: readonly { path: string; bytes?: Buffer }[]) {
  const archivo = join(carpeta, `${serie++}.respaldo`)
  async function* todas(): AsyncGenerator<ArchiveEntry> {
    for (const { path: ruta, bytes } of entradas)
      yield { path: ruta, ...(bytes && { contenido: Readable.from([bytes]) }) }
  }
  await writeArchive(archivo, CLAVE, todas())
  return archivo
}
async function leer(archivo: string, clave = CLAVE) {
  const leidas: { path: string; bytes?: Buffer }[] = []
  for await (const { path: ruta, contenido } of readArchive(archivo, clave)) {
    const trozos: Buffer[] = []
    if (contenido) for await (const trozo of contenido) trozos.push(trozo)
    leidas.push({ path: ruta, ...(contenido && { bytes: Buffer.concat(trozos) }) })
  }
  return leidas
}
/** Bytes that do not compress. */
const GRANDE = randomBytes(300_000)
const ENTRADAS = [{ path: 'pgdata' }, { path: 'pgdata/vacio', bytes: Buffer.alloc(0) }, { path: 'a/b', bytes: GRANDE }]

describe('an archive', () => {
  it('gives back folders and files, and shows neither names nor contents', async () => {
    const archivo = await escribir(ENTRADAS)
    expect(await leer(archivo)).toEqual(ENTRADAS)
    expect(readFileSync(archivo).includes('pgdata')).toBe(false)
    expect(readFileSync(archivo).includes(GRANDE.subarray(0, 32))).toBe(false)
  })

  it('is not opened by another passphrase', async () => {
    await expect(leer(await escribir(ENTRADAS), new Passphrase('otra clave'))).rejects.toThrow(
      /^La clave no es la de este respaldo/,
    )
  })

  it('is refused if a byte changed, its end is missing, or two of its frames change places', async () => {
    const archivo = await escribir(ENTRADAS)
    const bueno = readFileSync(archivo)
    const probar = (bytes: Buffer) => {
      writeFileSync(archivo, bytes)
      return expect(leer(archivo)).rejects.toBeInstanceOf(ArchiveError)
    }
    for (const donde of [0, 10, 30, 1_000, 100_000, bueno.length - 1]) {
      const malo = Buffer.from(bueno)
      malo[donde] = malo[donde]! ^ 1
      await probar(malo)
    }
    for (const largo of [4, 20, 24, 40, 42, 1_000, 200_000, bueno.length - 1]) await probar(bueno.subarray(0, largo))
    const marco = 4 + 64 * 1024 + 16
    const cabecera = 8 + 16 + 16
    const [cabeza, uno, otro, resto] = [
      bueno.subarray(0, cabecera),
      bueno.subarray(cabecera, cabecera + marco),
      bueno.subarray(cabecera + marco, cabecera + 2 * marco),
      bueno.subarray(cabecera + 2 * marco),
    ]
    await probar(Buffer.concat([cabeza, otro, uno, resto]))
    await probar(Buffer.concat([cabeza, uno, resto]))
  })

  it('leaves nothing behind if its contents cannot be read', async () => {
    const archivo = join(carpeta, 'falla.respaldo')
    async function* mala(): AsyncGenerator<ArchiveEntry> {
      yield { path: 'a', contenido: Readable.from([GRANDE]) }
      throw new Error('disk on fire')
    }
    await expect(writeArchive(archivo, CLAVE, mala())).rejects.toThrow('disk on fire')
    expect(readdirSync(carpeta).filter((nombre) => nombre.startsWith('falla'))).toEqual([])
  })
})

describe('the files of a restore', () => {
  it.each(['../fuera', 'a/../../fuera', '/fuera', 'a//b', './fuera', 'a\\b', ''])(
    'are not written to «%s»',
    async (ruta) => {
      const dentro = join(carpeta, `${serie++}`)
      const archivo = await escribir([
        { path: 'bien', bytes: Buffer.from('x') },
        { path: ruta, bytes: Buffer.from('x') },
      ])
      await expect(writeEntries(dentro, readArchive(archivo, CLAVE))).rejects.toThrow('tiene una ruta que no vale')
      expect([readdirSync(dentro), existsSync(join(carpeta, 'fuera'))]).toEqual([['bien'], false])
    },
  )
})
