import { createHash, randomBytes } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { openStore } from '../../server/domain/archivos/openStore.ts'
import { readConfig } from '../../server/platform/config/config.ts'
import { createS3Store, type S3Config, type S3Store } from '../../server/platform/files/s3Store.ts'
import { createLocalStore, type FileStore } from '../../server/platform/files/store.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { createS3Server, createSilentServer, S3_CREDENTIALS, type S3Server } from './s3.ts'

let carpeta: string
let local: FileStore
let servidor: S3Server
let s3: S3Store
const abiertos: S3Store[] = []
const abrirS3 = (otra: Partial<S3Config> = {}) => {
  const almacen = createS3Store({ ...servidor.config, ...otra })
  abiertos.push(almacen)
  return almacen
}
beforeAll(async () => {
  carpeta = await mkdtemp(join(tmpdir(), 'guias-almacen-'))
  local = createLocalStore(join(carpeta, 'archivos'))
  servidor = await createS3Server()
  s3 = abrirS3()
})
afterEach(() => {
  servidor.decideFate = () => 'bien'
})
afterAll(async () => {
  for (const almacen of abiertos) almacen.close()
  await servidor.close()
  await rm(carpeta, { recursive: true, force: true })
})

const NO_DISPONIBLE = { codigo: 'no_disponible', status: 503, details: { cabeceras: { 'Retry-After': '2' } } }
const JPEG = 'image/jpeg'
const claves = async (almacen: FileStore) => (await Array.fromAsync(almacen.list())).map(({ clave }) => clave).sort()
const leido = async (...args: Parameters<FileStore['leer']>) => buffer(await s3.leer(...args))

describe.each([
  ['local', () => local],
  ['S3', () => s3],
  ['S3 below a prefix', () => abrirS3({ prefix: 'datos/guias/' })],
])('the storage: %s', (_nombre, abrir) => {
  it('knows whether a key has content', async () => {
    const almacen = abrir()
    expect(await almacen.exists('arch_HAY1')).toBe(false)
    await almacen.save('arch_HAY1', randomBytes(1), JPEG)
    expect(await almacen.exists('arch_HAY1')).toBe(true)
    await almacen.remove('arch_HAY1')
    expect(await almacen.exists('arch_HAY1')).toBe(false)
  })

  it('gives back what it was given, whole or in part', async () => {
    const almacen = abrir()
    for (const bytes of [1, 65_536, 3_000_001]) {
      const contenido = randomBytes(bytes)
      const clave = `arch_DE${bytes}`
      await almacen.save(clave, contenido, JPEG)
      expect((await buffer(await almacen.leer(clave))).equals(contenido)).toBe(true)
      const ultimo = await buffer(await almacen.leer(clave, { desde: bytes - 1, hasta: bytes - 1 }))
      expect(ultimo).toEqual(contenido.subarray(-1))
      if (bytes < 100) continue
      const parte = await buffer(await almacen.leer(clave, { desde: 10, hasta: 59 }))
      expect(parte.equals(contenido.subarray(10, 60))).toBe(true)
    }
  })

  it('lists what it has and since when, and deletes it once and for all', async () => {
    const almacen = abrir()
    for (const { clave } of await Array.fromAsync(almacen.list())) await almacen.remove(clave)
    for (const clave of ['arch_UNO', 'arch_DOS', 'arch_TRES']) await almacen.save(clave, Buffer.from(clave), JPEG)
    expect(await claves(almacen)).toEqual(['arch_DOS', 'arch_TRES', 'arch_UNO'])
    // The clock of the file system, which `faketime` does not move.
    await writeFile(join(carpeta, 'ahora'), '')
    const { mtimeMs: ahora } = await stat(join(carpeta, 'ahora'))
    for await (const { modifiedAt: modificado_en } of almacen.list())
      expect(Math.abs(ahora - modificado_en.getTime())).toBeLessThan(60_000)
    await almacen.remove('arch_DOS')
    await almacen.remove('arch_DOS')
    await almacen.remove('arch_NUNCA')
    expect(await claves(almacen)).toEqual(['arch_TRES', 'arch_UNO'])
    await expect(almacen.leer('arch_DOS')).rejects.toMatchObject(NO_DISPONIBLE)
  })

  it('takes no key that isn’t ours', async () => {
    const almacen = abrir()
    for (const clave of ['../../etc/passwd', '..', 'a/b', 'arch_\0', '', '.parcial', 'arch_%2e%2e', 'arch ñ']) {
      const mal = async (hacer: () => unknown) => expect(async () => hacer()).rejects.toThrow('invalid storage key')
      await mal(() => almacen.save(clave, Buffer.from('x'), JPEG))
      await mal(() => almacen.leer(clave))
      await mal(() => almacen.remove(clave))
      if (almacen.link) await mal(() => almacen.link!(clave, { method: 'GET', mime: JPEG, disposition: '' }))
    }
  })
})

