import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { createS3Store, type S3Store } from '../../server/platform/files/s3Store.ts'
import { createLog } from '../../server/platform/log.ts'
import { runInProcess } from '../console.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { findNodeProcess, findProcesses, listo, useProcesses } from '../processes.ts'
import { createDeliveredGuia, createFoto, createGuiaOnRoute, uploadArchivo } from './images.ts'
import { createS3Server, type S3Server } from './s3.ts'

let server: S3Server
let store: S3Store
const environment = useEnvironment({}, async () => {
  server = await createS3Server()
  store = createS3Store({ ...server.config, prefix: 'guias/' })
  return { ...server.env, S3_PREFIX: 'guias' }
})
const processes = useProcesses()
let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})
afterEach(() => {
  server.decideFate = () => 'bien'
})
afterAll(async () => {
  store.close()
  await server.close()
})

/** Files of merchants; requests of erasure lie beside them. */
const guardados = async () =>
  (await Array.fromAsync(store.list()))
    .map(({ clave: key }) => key)
    .filter((key) => key.startsWith('arch_'))
    .sort()
const column = async (table: string, condition = 'true') => {
  const { rows } = await environment.db.pool.query(`select archivo from ${table} where ${condition} order by 1`)
  return rows.map(({ archivo }) => archivo as string)
}
/** Every row has its object, every object its row, and nothing waits on the disk. */
const inOrder = async () => {
  expect(await guardados()).toEqual(await column('archivo'))
  expect(await readdir(join(environment.dataDir, 'subidas')).catch(() => [])).toEqual([])
}
/** A delivery's proof with all its files: from then on nobody writes in the background. */
const readWholePrueba = (guia: string) =>
  waitUntil(async () => {
    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    return prueba.pdf ? prueba : undefined
  })
const sweep = (days = 0) =>
  sweepArchivos({
    db: environment.db,
    store,
    clock: () => new Date(Date.now() + days * 86_400_000),
    log: createLog('silent'),
  })

