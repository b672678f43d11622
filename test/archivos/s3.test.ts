import { hash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { createS3Store, type S3Store } from '../../server/platform/files/s3Store.ts'
import { createLog } from '../../server/platform/log.ts'
import { runInProcess } from '../console.ts'
import { type Comercio, MASTER_KEY, useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, hasta } from '../factories.ts'
import { findNodeProcess, findProcesses, listo, useProcesses } from '../processes.ts'
import { createDeliveredGuia, createFoto, createGuiaOnRoute, uploadArchivo } from './images.ts'
import { createS3Server, type S3Server } from './s3.ts'

let servidor: S3Server
let almacen: S3Store
const entorno = useEnvironment({}, async () => {
  servidor = await createS3Server()
  almacen = createS3Store({ ...servidor.config, prefix: 'guias/' })
  return { ...servidor.env, S3_PREFIX: 'guias' }
})
const procesos = useProcesses()
let comercio: Comercio
beforeAll(async () => {
  comercio = await entorno.nuevoComercio()
})
afterEach(() => {
  servidor.decideFate = () => 'bien'
})
afterAll(async () => {
  almacen.close()
  await servidor.close()
})

/** Files of merchants; requests of erasure lie beside them. */
const guardados = async () =>
  (await Array.fromAsync(almacen.list()))
    .map(({ clave }) => clave)
    .filter((clave) => clave.startsWith('arch_'))
    .sort()
const columna = async (tabla: string, donde = 'true') => {
  const { rows } = await entorno.db.pool.query(`select archivo from ${tabla} where ${donde} order by 1`)
  return rows.map(({ archivo }) => archivo as string)
}
/** Every row has its object, every object its row, and nothing waits on the disk. */
const enOrden = async () => {
  expect(await guardados()).toEqual(await columna('archivo'))
  expect(await readdir(join(entorno.dataDir, 'subidas')).catch(() => [])).toEqual([])
}
/** A delivery's proof with all its files: from then on nobody writes in the background. */
const pruebaEntera = (guia: string) =>
  hasta(async () => {
    const prueba = await comercio.api.guias.pruebaEntrega(guia)
    return prueba.pdf ? prueba : undefined
  })
const barrer = (dias = 0) =>
  sweepArchivos({
    db: entorno.db,
    store: almacen,
    clock: () => new Date(Date.now() + dias * 86_400_000),
    log: createLog('silent'),
  })

describe('a service that keeps its files in S3', () => {
  it('goes from the upload over the delivery to the proof, and hands files out through links of the storage', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(entorno, comercio)
    expect(servidor.servedRequests).toContain(`PUT /guias-pruebas/guias/${foto}`)
    const prueba = await pruebaEntera(guia)
    for (const { url, archivo, sha256, bytes, mime } of [...prueba.fotos, prueba.firma!]) {
      for (const method of ['GET', 'HEAD']) {
        const remite = await fetch(url, { method, redirect: 'manual' })
        expect([remite.status, await remite.text()]).toEqual([307, ''])
        expect(Object.fromEntries(remite.headers)).toMatchObject({
          'cache-control': 'no-store',
          'referrer-policy': 'no-referrer',
          'cross-origin-resource-policy': 'cross-origin',
        })
        const destino = new URL(remite.headers.get('location')!)
        expect([destino.origin, destino.pathname]).toEqual([servidor.url, `/guias-pruebas/guias/${archivo}`])
        expect(Number(destino.searchParams.get('X-Amz-Expires'))).toBeLessThanOrEqual(300)
        const seguida = await fetch(url, { method })
        const extension = mime === 'image/png' ? 'png' : 'jpg'
        expect([
          seguida.status,
          seguida.headers.get('content-type'),
          seguida.headers.get('content-disposition'),
        ]).toEqual([200, mime, `inline; filename="${archivo}.${extension}"`])
        const cuerpo = Buffer.from(await seguida.arrayBuffer())
        if (method === 'GET') expect([cuerpo.length, hash('sha256', cuerpo)]).toEqual([bytes, sha256])
      }
      const parte = await fetch(url, { headers: { Range: 'bytes=0-9' } })
      expect([parte.status, (await parte.arrayBuffer()).byteLength]).toEqual([206, 10])
    }
    expect((await guardados()).filter((clave) => [foto, firma].includes(clave))).toHaveLength(2)
    await enOrden()
    // The storage's own links are no more to be found in the log than ours.
    expect(entorno.log.join('')).not.toContain('X-Amz-Signature')
  })

  it('sends nobody to the storage without a good link, and knows no other method', async () => {
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const { url } = (await pruebaEntera(guia)).firma!
    const vistas = servidor.servedRequests.length
    for (const malo of [url.replace(/exp=\d+/, 'exp=9999999999'), `${url}A`, url.split('?')[0]!, `${url}&x=1`]) {
      const { status, headers } = await fetch(malo, { redirect: 'manual' })
      expect([malo, status, headers.get('location')]).toEqual([malo, 403, null])
    }
    expect((await fetch(url, { method: 'PUT', redirect: 'manual' })).status).toBe(405)
    expect(servidor.servedRequests.length).toBe(vistas)
    await entorno.db.pool.query('delete from archivo where archivo = $1', [/arch_\w+/.exec(url)![0]])
    expect((await fetch(url, { redirect: 'manual' })).status).toBe(403)
    // What must not happen: a row whose object is gone. The storage says so.
    const otra = await createDeliveredGuia(entorno, comercio)
    await pruebaEntera(otra.guia)
    await almacen.remove(otra.firma)
    const perdida = (await comercio.api.guias.pruebaEntrega(otra.guia)).firma!
    expect((await fetch(perdida.url)).status).toBe(404)
    await entorno.db.pool.query(`update archivo_indice set estado = 'borrando' where archivo = $1`, [
      /arch_\w+/.exec(url)![0],
    ])
    await entorno.db.pool.query('delete from archivo where archivo = $1', [otra.firma])
    await barrer()
  })

  /** Refuses whatever comes while its storage does so, or worse. */
  async function seRepone(suerte: 'cuelga' | 'falla') {
    const guia = await createGuiaOnRoute(entorno, comercio)
    const antes = await columna('archivo')
    const rechazada = async () => {
      const { status, cuerpo, cabeceras } = await uploadArchivo(entorno, guia)
      expect([status, cuerpo.codigo, cabeceras.get('retry-after')]).toEqual([503, 'no_disponible', '2'])
    }
    // Many at once: each waits for the storage, none for the others.
    servidor.decideFate = () => suerte
    await Promise.all([1, 2, 3, 4].map(rechazada))
    servidor.decideFate = () => 'corta'
    await rechazada()
    await servidor.stopListening()
    await rechazada()
    // Nor does the sweeper forget a name whose file it could not delete.
    const nombres = await columna('archivo_indice', `estado = 'subiendo'`)
    expect(nombres).toHaveLength(6)
    await expect(barrer(1)).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect(await columna('archivo_indice', `estado = 'borrando'`)).toEqual(nombres)
    await servidor.listenAgain()
    servidor.decideFate = () => 'bien'
    expect(await columna('archivo')).toEqual(antes)
    expect((await uploadArchivo(entorno, guia)).status).toBe(201)
    await barrer()
    expect(await columna('archivo_indice', `estado <> 'listo'`)).toEqual([])
    await enOrden()
  }
  it('answers 503 while the storage fails or is gone, promises nothing, and recovers', () => seRepone('falla'))
  it('does the same where it hangs', FULL_RUN_ONLY, () => seRepone('cuelga'))

  it('has what it was not told about deleted: stored, and the answer lost', async () => {
    const guia = await createGuiaOnRoute(entorno, comercio)
    servidor.decideFate = ({ method }) => (method === 'PUT' ? 'pierde' : 'bien')
    const antes = await columna('archivo')
    expect((await uploadArchivo(entorno, guia)).status).toBe(503)
    servidor.decideFate = () => 'bien'
    const deMas = (await guardados()).filter((clave) => !antes.includes(clave))
    expect(deMas).toHaveLength(1)
    expect(await columna('archivo')).toEqual(antes)
    await barrer()
    expect(await guardados()).toContain(deMas[0])
    await barrer(0.1)
    await enOrden()
  })

  it('stops with its connections, and starts again over the same files', async () => {
    const { guia } = await createDeliveredGuia(entorno, comercio)
    await entorno.reset()
    const { url } = (await entorno.request('GET', `/api/v1/guias/${guia}/prueba-entrega`, { llave: comercio.llave }))
      .cuerpo.firma
    expect((await fetch(url)).status).toBe(200)
  })
})

