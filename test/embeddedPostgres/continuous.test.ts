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
const key = new Passphrase('una clave larga de prueba')

let seriesId = 0
const createFolder = () => {
  const folder = join(base, `${seriesId++}`)
  mkdirSync(folder)
  return folder
}

describe('the log', () => {
  it('has the names of PostgreSQL’s own files', () => {
    expect(readLsn('16/B374D848')).toBe(0x16b374d848n)
    expect(segmentName(1, readLsn('0/1FFFFFF'))).toBe('000000010000000000000001')
    expect(segmentName(10, readLsn('2A/FF000000'))).toBe('0000000A0000002A000000FF')
    // The number of the last segment of 4 GB is followed by that of the first one of the next.
    const numbers = ['2A/FF000000', '2B/0', '2B/1000000'].map((lsn) => numberOfSegment(segmentName(10, readLsn(lsn))))
    expect(numbers).toEqual([0x2affn, 0x2b00n, 0x2b01n])
  })

  it('is kept in pieces, of which the longest counts until the segment is whole', async () => {
    const folder = createFolder()
    const start = 3n * SEGMENT
    const name = segmentName(1, start)
    const read = () => readSegment(folder, listPieces(folder).get(name)!, key)
    const bytes = randomBytes(Number(SEGMENT) + 1_000)

    const first = new WalPieces(folder, key, 1)
    await first.append(start, bytes.subarray(0, 300_000))
    await first.append(start + 300_000n, bytes.subarray(300_000, 400_000))
    await first.close()
    const second = new WalPieces(folder, key, 1)
    await second.append(start, bytes.subarray(0, 100_000))
    expect(listPieces(folder).get(name)).toEqual([`${name}.0`, `${name}.1`])
    expect((await read()).equals(bytes.subarray(0, 400_000))).toBe(true)

    await second.append(start + 100_000n, bytes.subarray(100_000))
    await second.close()
    const next = segmentName(1, start + SEGMENT)
    expect([...listPieces(folder)]).toEqual([
      [name, [`${name}.1`]],
      [next, [`${next}.0`]],
    ])
    expect((await read()).equals(bytes.subarray(0, Number(SEGMENT)))).toBe(true)
    await expect(readSegment(folder, [`${name}.1`], new Passphrase('otra'))).rejects.toThrow('La clave no es')
  })

  it('ends with the last whole write if the machine died in the middle of one', async () => {
    const folder = createFolder()
    const bytes = randomBytes(200_000)
    const writer = new WalPieces(folder, key, 1)
    await writer.append(0n, bytes.subarray(0, 100_000))
    const [[name = '', pieces = []] = []] = [...listPieces(folder)]
    const whole = readFileSync(join(folder, pieces[0]!)).length
    await writer.append(100_000n, bytes.subarray(100_000))
    await writer.close()
    expect(name).toBe(segmentName(1, 0n))
    for (const bareEntry of [0, 5, 30, 41, 60]) {
      writeFileSync(join(folder, `${name}.1`), readFileSync(join(folder, pieces[0]!)).subarray(0, bareEntry))
      expect(await readSegment(folder, [`${name}.1`], key)).toHaveLength(0)
    }
    for (const cutOff of [whole, whole + 3, whole + 5_000]) {
      truncateSync(join(folder, pieces[0]!), cutOff)
      expect((await readSegment(folder, pieces, key)).equals(bytes.subarray(0, 100_000))).toBe(true)
      writeFileSync(join(folder, pieces[0]!), Buffer.alloc(10_000), { flag: 'a' })
      expect((await readSegment(folder, pieces, key)).equals(bytes.subarray(0, 100_000))).toBe(true)
    }
  })

  it('makes the server wait while eight megabytes are not written', async () => {
    const folder = createFolder()
    const inbox = new WalInbox()
    const chunk = randomBytes(1024 * 1024)
    const fitResults = Array.from({ length: 8 }, (_, i) => inbox.add(BigInt(i * chunk.length), chunk))
    expect(fitResults).toEqual([true, true, true, true, true, true, true, false])
    const confirmados: bigint[] = []
    const stream = { confirm: (lsn: bigint) => void confirmados.push(lsn) }
    const writer = new WalPieces(folder, key, 1)
    const written = inbox.writeTo(writer, stream)
    const end = BigInt(8 * chunk.length)
    expect(await inbox.reaches(end, 10_000)).toBe(true)
    expect(confirmados).toEqual([end])
    expect(await inbox.reaches(end + 1n, 1)).toBe(false)
    inbox.add(end, chunk)
    inbox.discard()
    await written
    await writer.close()
    expect(confirmados).toEqual([end])
  })
})

