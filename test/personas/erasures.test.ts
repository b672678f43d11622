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

const entorno = useEnvironment({}, () => ({ WORKERS: '0' }))
const olvidar = (telefono: string) =>
  runInProcess(['persona', 'olvidar', '--telefono', telefono, '--si', '--json'], consoleEnvironment(entorno))
const deps = (claves = [MASTER_KEY], lineas: string[] = []) => ({
  db: entorno.db,
  clock: entorno.clock,
  secretos: createSecrets(claves.map((clave) => Buffer.from(clave, 'base64'))),
  bitacora: new Bitacora({ db: entorno.db, log: createLog('silent'), newId: createIdGenerator(entorno.clock) }),
  store: localStoreIn(entorno.dataDir),
  log: createLog('info', { write: (linea) => lineas.push(linea) }),
})
const CONSOLA = { identity: null, requestId: 'x', red: '' }

/** Creates a guide for that telephone that has ended. */
async function terminada(telefono: string): Promise<string> {
  const { api } = await entorno.nuevoComercio()
  const { guia } = await api.guias.crear(buildGuia({ telefono }))
  await api.guias.cancelar(guia)
  return guia
}
const quedan = async (telefono: string) =>
  Number((await entorno.db.pool.query('select count(*) as n from guia where telefono = $1', [telefono])).rows[0].n)
const guardados = async () =>
  (await Array.fromAsync(deps().store.list())).map(({ clave }) => clave).filter((clave) => /^olvido_/.test(clave))

let superusuario: pg.Client
beforeAll(async () => {
  const url = new URL(inject('postgres'))
  url.pathname = new URL(entorno.databaseUrl).pathname
  superusuario = new pg.Client(url.href)
  await superusuario.connect()
  await superusuario.query('set session_replication_role = replica')
})
afterAll(() => superusuario.end())

const TABLAS = `select tablename as tabla from pg_tables where schemaname = 'public' and tablename <> '_prisma_migrations'`
/** Copies all tables. Returns a function that gives them their rows of now back. */
async function respaldar(): Promise<() => Promise<void>> {
  const tablas = (await superusuario.query<{ tabla: string }>(TABLAS)).rows.map(({ tabla }) => tabla)
  const esquema = `copia_${randomBytes(4).toString('hex')}`
  await superusuario.query(`create schema ${esquema}`)
  for (const tabla of tablas) await superusuario.query(`create table ${esquema}.${tabla} as table public.${tabla}`)
  return async () => {
    await superusuario.query(`truncate ${tablas.map((tabla) => `public.${tabla}`).join(', ')} cascade`)
    for (const tabla of tablas) await superusuario.query(`insert into public.${tabla} table ${esquema}.${tabla}`)
    await superusuario.query(`drop schema ${esquema} cascade`)
  }
}