describe('a service that keeps its files in S3', () => {
  it('goes from the upload over the delivery to the proof, and hands files out through links of the storage', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(environment, comercio)
    expect(server.servedRequests).toContain(`PUT /guias-pruebas/guias/${foto}`)
    const prueba = await readWholePrueba(guia)
    for (const { url, archivo, sha256, bytes, mime } of [...prueba.fotos, prueba.firma!]) {
      for (const method of ['GET', 'HEAD']) {
        const redirectResponse = await fetch(url, { method, redirect: 'manual' })
        expect([redirectResponse.status, await redirectResponse.text()]).toEqual([307, ''])
        expect(Object.fromEntries(redirectResponse.headers)).toMatchObject({
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'cross-origin',
        })
        const destino = new URL(redirectResponse.headers.get('location')!)
        expect([destino.origin, destino.pathname]).toEqual([server.url, `/guias-pruebas/guias/${archivo}`])
        expect(Number(destino.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(300)
        const followedResponse = await fetch(url, { method })
        const extension = mime === 'image/png' ? 'png' : 'jpg'
        expect([
          followedResponse.status,
          followedResponse.headers.get('content-type'),
          followedResponse.headers.get('content-disposition'),
        ]).toEqual([200, mime, `inline; filename="${archivo}.${extension}"`])
        const body = Buffer.from(await followedResponse.arrayBuffer())
        if (method === 'GET') expect([body.length, hash('sha256', body)]).toEqual([bytes, sha256])
      }
      const part = await fetch(url, { headers: { Range: 'bytes=0-9' } })
      expect([part.status, (await part.arrayBuffer()).byteLength]).toEqual([206, 10])
    }
    expect((await guardados()).filter((key) => [foto, firma].includes(key))).toHaveLength(2)
    await inOrder()
    // The storage's own links are no more to be found in the log than ours.
    expect(environment.log.join('')).not.toContain('X-Amz-Signature')
  })

  it('sends nobody to the storage without a good link, and knows no other method', async () => {
    const { guia } = await createDeliveredGuia(environment, comercio)
    const { url } = (await readWholePrueba(guia)).firma!
    const seen = server.servedRequests.length
    for (const bad of [url.replace(/exp=\d+/, 'exp=9999999999'), `${url}A`, url.split('?')[0]!, `${url}&x=1`]) {
      const { status, headers } = await fetch(bad, { redirect: 'manual' })
      expect([bad, status, headers.get('location')]).toEqual([bad, 403, null])
    }
    expect((await fetch(url, { method: 'PUT', redirect: 'manual' })).status).toBe(405)
    expect(server.servedRequests.length).toBe(seen)
    await environment.db.pool.query('delete from archivo where archivo = $1', [/arch_\w+/.exec(url)![0]])
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(403)
    // What must not happen: a row whose object is gone. The storage says so.
    const other = await createDeliveredGuia(environment, comercio)
    await readWholePrueba(other.guia)
    await store.remove(other.firma)
    const lost = (await comercio.api.guias.pruebaEntrega(other.guia)).firma!
    expect((await fetch(lost.url)).status).toBe(404)
    await environment.db.pool.query(`update archivo_indice set estado = 'borrando' where archivo = $1`, [
      /arch_\w+/.exec(url)![0],
    ])
    await environment.db.pool.query('delete from archivo where archivo = $1', [other.firma])
    await sweep()
  })

  /** Refuses whatever comes while its storage does so, or worse. */
  async function expectRecovery(fate: 'cuelga' | 'falla') {
    const guia = await createGuiaOnRoute(environment, comercio)
    const before = await column('archivo')
    const rechazada = async () => {
      const { status, body, headers } = await uploadArchivo(environment, guia)
      expect([status, body.codigo, headers.get('retry-after')]).toEqual([503, 'no_disponible', '2'])
    }
    // Many at once: each waits for the storage, none for the others.
    server.decideFate = () => fate
    await Promise.all([1, 2, 3, 4].map(rechazada))
    server.decideFate = () => 'corta'
    await rechazada()
    await server.stopListening()
    await rechazada()
    // Nor does the sweeper forget a name whose file it could not delete.
    const names = await column('archivo_indice', `estado = 'subiendo'`)
    expect(names).toHaveLength(6)
    await expect(sweep(1)).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect(await column('archivo_indice', `estado = 'borrando'`)).toEqual(names)
    await server.listenAgain()
    server.decideFate = () => 'bien'
    expect(await column('archivo')).toEqual(before)
    expect((await uploadArchivo(environment, guia)).status).toBe(201)
    await sweep()
    expect(await column('archivo_indice', `estado <> 'listo'`)).toEqual([])
    await inOrder()
  }
  it('answers 503 while the storage fails or is gone, promises nothing, and recovers', () => expectRecovery('falla'))
  it('does the same where it hangs', FULL_RUN_ONLY, () => expectRecovery('cuelga'))

  it('has what it was not told about deleted: stored, and the answer lost', async () => {
    const guia = await createGuiaOnRoute(environment, comercio)
    server.decideFate = ({ method }) => (method === 'PUT' ? 'pierde' : 'bien')
    const before = await column('archivo')
    expect((await uploadArchivo(environment, guia)).status).toBe(503)
    server.decideFate = () => 'bien'
    const extraKeys = (await guardados()).filter((key) => !before.includes(key))
    expect(extraKeys).toHaveLength(1)
    expect(await column('archivo')).toEqual(before)
    await sweep()
    expect(await guardados()).toContain(extraKeys[0])
    await sweep(0.1)
    await inOrder()
  })

  it('stops with its connections, and starts again over the same files', async () => {
    const { guia } = await createDeliveredGuia(environment, comercio)
    await environment.reset()
    const { url } = (
      await environment.request('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercio.llave })
    ).body.firma
    expect((await fetch(url)).status).toBe(200)
  })
})

describe('the processes', () => {
  it.each([['start'], ['worker']])('npm run %s says what is wrong with the storage, and ends', async (script) => {
    const dataDir = processes.nextFolder()
    const env = { ...server.env, S3_SECRET_ACCESS_KEY: 'otra', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }
    const child = processes.runCommand(['npm', 'run', script], env)
    expect(await child.waitForEnd()).toMatchObject({ codigo: 1 })
    expect(child.errores).toMatch(
      /^No se puede usar el almacén de archivos \(STORAGE=s3\): la clave secreta no corresponde .* S3_SECRET_ACCESS_KEY\.$/m,
    )
    expect(child.errores).not.toMatch(/^ +at /m)
    expect([...findProcesses(dataDir).values()]).toEqual([])
  })

  it('forgets a person there, too: what it could not delete is deleted when it is asked again', async () => {
    const other = await environment.createComercio()
    comercio = await environment.createComercio()
    const { guia } = await createDeliveredGuia(environment, comercio)
    const fileCount = (await readWholePrueba(guia)).fotos.length + 2
    const { telefono } = await comercio.api.guias.obtener(guia)
    const foreign = await createDeliveredGuia(environment, other)
    await waitUntil(async () => (await other.api.guias.pruebaEntrega(foreign.guia)).pdf)
    const folder = processes.nextFolder()
    const env = { DATABASE_URL: environment.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: environment.dataDir }
    const admin = (accion: string, ...more: string[]) =>
      runInProcess(['persona', accion, '--telefono', telefono!, '--comercio', comercio.comercio, ...more], {
        ...env,
        ...server.env,
        S3_PREFIX: 'guias',
      })
    expect(await admin('exportar', '--carpeta', folder)).toMatchObject({ codigo: 0 })
    expect((await readdir(folder)).length).toBe(fileCount)
    const before = await guardados()
    server.decideFate = ({ method }) => (method === 'DELETE' ? 'falla' : 'bien')
    expect((await admin('olvidar', '--si')).codigo).toBe(1)
    expect(await guardados()).toEqual(before)
    expect(await column('archivo_indice', `estado = 'borrando'`)).toHaveLength(fileCount)
    server.decideFate = () => 'bien'
    expect((await admin('olvidar', '--si')).codigo).toBe(0)
    expect(await guardados()).toHaveLength(before.length - fileCount)
    await inOrder()
    expect((await other.api.guias.pruebaEntrega(foreign.guia)).pdf).toBeTruthy()
  })

  it('killed when the file is stored and nobody has said so yet: no row, and the sweeper finds the file', async () => {
    comercio = await environment.createComercio()
    const guia = await createGuiaOnRoute(environment, comercio)
    const dataDir = processes.nextFolder()
    const variables = { DATABASE_URL: environment.databaseUrl, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
    const base = { ...variables, DATA_DIR: dataDir, WORKERS: '0' }
    const child = processes.npmStart({ ...server.env, S3_PREFIX: 'guias', ...base })
    const url = await listo(child)
    const before = await column('archivo')
    const seen = server.servedRequests.length
    server.decideFate = ({ method }) => (method === 'PUT' ? 'calla' : 'bien')
    const subida = fetch(`${url}/operaciones/v1/guias/${guia}/archivos?tipo=foto`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${environment.llaveDeOperacion}`, 'Content-Type': 'image/jpeg' },
      body: new Uint8Array(await createFoto()),
    }).catch(() => undefined)
    const headerLine = await waitUntil(async () =>
      server.servedRequests.slice(seen).find((view) => view.startsWith('PUT')),
    )
    process.kill(findNodeProcess(dataDir), 'SIGKILL')
    expect(await subida).toBeUndefined()
    server.decideFate = () => 'bien'
    const [, file = ''] = /(arch_\w+)$/.exec(headerLine) ?? []
    expect(await guardados()).toContain(file)
    expect(await column('archivo')).toEqual(before)
    expect(await column('archivo_indice', `estado = 'subiendo'`)).toEqual([file])
    await sweep(0.1)
    expect(await column('archivo_indice', `estado <> 'listo'`)).toEqual([])
    await inOrder()
  })
})
