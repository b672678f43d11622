// Parts of the continuous backup: pieces of the log, copies of files, and what is removed when.

import { randomBytes } from 'node:crypto'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { copiedFiles, FileCopies } from '../../server/data/embedded/continuous/fileCopies.ts'
import {
  baseFile,
  listBases,
  numberOfSegment,
  placesIn,
  prepareFolder,
  pruneBases,
} from '../../server/data/embedded/continuous/folder.ts'
import { WalInbox } from '../../server/data/embedded/continuous/inbox.ts'
import { listPieces, readSegment, WalPieces } from '../../server/data/embedded/continuous/pieces.ts'
import { SEGMENT, segmentName } from '../../server/data/embedded/continuous/walStream.ts'
import { readLsn } from '../../server/data/lsn.ts'
import { Passphrase } from '../../server/platform/backup/seal.ts'

const base = mkdtempSync(join(tmpdir(), 'guias-continuo-'))
afterAll(() => rmSync(base, { recursive: true }))
const clave = new Passphrase('una clave larga de prueba')

let serie = 0
const carpetaNueva = () => {
  const carpeta = join(base, `${serie++}`)
  mkdirSync(carpeta)
  return carpeta
}

describe('the log', () => {
  it('has the names of PostgreSQL’s own files', () => {
    expect(readLsn('16/B374D848')).toBe(0x16b374d848n)
    expect(segmentName(1, readLsn('0/1FFFFFF'))).toBe('000000010000000000000001')
    expect(segmentName(10, readLsn('2A/FF000000'))).toBe('0000000A0000002A000000FF')
    // The number of the last segment of 4 GB is followed by that of the first one of the next.
    const numeros = ['2A/FF000000', '2B/0', '2B/1000000'].map((lsn) => numberOfSegment(segmentName(10, readLsn(lsn))))
    expect(numeros).toEqual([0x2affn, 0x2b00n, 0x2b01n])
  })

  it('is kept in pieces, of which the longest counts until the segment is whole', async () => {
    const carpeta = carpetaNueva()
    const inicio = 3n * SEGMENT
    const nombre = segmentName(1, inicio)
    const leer = () => readSegment(carpeta, listPieces(carpeta).get(nombre)!, clave)
    const bytes = randomBytes(Number(SEGMENT) + 1_000)

    const primero = new WalPieces(carpeta, clave, 1)
    await primero.append(inicio, bytes.subarray(0, 300_000))
    await primero.append(inicio + 300_000n, bytes.subarray(300_000, 400_000))
    await primero.close()
    const segundo = new WalPieces(carpeta, clave, 1)
    await segundo.append(inicio, bytes.subarray(0, 100_000))
    expect(listPieces(carpeta).get(nombre)).toEqual([`${nombre}.0`, `${nombre}.1`])
    expect((await leer()).equals(bytes.subarray(0, 400_000))).toBe(true)

    await segundo.append(inicio + 100_000n, bytes.subarray(100_000))
    await segundo.close()
    const siguiente = segmentName(1, inicio + SEGMENT)
    expect([...listPieces(carpeta)]).toEqual([
      [nombre, [`${nombre}.1`]],
      [siguiente, [`${siguiente}.0`]],
    ])
    expect((await leer()).equals(bytes.subarray(0, Number(SEGMENT)))).toBe(true)
    await expect(readSegment(carpeta, [`${nombre}.1`], new Passphrase('otra'))).rejects.toThrow('La clave no es')
  })

  it('ends with the last whole write if the machine died in the middle of one', async () => {
    const carpeta = carpetaNueva()
    const bytes = randomBytes(200_000)
    const escritor = new WalPieces(carpeta, clave, 1)
    await escritor.append(0n, bytes.subarray(0, 100_000))
    const [[nombre = '', piezas = []] = []] = [...listPieces(carpeta)]
    const entero = readFileSync(join(carpeta, piezas[0]!)).length
    await escritor.append(100_000n, bytes.subarray(100_000))
    await escritor.close()
    expect(nombre).toBe(segmentName(1, 0n))
    for (const sinNada of [0, 5, 30, 41, 60]) {
      writeFileSync(join(carpeta, `${nombre}.1`), readFileSync(join(carpeta, piezas[0]!)).subarray(0, sinNada))
      expect(await readSegment(carpeta, [`${nombre}.1`], clave)).toHaveLength(0)
    }
    for (const cortado of [entero, entero + 3, entero + 5_000]) {
      truncateSync(join(carpeta, piezas[0]!), cortado)
      expect((await readSegment(carpeta, piezas, clave)).equals(bytes.subarray(0, 100_000))).toBe(true)
      writeFileSync(join(carpeta, piezas[0]!), Buffer.alloc(10_000), { flag: 'a' })
      expect((await readSegment(carpeta, piezas, clave)).equals(bytes.subarray(0, 100_000))).toBe(true)
    }
  })

  it('makes the server wait while eight megabytes are not written', async () => {
    const carpeta = carpetaNueva()
    const bandeja = new WalInbox()
    const trozo = randomBytes(1024 * 1024)
    const caben = Array.from({ length: 8 }, (_, i) => bandeja.add(BigInt(i * trozo.length), trozo))
    expect(caben).toEqual([true, true, true, true, true, true, true, false])
    const confirmados: bigint[] = []
    const corriente = { confirm: (lsn: bigint) => void confirmados.push(lsn) }
    const escritor = new WalPieces(carpeta, clave, 1)
    const escrito = bandeja.writeTo(escritor, corriente)
    const fin = BigInt(8 * trozo.length)
    expect(await bandeja.reaches(fin, 10_000)).toBe(true)
    expect(confirmados).toEqual([fin])
    expect(await bandeja.reaches(fin + 1n, 1)).toBe(false)
    bandeja.add(fin, trozo)
    bandeja.discard()
    await escrito
    await escritor.close()
    expect(confirmados).toEqual([fin])
  })
})

