// Erasures on request after the database was restored to an earlier instant.

import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { localStoreIn } from '../../server/domain/archivos/openStore.ts'
import { Bitacora } from '../../server/domain/bitacora/bitacora.ts'
import { erasePersonaData, maintainErasures, repeatBeforeServing } from '../../server/domain/personas/erasures.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { storeBusy } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { consoleEnvironment, runInProcess } from '../console.ts'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { buildGuia, EN_POSTGRES } from '../factories.ts'

const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const erase = (telefono: string) =>
  runInProcess(['persona', 'olvidar', '--telefono', telefono, '--si', '--json'], consoleEnvironment(environment))
const deps = (keys = [MASTER_KEY], lines: string[] = []) => ({
  db: environment.db,
  clock: environment.clock,
  secretos: createSecrets(keys.map((key) => Buffer.from(key, 'base64'))),
  bitacora: new Bitacora({ db: environment.db, log: createLog('silent'), newId: createIdGenerator(environment.clock) }),
  store: localStoreIn(environment.dataDir),
  log: createLog('info', { write: (line) => lines.push(line) }),
})
const CONSOLA = { identity: null, requestId: 'x', red: '' }

/** Creates a guide for that telephone that has ended. */
async function waitForErasure(telefono: string): Promise<string> {
  const { api } = await environment.createComercio()
  const { guia } = await api.guias.crear(buildGuia({ telefono }))
  await api.guias.cancelar(guia)
  return guia
}
const remaining = async (telefono: string) =>
  Number((await environment.db.pool.query('select count(*) as n from guia where telefono = $1', [telefono])).rows[0].n)
const guardados = async () =>
  (await Array.fromAsync(deps().store.list())).map(({ clave: key }) => key).filter((key) => /^olvido_/.test(key))

let superuser: pg.Client
beforeAll(async () => {
  const url = new URL(inject('postgres'))
  url.pathname = new URL(environment.databaseUrl).pathname
  superuser = new pg.Client(url.href)
  await superuser.connect()
  await superuser.query('set session_replication_role = replica')
})
afterAll(() => superuser.end())

const TABLES_SQL = `select tablename as tabla from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations'`
/** Copies all tables. Returns a function that gives them their rows of now back. */
async function backUp(): Promise<() => Promise<void>> {
  const tables = (await superuser.query<{ tabla: string }>(TABLES_SQL)).rows.map(({ tabla: tableName }) => tableName)
  const schema = `copia_${randomBytes(4).toString('hex')}`
  await superuser.query(`create schema ${schema}`)
  for (const table of tables) await superuser.query(`create table ${schema}.${table} as table public.${table}`)
  return async () => {
    await superuser.query(`truncate ${tables.map((table) => `public.${table}`).join(', ')} cascade`)
    for (const table of tables) await superuser.query(`insert into public.${table} table ${schema}.${table}`)
    await superuser.query(`drop schema ${schema} cascade`)
  }
}