describe('the processes', () => {
  it.each([['start'], ['worker']])('npm run %s says what is wrong with the storage, and ends', async (guion) => {
    const dataDir = procesos.nextFolder()
    const env = { ...servidor.env, S3_SECRET_ACCESS_KEY: 'otra', DATA_DIR: dataDir, PORT: '0', LOG_LEVEL: 'warn' }
    const proceso = procesos.runCommand(['npm', 'run', guion], env)
    expect(await proceso.waitForEnd()).toMatchObject({ codigo: 1 })
    expect(proceso.errores).toMatch(
      /^No se puede usar el almacén de archivos \(STORAGE=s3\): la clave secreta no corresponde .* S3_SECRET_ACCESS_KEY\.$/m,
    )
    expect(proceso.errores).not.toMatch(/^ +at /m)
    expect([...findProcesses(dataDir).values()]).toEqual([])
  })

  it('forgets a person there, too: what it could not delete is deleted when it is asked again', async () => {
    const otro = await entorno.nuevoComercio()
    comercio = await entorno.nuevoComercio()
    const { guia } = await createDeliveredGuia(entorno, comercio)
    const suyos = (await pruebaEntera(guia)).fotos.length + 2
    const { telefono } = await comercio.api.guias.obtener(guia)
    const ajena = await createDeliveredGuia(entorno, otro)
    await hasta(async () => (await otro.api.guias.pruebaEntrega(ajena.guia)).pdf)
    const carpeta = procesos.nextFolder()
    const env = { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, DATA_DIR: entorno.dataDir }
    const admin = (accion: string, ...mas: string[]) =>
      runInProcess(['persona', accion, '--telefono', telefono!, '--comercio', comercio.comercio, ...mas], {
        ...env,
        ...servidor.env,
        S3_PREFIX: 'guias',
      })
    expect(await admin('exportar', '--carpeta', carpeta)).toMatchObject({ codigo: 0 })
    expect((await readdir(carpeta)).length).toBe(suyos)
    const antes = await guardados()
    servidor.decideFate = ({ method }) => (method === 'DELETE' ? 'falla' : 'bien')
    expect((await admin('olvidar', '--si')).codigo).toBe(1)
    expect(await guardados()).toEqual(antes)
    expect(await columna('archivo_indice', `estado = 'borrando'`)).toHaveLength(suyos)
    servidor.decideFate = () => 'bien'
    expect((await admin('olvidar', '--si')).codigo).toBe(0)
    expect(await guardados()).toHaveLength(antes.length - suyos)
    await enOrden()
    expect((await otro.api.guias.pruebaEntrega(ajena.guia)).pdf).toBeTruthy()
  })

  it('killed when the file is stored and nobody has said so yet: no row, and the sweeper finds the file', async () => {
    comercio = await entorno.nuevoComercio()
    const guia = await createGuiaOnRoute(entorno, comercio)
    const dataDir = procesos.nextFolder()
    const suya = { DATABASE_URL: entorno.databaseUrl, MASTER_KEYS: MASTER_KEY, MESSAGING: 'buzon' }
    const base = { ...suya, DATA_DIR: dataDir, WORKERS: '0' }
    const proceso = procesos.npmStart({ ...servidor.env, S3_PREFIX: 'guias', ...base })
    const url = await listo(proceso)
    const antes = await columna('archivo')
    const vistas = servidor.servedRequests.length
    servidor.decideFate = ({ method }) => (method === 'PUT' ? 'calla' : 'bien')
    const subida = fetch(`${url}/operaciones/v1/guias/${guia}/archivos?tipo=foto`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${entorno.llaveDeOperacion}`, 'Content-Type': 'image/jpeg' },
      body: new Uint8Array(await createFoto()),
    }).catch(() => undefined)
    const puesta = await hasta(async () =>
      servidor.servedRequests.slice(vistas).find((vista) => vista.startsWith('PUT')),
    )
    process.kill(findNodeProcess(dataDir), 'SIGKILL')
    expect(await subida).toBeUndefined()
    servidor.decideFate = () => 'bien'
    const [, archivo = ''] = /(arch_\w+)$/.exec(puesta) ?? []
    expect(await guardados()).toContain(archivo)
    expect(await columna('archivo')).toEqual(antes)
    expect(await columna('archivo_indice', `estado = 'subiendo'`)).toEqual([archivo])
    await barrer(0.1)
    expect(await columna('archivo_indice', `estado <> 'listo'`)).toEqual([])
    await enOrden()
  })
})