describe('the files', () => {
  it('are copied once, and their copies stay until no copy of the database can name them', async () => {
    const [desde, hacia] = [carpetaNueva(), carpetaNueva()]
    const copias = new FileCopies(desde, hacia, clave)
    const leer = async () => {
      const leidas: Record<string, string> = {}
      for await (const { path: ruta, contenido } of copiedFiles(hacia, clave))
        leidas[ruta] = Buffer.concat(await Array.fromAsync(contenido!)).toString()
      return leidas
    }
    mkdirSync(join(desde, 'AB'))
    writeFileSync(join(desde, 'AB', 'arch_AB'), 'una foto')
    writeFileSync(join(desde, 'AB', 'arch_2AB.parcial'), 'media')
    await copias.update()
    expect(await leer()).toEqual({ 'archivos/AB/arch_AB': 'una foto' })
    expect(readFileSync(join(hacia, 'AB', 'arch_AB')).includes('foto')).toBe(false)

    writeFileSync(join(desde, 'AB', 'arch_3AB'), 'otra')
    rmSync(join(desde, 'AB', 'arch_AB'))
    await copias.update()
    expect(await leer()).toEqual({ 'archivos/AB/arch_AB': 'una foto', 'archivos/AB/arch_3AB': 'otra' })
    const marca = join(hacia, 'AB', 'arch_AB.borrado')
    utimesSync(marca, new Date(1_000), new Date(1_000_000))
    await copias.prune(new Date(1_000_000))
    expect(Object.keys(await leer())).toHaveLength(2)
    await copias.prune(new Date(1_000_001))
    expect(await leer()).toEqual({ 'archivos/AB/arch_3AB': 'otra' })
    expect(readdirSync(join(hacia, 'AB'))).toEqual(['arch_3AB'])
  })
})

describe('a file that was gone', () => {
  it('keeps its copy for good once it is back, as after a restore, and half copies are removed', async () => {
    const [desde, hacia] = [carpetaNueva(), carpetaNueva()]
    mkdirSync(join(desde, 'AB'))
    const archivo = join(desde, 'AB', 'arch_AB')
    writeFileSync(archivo, 'una foto')
    await new FileCopies(desde, hacia, clave).update()
    rmSync(archivo)
    await new FileCopies(desde, hacia, clave).update()
    expect(readdirSync(join(hacia, 'AB')).sort()).toEqual(['arch_AB', 'arch_AB.borrado'])

    writeFileSync(archivo, 'una foto')
    writeFileSync(join(hacia, 'AB', 'arch_2AB.4711.parcial'), 'of a process that was killed')
    const copias = new FileCopies(desde, hacia, clave)
    await copias.update()
    await copias.prune(new Date(Date.now() + 1_000))
    expect(readdirSync(join(hacia, 'AB'))).toEqual(['arch_AB'])
  })
})

describe('copies of the cluster', () => {
  it('are kept as long as one of them is needed to go back so far, with the log since the oldest', async () => {
    const carpeta = carpetaNueva()
    prepareFolder(carpeta)
    const dia = (numero: number) => new Date(Date.UTC(2026, 10, numero, 3))
    const segmento = (numero: number) => segmentName(1, BigInt(numero) * SEGMENT)
    for (const numero of [1, 2, 3, 4]) writeFileSync(baseFile(carpeta, dia(numero), segmento(numero * 10)), '')
    const { log, bases } = placesIn(carpeta)
    for (let i = 5; i <= 45; i++) writeFileSync(join(log, `${segmento(i)}.0`), '')
    writeFileSync(join(log, '00000002.history.respaldo'), '')

    expect(await pruneBases(carpeta, new Date(dia(3).getTime() - 1))).toEqual(dia(2))
    expect(listBases(carpeta).map(({ end }) => end)).toEqual([dia(2), dia(3), dia(4)])
    expect([...listPieces(log).keys()][0]).toBe(segmento(20))
    expect(readdirSync(log)).toContain('00000002.history.respaldo')
    expect(await pruneBases(carpeta, dia(30))).toEqual(dia(4))

    writeFileSync(join(bases, 'nueva.parcial'), 'a half-made copy')
    prepareFolder(carpeta)
    expect(readdirSync(bases)).toHaveLength(1)
  })
})
