import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { StoreDifferences } from '../../server/domain/archivos/metrics.ts'
import { localStoreIn, openStore } from '../../server/domain/archivos/openStore.ts'
import { createReception } from '../../server/domain/archivos/reception.ts'
import { sweepArchivos, sweepUnknownFiles } from '../../server/domain/archivos/sweep.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import type { FileStore } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { DAY_MS } from '../../server/platform/time/units.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findNodeProcess, listo, useProcesses } from '../processes.ts'
import { createFoto, createGuiaOnRoute, uploadArchivo } from './images.ts'

const environment = useEnvironment()
const processes = useProcesses()
let guia: string
let baseFolder: string
beforeAll(async () => {
  guia = await createGuiaOnRoute(environment, await environment.createComercio())
  baseFolder = await mkdtemp(join(tmpdir(), 'guias-fallas-'))
})
afterAll(() => rm(baseFolder, { recursive: true, force: true }))

const differences: StoreDifferences[] = []
const deps = (store: FileStore, days = 0, log = createLog('silent')) => ({
  db: environment.db,
  store,
  clock: () => new Date(Date.now() + days * DAY_MS),
  log,
  metrics: { differences: (findings: StoreDifferences) => void differences.push(findings) },
})
const guardados = async (store: FileStore) => (await Array.fromAsync(store.list())).map(({ clave: key }) => key).sort()
const readTableRows = async () => {
  const { rows } = await environment.db.pool.query('select archivo, bytes from archivo order by 1')
  return rows as { archivo: string; bytes: number }[]
}
const names = async () => (await readTableRows()).map(({ archivo }) => archivo)

// Somebody else's disk can't be filled: it takes a small one of our own, and who may mount it.
const disco = process.platform === 'linux' && process.getuid?.() === 0
describe.skipIf(!disco)('a full disk (as root alone, who may mount one)', () => {
  const mount = (folder: string, bytes: number) =>
    spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${bytes}`, 'tmpfs', folder]).status
  const unmount = (folder: string) => spawnSync('umount', [folder]).status

  it.each([
    ['where uploads wait', 'subidas'],
    ['where files are kept', 'archivos'],
  ])('%s: 503, nothing half-written, no row; and again when there is room', async (_donde, target) => {
    const folder = join(environment.dataDir, target)
    await rm(folder, { recursive: true, force: true })
    await mkdir(folder)
    expect(mount(folder, 65_536)).toBe(0)
    const before = await readTableRows()
    try {
      const grande = await createFoto({ ancho: 3_000, alto: 2_500, noise: 40 })
      expect(grande.length).toBeGreaterThan(1_000_000)
      for (let i = 0; i < 3; i++) {
        const { status, body, headers } = await uploadArchivo(environment, guia, { bytes: grande })
        expect([status, body.codigo, headers.get('retry-after')]).toEqual([503, 'no_disponible', '2'])
      }
      expect(
        await readdir(folder, { recursive: true }).then((fileNames) => fileNames.filter((n) => n.length > 2)),
      ).toEqual([])
      expect(await readTableRows()).toEqual(before)
      // What fits is taken: it was the disk.
      expect(
        (await uploadArchivo(environment, guia, { bytes: await createFoto({ ancho: 200, alto: 200 }) })).status,
      ).toBe(201)
      expect((await readTableRows()).length).toBe(before.length + 1)
    } finally {
      expect(unmount(folder)).toBe(0)
    }
    expect((await uploadArchivo(environment, guia)).status).toBe(201)
    // What was kept on the small disk went with it.
    await environment.db.pool.query('delete from archivo')
    await environment.db.pool.query('delete from archivo_indice')
    for (const key of await guardados(localStoreIn(environment.dataDir)))
      await localStoreIn(environment.dataDir).remove(key)
  })
})

describe('a killed service', () => {
  it('leaves no row without its file, and what it leaves besides is swept', FULL_RUN_ONLY, async () => {
    const dataDir = processes.nextFolder()
    const store = localStoreIn(dataDir)
    const variables = { DATABASE_URL: environment.databaseUrl, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
    const base = { ...variables, DATA_DIR: dataDir, WORKERS: '0' }
    const foto = new Uint8Array(await createFoto({ ancho: 2_000, alto: 1_500, noise: 30 }))
    const uploadedArchivos: string[] = []
    const countedArchivos = new Set<string>()
    const isReceiving = async () => (await readdir(join(dataDir, 'subidas')).catch(() => [])).length > 0
    for (const moment of [
      isReceiving,
      async () => uploadedArchivos.length > 0,
      async () => uploadedArchivos.length > 3,
    ]) {
      uploadedArchivos.length = 0
      const child = processes.npmStart(base)
      const url = await listo(child)
      const subidas = Array.from({ length: 6 }, async () => {
        const response = await fetch(`${url}/operaciones/v1/guias/${guia}/archivos?tipo=foto`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${environment.llaveDeOperacion}`, 'Content-Type': 'image/jpeg' },
          body: foto,
        })
        const { archivo } = (await response.json()) as { archivo: string }
        expect(response.status).toBe(201)
        uploadedArchivos.push(archivo)
      })
      await waitUntil(moment)
      process.kill(findNodeProcess(dataDir), 'SIGKILL')
      for (const { status } of await Promise.allSettled(subidas)) countedArchivos.add(status)
      await child.waitForEnd()
      for (const { archivo, bytes } of await readTableRows())
        expect([archivo, (await stat(join(dataDir, 'archivos', archivo.slice(-2), archivo))).size]).toEqual([
          archivo,
          bytes,
        ])
      expect(await names()).toEqual(expect.arrayContaining(uploadedArchivos))
    }
    // Some were cut off, or this has shown nothing.
    expect(countedArchivos).toContain('rejected')
    await sweepArchivos(deps(store, 0.1))
    expect(await guardados(store)).toEqual(await names())
    const { rows } = await environment.db.pool.query(`select from archivo_indice where estado <> 'listo'`)
    expect(rows).toEqual([])
    // What waited for its turn is cleaned up an hour later, by whichever process takes an upload.
    const subidas = join(dataDir, 'subidas')
    const oldFiles = await readdir(subidas)
    for (const old of oldFiles) await utimes(join(subidas, old), 0, 0)
    await writeFile(join(subidas, 'de-otro-proceso'), 'x')
    await createReception(subidas).receive(Readable.from([Buffer.from('x')]), async () => {})
    expect(await readdir(subidas)).toEqual(['de-otro-proceso'])
  })
})