describe('the files', () => {
  it('are copied once, and their copies stay until no copy of the database can name them', async () => {
    const [from, toward] = [createFolder(), createFolder()]
    const copies = new FileCopies(from, toward, key)
    const read = async () => {
      const readItems: Record<string, string> = {}
      for await (const { path, contenido } of copiedFiles(toward, key))
        readItems[path] = Buffer.concat(await Array.fromAsync(contenido!)).toString()
      return readItems
    }
    mkdirSync(join(from, 'AB'))
    writeFileSync(join(from, 'AB', 'arch_AB'), 'una foto')
    writeFileSync(join(from, 'AB', 'arch_2AB.parcial'), 'media')
    await copies.update()
    expect(await read()).toEqual({ 'archivos/AB/arch_AB': 'una foto' })
    expect(readFileSync(join(toward, 'AB', 'arch_AB')).includes('foto')).toBe(false)

    writeFileSync(join(from, 'AB', 'arch_3AB'), 'otra')
    rmSync(join(from, 'AB', 'arch_AB'))
    await copies.update()
    expect(await read()).toEqual({ 'archivos/AB/arch_AB': 'una foto', 'archivos/AB/arch_3AB': 'otra' })
    const mark = join(toward, 'AB', 'arch_AB.borrado')
    utimesSync(mark, new Date(1_000), new Date(1_000_000))
    await copies.prune(new Date(1_000_000))
    expect(Object.keys(await read())).toHaveLength(2)
    await copies.prune(new Date(1_000_001))
    expect(await read()).toEqual({ 'archivos/AB/arch_3AB': 'otra' })
    expect(readdirSync(join(toward, 'AB'))).toEqual(['arch_3AB'])
  })
})

describe('a file that was gone', () => {
  it('keeps its copy for good once it is back, as after a restore, and half copies are removed', async () => {
    const [from, toward] = [createFolder(), createFolder()]
    mkdirSync(join(from, 'AB'))
    const file = join(from, 'AB', 'arch_AB')
    writeFileSync(file, 'una foto')
    await new FileCopies(from, toward, key).update()
    rmSync(file)
    await new FileCopies(from, toward, key).update()
    expect(readdirSync(join(toward, 'AB')).sort()).toEqual(['arch_AB', 'arch_AB.borrado'])

    writeFileSync(file, 'una foto')
    writeFileSync(join(toward, 'AB', 'arch_2AB.4711.parcial'), 'of a process that was killed')
    const copies = new FileCopies(from, toward, key)
    await copies.update()
    await copies.prune(new Date(Date.now() + 1_000))
    expect(readdirSync(join(toward, 'AB'))).toEqual(['arch_AB'])
  })
})

describe('copies of the cluster', () => {
  it('are kept as long as one of them is needed to go back so far, with the log since the oldest', async () => {
    const folder = createFolder()
    prepareFolder(folder)
    const day = (number: number) => new Date(Date.UTC(2026, 10, number, 3))
    const segment = (number: number) => segmentName(1, BigInt(number) * SEGMENT)
    for (const number of [1, 2, 3, 4]) writeFileSync(baseFile(folder, day(number), segment(number * 10)), '')
    const { log, bases } = placesIn(folder)
    for (let i = 5; i <= 45; i++) writeFileSync(join(log, `${segment(i)}.0`), '')
    writeFileSync(join(log, '00000002.history.respaldo'), '')

    expect(await pruneBases(folder, new Date(day(3).getTime() - 1))).toEqual(day(2))
    expect(listBases(folder).map(({ end }) => end)).toEqual([day(2), day(3), day(4)])
    expect([...listPieces(log).keys()][0]).toBe(segment(20))
    expect(readdirSync(log)).toContain('00000002.history.respaldo')
    expect(await pruneBases(folder, day(30))).toEqual(day(4))

    writeFileSync(join(bases, 'nueva.parcial'), 'a half-made copy')
    prepareFolder(folder)
    expect(readdirSync(bases)).toHaveLength(1)
  })
})