describe('the local storage', () => {
  it('keeps files for its own user, and sees what was left half-written', async () => {
    await local.save('arch_MIO00', Buffer.from('x'), JPEG)
    const ruta = join(carpeta, 'archivos', '00', 'arch_MIO00')
    expect((await stat(ruta)).mode & 0o777).toBe(0o600)
    await writeFile(join(carpeta, 'archivos', '00', 'arch_MEDIO00.parcial'), 'a medias')
    await utimes(ruta, 0, 0)
    const listado = await Array.fromAsync(local.list())
    expect(listado).toContainEqual({ clave: 'arch_MIO00', modifiedAt: new Date(0) })
    expect(listado.map(({ clave }) => clave)).toContain('arch_MEDIO00')
    await local.remove('arch_MEDIO00')
    expect(await readdir(join(carpeta, 'archivos', '00'))).toEqual(['arch_MIO00'])
  })

  it('refuses what it can’t keep, and leaves nothing of it', async () => {
    const roto = createLocalStore(join(carpeta, 'roto'))
    await writeFile(join(carpeta, 'roto'), 'no folder')
    await expect(roto.save('arch_NADA', Buffer.from('x'), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
    expect(await readFile(join(carpeta, 'roto'), 'utf8')).toBe('no folder')
    expect(await claves(roto)).toEqual([])
  })
})

describe('the storage in S3', () => {
  const descarga = (metodo: 'GET' | 'HEAD') =>
    ({ method: metodo, mime: JPEG, disposition: 'attachment; filename="arch_FOTO.jpg"' }) as const

  it('hands out links that carry type and name, for one method, for five minutes', async () => {
    const contenido = randomBytes(5_000)
    await s3.save('arch_FOTO', contenido, JPEG)
    for (const metodo of ['GET', 'HEAD'] as const) {
      const enlace = await s3.link!('arch_FOTO', descarga(metodo))
      const { searchParams } = new URL(enlace)
      expect(searchParams.get('X-Amz-Expires')).toBe('300')
      const respuesta = await fetch(enlace, { method: metodo })
      expect(respuesta.status).toBe(200)
      expect(Object.fromEntries(respuesta.headers)).toMatchObject({
        'content-type': JPEG,
        'content-disposition': 'attachment; filename="arch_FOTO.jpg"',
        'cache-control': 'no-store',
        'content-length': '5000',
      })
      const cuerpo = Buffer.from(await respuesta.arrayBuffer())
      expect(cuerpo.equals(metodo === 'GET' ? contenido : Buffer.alloc(0))).toBe(true)
      const otro = { GET: 'HEAD', HEAD: 'GET' }[metodo]
      for (const metodoAjeno of [otro, 'PUT', 'DELETE'])
        expect([metodoAjeno, (await fetch(enlace, { method: metodoAjeno })).status]).toEqual([metodoAjeno, 403])
    }
  })

  it('opens to nobody with an altered, expired or missing signature', async () => {
    await s3.save('arch_FOTO', Buffer.from('suyo'), JPEG)
    await s3.save('arch_AJENO', Buffer.from('ajeno'), JPEG)
    const enlace = await s3.link!('arch_FOTO', descarga('GET'))
    expect((await fetch(enlace)).status).toBe(200)
    expect((await fetch(enlace.split('?')[0]!)).status).toBe(403)
    expect((await fetch(enlace.replace('arch_FOTO', 'arch_AJENO'))).status).toBe(403)
    for (const nombre of new URL(enlace).searchParams.keys()) {
      const alterado = new URL(enlace)
      alterado.searchParams.set(nombre, `${alterado.searchParams.get(nombre)}0`)
      expect([nombre, (await fetch(alterado)).status]).toEqual([nombre, 403])
    }
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
    const { GetObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
    const { endpoint, region, bucket: Bucket } = servidor.config
    const cliente = new S3Client({ endpoint: endpoint!, region, forcePathStyle: true, credentials: S3_CREDENTIALS })
    const orden = new GetObjectCommand({ Bucket, Key: 'arch_FOTO' })
    const firmadoEn = (segundos: number) =>
      getSignedUrl(cliente, orden, { expiresIn: 300, signingDate: new Date(Date.now() - segundos * 1_000) })
    expect((await fetch(await firmadoEn(200))).status).toBe(200)
    expect((await fetch(await firmadoEn(301))).status).toBe(403)
    cliente.destroy()
  })

  it.each([
    ['answers 500 once', 'falla', 1],
    ['cuts off twice', 'corta', 2],
    ['loses an answer', 'pierde', 1],
  ] as const)('gets through to one that %s', async (_que, suerte, veces) => {
    let quedan: number = veces
    servidor.decideFate = () => (quedan-- > 0 ? suerte : 'bien')
    const contenido = randomBytes(200_000)
    await s3.save(`arch_TRAS_${suerte}`, contenido, JPEG)
    expect((await leido(`arch_TRAS_${suerte}`)).equals(contenido)).toBe(true)
    quedan = suerte === 'corta' ? 0 : veces
    expect((await leido(`arch_TRAS_${suerte}`)).equals(contenido)).toBe(true)
  })

  it(
    'gives up on one that doesn’t answer, keeps nothing half-written, and goes on when it does',
    FULL_RUN_ONLY,
    async () => {
      const antes = await claves(s3)
      await s3.save('arch_GOTEA', randomBytes(100_000), JPEG)
      servidor.decideFate = ({ url = '' }) => (url.includes('GOTEA') ? 'gotea' : 'cuelga')
      const [aMedias, ...intentos] = await Promise.allSettled([
        s3.leer('arch_GOTEA').then(buffer),
        s3.save('arch_NADA', randomBytes(1_000_000), JPEG),
        s3.leer('arch_FOTO'),
        s3.remove('arch_FOTO'),
        claves(s3),
      ])
      for (const intento of intentos) expect(intento).toMatchObject({ status: 'rejected', reason: NO_DISPONIBLE })
      expect(aMedias).toMatchObject({ status: 'rejected' })
      servidor.decideFate = () => 'falla'
      await expect(s3.save('arch_NADA', Buffer.from('x'), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
      servidor.decideFate = () => 'corta'
      await expect(s3.save('arch_NADA', randomBytes(300_000), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
      servidor.decideFate = () => 'bien'
      expect(await claves(s3)).toEqual([...antes, 'arch_GOTEA'].sort())
      await s3.save('arch_NADA', Buffer.from('ahora'), JPEG)
      expect(String(await leido('arch_NADA'))).toBe('ahora')
    },
  )

  it('lists only the files below its own prefix', async () => {
    const [una, otra] = [abrirS3({ prefix: 'una/' }), abrirS3({ prefix: 'dos/' })]
    await una.save('arch_UNA', Buffer.from('x'), JPEG)
    await otra.save('arch_OTRA', Buffer.from('x'), JPEG)
    expect(await claves(una)).toEqual(['arch_UNA'])
    expect(await claves(otra)).toEqual(['arch_OTRA'])
  })

  it('lists more than a page', FULL_RUN_ONLY, async () => {
    const muchos = abrirS3({ prefix: 'muchos/' })
    const nombres = Array.from({ length: 1_003 }, (_, i) => `arch_${String(i).padStart(5, '0')}`)
    for (let i = 0; i < nombres.length; i += 50)
      await Promise.all(nombres.slice(i, i + 50).map((nombre) => muchos.save(nombre, Buffer.from('x'), JPEG)))
    expect(await claves(muchos)).toEqual(nombres)
  })

  const comprobar = async (otra: Record<string, string>) => {
    const { nota, close: cerrar } = await openStore(readConfig({ ...servidor.env, ...otra }, '/'))
    cerrar()
    return nota
  }
  it.each<[string, Record<string, string>, RegExp]>([
    ['no such bucket', { S3_BUCKET: 'no-existe' }, /el bucket «no-existe» no existe .* corrija S3_BUCKET\.$/],
    ['an unknown key', { S3_ACCESS_KEY_ID: 'OTRA' }, /no conoce esa clave de acceso\. Corrija S3_ACCESS_KEY_ID\.$/],
    [
      'a wrong secret',
      { S3_SECRET_ACCESS_KEY: 'otra' },
      /clave secreta .* Revise S3_ACCESS_KEY_ID y S3_SECRET_ACCESS_KEY\.$/,
    ],
    ['another region', { S3_REGION: 'eu-west-1' }, /no está en «eu-west-1»\. Corrija S3_REGION\.$/],
  ])('says at the start what has to be mended: %s', async (_que, otra, mensaje) => {
    await expect(comprobar(otra)).rejects.toMatchObject({
      name: 'FileStoreError',
      message: expect.stringMatching(mensaje),
    })
    await expect(comprobar(otra)).rejects.toThrow(/^No se puede usar el almacén de archivos \(STORAGE=s3\): /)
  })

  it('warns of what may pass, in a bounded time', FULL_RUN_ONLY, async () => {
    expect(await comprobar({})).toBeUndefined()
    expect(await comprobar({ S3_ENDPOINT: 'http://127.0.0.1:1' })).toMatch(/no responde .*ECONNREFUSED.* recibirán 503/)
    const mudo = await createSilentServer()
    expect(await comprobar({ S3_ENDPOINT: mudo.url })).toMatch(
      /^El almacén de archivos no responde \(http.*503 hasta que vuelva\.$/,
    )
    mudo.close()
  })

  it('keeps what it is and what it is of: type and digest', async () => {
    const contenido = randomBytes(1_000)
    await s3.save('arch_TIPO', contenido, 'application/pdf')
    const { HeadObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
    const { endpoint, region, bucket: Bucket } = servidor.config
    const cliente = new S3Client({ endpoint: endpoint!, region, forcePathStyle: true, credentials: S3_CREDENTIALS })
    const { ContentType, ETag } = await cliente.send(new HeadObjectCommand({ Bucket, Key: 'arch_TIPO' }))
    const md5 = createHash('md5').update(contenido).digest('hex')
    expect([ContentType, ETag]).toEqual(['application/pdf', `"${md5}"`])
    cliente.destroy()
  })
})