describe('uploads', () => {
  it('are 32 at once and no more, and one that waits for the storage holds up no other', async () => {
    const reception = createReception(join(baseFolder, 'subidas'))
    const sample = () => Readable.from([Buffer.from('x')])
    let release = () => {}
    const door = new Promise<void>((resolve) => {
      release = resolve
    })
    const decodedSizes: number[] = []
    const concurrent = Array.from({ length: 32 }, (_, i) =>
      reception.receive(sample(), async (path, takeTurn) => {
        await takeTurn(async () => decodedSizes.push((await readFile(path)).length))
        await door
        return i
      }),
    )
    await expect(reception.receive(sample(), async () => {})).rejects.toMatchObject({ codigo: 'no_disponible' })
    await waitUntil(async () => decodedSizes.length === 32)
    release()
    expect((await Promise.all(concurrent)).length).toBe(32)
    expect(await reception.receive(sample(), async () => 'otra vez')).toBe('otra vez')
    expect(await readdir(join(baseFolder, 'subidas'))).toEqual([])
  })

  it('leave files that another process writes, and delete files older than an hour', async () => {
    const folder = await mkdtemp(join(baseFolder, 'edades-'))
    for (const [name, minutes] of [
      ['vieja', 61],
      ['reciente', 59],
    ] as const) {
      await writeFile(join(folder, name), 'x')
      const moment = new Date(Date.now() - minutes * 60_000)
      await utimes(join(folder, name), moment, moment)
    }
    await createReception(folder).receive(Readable.from([Buffer.from('x')]), async () => {})
    expect(await readdir(folder)).toEqual(['reciente'])
  })
})

/** Gives files the time of this process. `faketime` moves it, and the file system does not follow. */
async function touchFiles(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) await utimes(join(entry.parentPath, entry.name), new Date(), new Date())
}