describe('an erasure on request', EN_POSTGRES, () => {
  it('is carried out again before a restored service is ready, and once', async () => {
    const [one, other, third] = ['+50255550101', '+50255550102', '+50255550103']
    await waitForErasure(one)
    await waitForErasure(other)
    const guia = await waitForErasure(third)
    const restore = await backUp()
    for (const telefono of [one, other]) expect((await erase(telefono)).codigo).toBe(0)
    await erasePersonaData(deps(), CONSOLA, { guia })
    // The restored database does not have this guide.
    await erasePersonaData(deps(), CONSOLA, { guia: await waitForErasure('+50255550104') })
    await restore()
    expect([await remaining(one), await remaining(other), await remaining(third)]).toEqual([1, 1, 1])
    await environment.reset()
    expect([await remaining(one), await remaining(other), await remaining(third)]).toEqual([0, 0, 0])
    const { rows } = await environment.db.pool.query('select numero from olvido order by numero')
    expect(rows.map(({ numero: number }) => number)).toEqual([1, 2, 3, 4])
    const countRepetitions = () => environment.log.filter((line) => line.includes('erasures carried out again')).length
    expect(countRepetitions()).toBe(1)
    await environment.reset()
    expect(countRepetitions()).toBe(1)
  })

  it('counts on after one that an interrupted call left, and carries that one out', async () => {
    const [one, other] = ['+50255550201', '+50255550202']
    await waitForErasure(one)
    await waitForErasure(other)
    const dyingErasure = {
      ...deps(),
      clock: () => {
        throw new Error('died')
      },
    }
    await expect(erasePersonaData(dyingErasure, CONSOLA, { telefono: one, comercio_id: null })).rejects.toThrow('died')
    expect(await remaining(one)).toBe(1)
    const before = await guardados()
    await Promise.all([erase(other), erase('+50255550203')])
    expect([await remaining(one), await remaining(other)]).toEqual([0, 0])
    expect((await guardados()).length).toBe(before.length + 2)
  })

  it('erases nothing while the file storage is unavailable, which does not stop a start', async () => {
    const telefono = '+50255550301'
    await waitForErasure(telefono)
    const fault = () => Promise.reject(storeBusy(new Error('storage')))
    const lines: string[] = []
    const { store, ...others } = deps([MASTER_KEY], lines)
    const depsWithoutSaving = { ...others, store: { ...store, save: fault } }
    await expect(erasePersonaData(depsWithoutSaving, CONSOLA, { telefono, comercio_id: null })).rejects.toThrow(
      'almacén',
    )
    expect(await remaining(telefono)).toBe(1)
    await repeatBeforeServing({ ...others, store: { ...store, exists: fault } }, true)
    expect(lines.join('')).toContain('nobody knows whether erasures')
  })

  it('waits once at start for a storage that does not answer', async () => {
    const sentRequests: string[] = []
    const server = createServer((req, res) => {
      sentRequests.push(`${req.method} ${req.url}`)
      res.writeHead(503).end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    await environment.reset({
      STORAGE: 's3',
      S3_BUCKET: 'guias',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'una',
      S3_SECRET_ACCESS_KEY: 'otra',
    })
    expect(sentRequests.length).toBeGreaterThan(0)
    expect(sentRequests.filter((sentRequest) => !sentRequest.includes('list-type=2'))).toEqual([])
    expect(environment.log.join('')).toContain('"msg":"file storage is unavailable"')
    const expectedItems = environment.log.filter((line) => line.includes('nobody knows whether erasures'))
    expect(expectedItems).toHaveLength(1)
    environment.log.splice(environment.log.indexOf(expectedItems[0]!), 1)
    await environment.reset({ STORAGE: 'local' })
    server.close()
    server.closeAllConnections()
  })

  it('stops the start if its master key is missing', async () => {
    const restore = await backUp()
    expect((await erase('+50255550401')).codigo).toBe(0)
    await restore()
    const others = deps([randomBytes(32).toString('base64')])
    await expect(repeatBeforeServing(others, true)).rejects.toThrow(/Ponga en MASTER_KEYS también la clave/)
    await repeatBeforeServing(deps([randomBytes(32).toString('base64'), MASTER_KEY]), true)
  })

  it('is kept sealed, and for 62 days', async () => {
    const telefono = '+50255550501'
    expect((await erase(telefono)).codigo).toBe(0)
    const [key = ''] = (await guardados()).toSorted().slice(-1)
    const sealedBytes = Buffer.concat(await (await deps().store.read(key)).toArray())
    expect(sealedBytes.toString('latin1')).not.toContain(telefono.slice(4))
    const depsAfter = (days: number) => ({
      ...deps(),
      clock: () => new Date(environment.clock().getTime() + days * 86_400_000),
    })
    await maintainErasures(depsAfter(61))
    expect(await guardados()).toContain(key)
    await maintainErasures(depsAfter(63))
    expect(await guardados()).toEqual([])
    expect((await erase(telefono)).codigo).toBe(0)
    expect((await guardados()).length).toBe(1)
  })
})