describe('an erasure on request', EN_POSTGRES, () => {
  it('is carried out again before a restored service is ready, and once', async () => {
    const [una, otra, tercera] = ['+50255550101', '+50255550102', '+50255550103']
    await terminada(una)
    await terminada(otra)
    const guia = await terminada(tercera)
    const restaurar = await respaldar()
    for (const telefono of [una, otra]) expect((await olvidar(telefono)).codigo).toBe(0)
    await erasePersonaData(deps(), CONSOLA, { guia })
    // The restored database does not have this guide.
    await erasePersonaData(deps(), CONSOLA, { guia: await terminada('+50255550104') })
    await restaurar()
    expect([await quedan(una), await quedan(otra), await quedan(tercera)]).toEqual([1, 1, 1])
    await entorno.reset()
    expect([await quedan(una), await quedan(otra), await quedan(tercera)]).toEqual([0, 0, 0])
    const { rows } = await entorno.db.pool.query('select numero from olvido order by numero')
    expect(rows.map(({ numero }) => numero)).toEqual([1, 2, 3, 4])
    const repeticiones = () => entorno.log.filter((linea) => linea.includes('erasures carried out again')).length
    expect(repeticiones()).toBe(1)
    await entorno.reset()
    expect(repeticiones()).toBe(1)
  })

  it('counts on after one that an interrupted call left, and carries that one out', async () => {
    const [una, otra] = ['+50255550201', '+50255550202']
    await terminada(una)
    await terminada(otra)
    const muere = {
      ...deps(),
      clock: () => {
        throw new Error('died')
      },
    }
    await expect(erasePersonaData(muere, CONSOLA, { telefono: una, comercio_id: null })).rejects.toThrow('died')
    expect(await quedan(una)).toBe(1)
    const antes = await guardados()
    await Promise.all([olvidar(otra), olvidar('+50255550203')])
    expect([await quedan(una), await quedan(otra)]).toEqual([0, 0])
    expect((await guardados()).length).toBe(antes.length + 2)
  })

  it('erases nothing while the file storage is unavailable, which does not stop a start', async () => {
    const telefono = '+50255550301'
    await terminada(telefono)
    const falla = () => Promise.reject(storeBusy(new Error('storage')))
    const lineas: string[] = []
    const { store: almacen, ...otras } = deps([MASTER_KEY], lineas)
    const sinGuardar = { ...otras, store: { ...almacen, save: falla } }
    await expect(erasePersonaData(sinGuardar, CONSOLA, { telefono, comercio_id: null })).rejects.toThrow('almacén')
    expect(await quedan(telefono)).toBe(1)
    await repeatBeforeServing({ ...otras, store: { ...almacen, exists: falla } }, true)
    expect(lineas.join('')).toContain('nobody knows whether erasures')
  })

  it('waits once at start for a storage that does not answer', async () => {
    const pedidas: string[] = []
    const servidor = createServer((req, res) => {
      pedidas.push(`${req.method} ${req.url}`)
      res.writeHead(503).end()
    })
    await new Promise<void>((resolve) => servidor.listen(0, '127.0.0.1', resolve))
    const { port } = servidor.address() as AddressInfo
    await entorno.reset({
      STORAGE: 's3',
      S3_BUCKET: 'guias',
      S3_ENDPOINT: `http://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: 'una',
      S3_SECRET_ACCESS_KEY: 'otra',
    })
    expect(pedidas.length).toBeGreaterThan(0)
    expect(pedidas.filter((pedida) => !pedida.includes('list-type=2'))).toEqual([])
    expect(entorno.log.join('')).toContain('"msg":"file storage is unavailable"')
    const esperados = entorno.log.filter((linea) => linea.includes('nobody knows whether erasures'))
    expect(esperados).toHaveLength(1)
    entorno.log.splice(entorno.log.indexOf(esperados[0]!), 1)
    await entorno.reset({ STORAGE: 'local' })
    servidor.close()
    servidor.closeAllConnections()
  })

  it('stops the start if its master key is missing', async () => {
    const restaurar = await respaldar()
    expect((await olvidar('+50255550401')).codigo).toBe(0)
    await restaurar()
    const otras = deps([randomBytes(32).toString('base64')])
    await expect(repeatBeforeServing(otras, true)).rejects.toThrow(/Ponga en MASTER_KEYS también la clave/)
    await repeatBeforeServing(deps([randomBytes(32).toString('base64'), MASTER_KEY]), true)
  })

  it('is kept sealed, and for 62 days', async () => {
    const telefono = '+50255550501'
    expect((await olvidar(telefono)).codigo).toBe(0)
    const [clave = ''] = (await guardados()).toSorted().slice(-1)
    const sellada = Buffer.concat(await (await deps().store.leer(clave)).toArray())
    expect(sellada.toString('latin1')).not.toContain(telefono.slice(4))
    const dentroDe = (dias: number) => ({
      ...deps(),
      clock: () => new Date(entorno.clock().getTime() + dias * 86_400_000),
    })
    await maintainErasures(dentroDe(61))
    expect(await guardados()).toContain(clave)
    await maintainErasures(dentroDe(63))
    expect(await guardados()).toEqual([])
    expect((await olvidar(telefono)).codigo).toBe(0)
    expect((await guardados()).length).toBe(1)
  })
})