describe('the sweeper', () => {
  const lines: string[] = []
  const log = createLog('info', { write: (line) => lines.push(line) })

  it('forgets no name while the storage fails', async () => {
    const { body } = await uploadArchivo(environment, guia)
    const store = localStoreIn(environment.dataDir)
    const { save, read, exists, list: listar } = store
    const goneStore: FileStore = {
      save,
      read,
      exists,
      list: listar,
      remove: () => Promise.reject(new Error('storage')),
    }
    await uploadArchivo(environment, guia)
    const before = await names()
    await expect(sweepArchivos(deps(goneStore, 8))).rejects.toThrow('storage')
    const { rows } = await environment.db.pool.query(
      `select archivo from archivo_indice where estado = 'borrando' order by 1`,
    )
    expect(rows.map(({ archivo }) => archivo)).toEqual(before)
    expect(before).toContain(body.archivo)
    await sweepArchivos(deps(store))
    expect(await guardados(store)).toEqual([])
  })

  it('goes on past a file that can’t be deleted, and comes back for it', async () => {
    const store = localStoreIn(environment.dataDir)
    const uploads = [
      await uploadArchivo(environment, guia),
      await uploadArchivo(environment, guia),
      await uploadArchivo(environment, guia),
    ]
    const [stubbornKey, ...others] = uploads.map(({ body }) => body.archivo as string)
    const { save, read, exists, list: listar } = store
    // As root restored it, say.
    const storeWithStubbornFile: FileStore = {
      save,
      read,
      exists,
      list: listar,
      remove: (key) => (key === stubbornKey ? Promise.reject(new Error('not permitted')) : store.remove(key)),
    }
    await expect(sweepArchivos(deps(storeWithStubbornFile, 8))).rejects.toThrow('not permitted')
    expect(await guardados(store)).toEqual([stubbornKey])
    const { rows } = await environment.db.pool.query(
      'select archivo, estado from archivo_indice where archivo = any($1)',
      [[stubbornKey, ...others]],
    )
    expect(rows).toEqual([{ archivo: stubbornKey, estado: 'borrando' }])
    await sweepArchivos(deps(store))
    expect(await guardados(store)).toEqual([])
  })

  it('deletes what has had no name for a week, but not where most of the files are unknown', async () => {
    const store = localStoreIn(environment.dataDir)
    const uploads = await Promise.all([
      uploadArchivo(environment, guia),
      uploadArchivo(environment, guia),
      uploadArchivo(environment, guia),
    ])
    const withName = uploads.map(({ body }) => body.archivo as string).sort()
    await store.save('arch_SINNOMBRE0000000', Buffer.from('x'), 'image/jpeg')
    const queue = withName[0]!.slice(-2)
    await writeFile(join(environment.dataDir, 'archivos', queue, `arch_SINNOMBRE11111${queue}.parcial`), 'x')
    await touchFiles(join(environment.dataDir, 'archivos'))
    // As old as the service's clock says: its files get older, too.
    await sweepUnknownFiles(deps(store, 6))
    expect((await guardados(store)).length).toBe(5)
    expect(differences.at(-1)).toEqual({ filesWithoutRow: 2, missingFiles: 0 })
    await sweepUnknownFiles(deps(store, 8, log))
    expect(lines.join()).toMatch(/"archivos":2,"de":5.*unknown files swept/)
    expect(await guardados(store)).toEqual(withName)
    expect(differences.at(-1)).toEqual({ filesWithoutRow: 0, missingFiles: 0 })
    for (const { archivo } of await readTableRows())
      expect((await stat(join(environment.dataDir, 'archivos', archivo.slice(-2), archivo))).size).toBeGreaterThan(0)
    // What somebody else keeps in the same bucket is no file of ours, however few they are.
    await store.save('respaldo-2026', Buffer.from('x'), 'application/pdf')
    await sweepUnknownFiles(deps(store, 8))
    expect(await guardados(store)).toEqual([...withName, 'respaldo-2026'])
    await store.remove('respaldo-2026')
    // Another environment's files: whoever points a service at them keeps them.
    const { store: foreign } = await openStore(readConfig({ DATA_DIR: join(baseFolder, 'ajeno') }, '/'))
    for (const key of ['arch_AJENO1', 'arch_AJENO2']) await foreign.save(key, Buffer.from('x'), 'image/jpeg')
    await sweepUnknownFiles(deps(foreign, 8, log))
    expect(await guardados(foreign)).toEqual(['arch_AJENO1', 'arch_AJENO2'])
    expect(differences.at(-1)).toEqual({ filesWithoutRow: 2, missingFiles: 3 })
    expect(lines.join()).toMatch(/"archivos":2,"de":2.*nothing deleted/)
  })

  it('stops at the first page of 500 in which most files are unknown', async () => {
    const { body } = await uploadArchivo(environment, guia)
    const foreignItems = Array.from({ length: 500 }, (_, i) => `arch_AJENO${i}`)
    const borrados: string[] = []
    const store: FileStore = {
      ...localStoreIn(environment.dataDir),
      async *list() {
        for (const key of [...foreignItems, body.archivo, 'arch_SINNOMBRE'])
          yield { clave: key, modifiedAt: new Date(0) }
      },
      remove: async (key) => void borrados.push(key),
    }
    await sweepUnknownFiles(deps(store))
    expect(borrados).toEqual([])
    expect(differences.at(-1)).toEqual({ filesWithoutRow: 500 })
  })
})
