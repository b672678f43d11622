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

let folder: string
let local: FileStore
let server: S3Server
let s3: S3Store
const openResources: S3Store[] = []
const abrirS3 = (other: Partial<S3Config> = {}) => {
  const store = createS3Store({ ...server.config, ...other })
  openResources.push(store)
  return store
}
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'guias-almacen-'))
  local = createLocalStore(join(folder, 'archivos'))
  server = await createS3Server()
  s3 = abrirS3()
})
afterEach(() => {
  server.decideFate = () => 'bien'
})
afterAll(async () => {
  for (const store of openResources) store.close()
  await server.close()
  await rm(folder, { recursive: true, force: true })
})

const NO_DISPONIBLE = { codigo: 'no_disponible', status: 503, details: { headers: { 'Retry-After': '2' } } }
const JPEG = 'image/jpeg'
const keys = async (store: FileStore) => (await Array.fromAsync(store.list())).map(({ clave: key }) => key).sort()
const read = async (...args: Parameters<FileStore['read']>) => buffer(await s3.read(...args))

describe.each([
  ['local', () => local],
  ['S3', () => s3],
  ['S3 below a prefix', () => abrirS3({ prefix: 'datos/guias/' })],
])('the storage: %s', (_nombre, open) => {
  it('knows whether a key has content', async () => {
    const store = open()
    expect(await store.exists('arch_HAY1')).toBe(false)
    await store.save('arch_HAY1', randomBytes(1), JPEG)
    expect(await store.exists('arch_HAY1')).toBe(true)
    await store.remove('arch_HAY1')
    expect(await store.exists('arch_HAY1')).toBe(false)
  })

  it('gives back what it was given, whole or in part', async () => {
    const store = open()
    for (const bytes of [1, 65_536, 3_000_001]) {
      const contenido = randomBytes(bytes)
      const key = `arch_DE${bytes}`
      await store.save(key, contenido, JPEG)
      expect((await buffer(await store.read(key))).equals(contenido)).toBe(true)
      const last = await buffer(await store.read(key, { desde: bytes - 1, hasta: bytes - 1 }))
      expect(last).toEqual(contenido.subarray(-1))
      if (bytes < 100) continue
      const part = await buffer(await store.read(key, { desde: 10, hasta: 59 }))
      expect(part.equals(contenido.subarray(10, 60))).toBe(true)
    }
  })

  it('lists what it has and since when, and deletes it once and for all', async () => {
    const store = open()
    for (const { clave: key } of await Array.fromAsync(store.list())) await store.remove(key)
    for (const key of ['arch_UNO', 'arch_DOS', 'arch_TRES']) await store.save(key, Buffer.from(key), JPEG)
    expect(await keys(store)).toEqual(['arch_DOS', 'arch_TRES', 'arch_UNO'])
    // The clock of the file system, which `faketime` does not move.
    await writeFile(join(folder, 'ahora'), '')
    const { mtimeMs: now } = await stat(join(folder, 'ahora'))
    for await (const { modifiedAt } of store.list()) expect(Math.abs(now - modifiedAt.getTime())).toBeLessThan(60_000)
    await store.remove('arch_DOS')
    await store.remove('arch_DOS')
    await store.remove('arch_NUNCA')
    expect(await keys(store)).toEqual(['arch_TRES', 'arch_UNO'])
    await expect(store.read('arch_DOS')).rejects.toMatchObject(NO_DISPONIBLE)
  })

  it('takes no key that isn’t ours', async () => {
    const store = open()
    for (const key of ['../../etc/passwd', '..', 'a/b', 'arch_\0', '', '.parcial', 'arch_%2e%2e', 'arch ñ']) {
      const bad = async (act: () => unknown) => expect(async () => act()).rejects.toThrow('invalid storage key')
      await bad(() => store.save(key, Buffer.from('x'), JPEG))
      await bad(() => store.read(key))
      await bad(() => store.remove(key))
      if (store.link) await bad(() => store.link!(key, { method: 'GET', mime: JPEG, disposition: '' }))
    }
  })
})

describe('the local storage', () => {
  it('keeps files for its own user, and sees what was left half-written', async () => {
    await local.save('arch_MIO00', Buffer.from('x'), JPEG)
    const path = join(folder, 'archivos', '00', 'arch_MIO00')
    expect((await stat(path)).mode & 0o777).toBe(0o600)
    await writeFile(join(folder, 'archivos', '00', 'arch_MEDIO00.parcial'), 'a medias')
    await utimes(path, 0, 0)
    const listing = await Array.fromAsync(local.list())
    expect(listing).toContainEqual({ clave: 'arch_MIO00', modifiedAt: new Date(0) })
    expect(listing.map(({ clave: key }) => key)).toContain('arch_MEDIO00')
    await local.remove('arch_MEDIO00')
    expect(await readdir(join(folder, 'archivos', '00'))).toEqual(['arch_MIO00'])
  })

  it('refuses what it can’t keep, and leaves nothing of it', async () => {
    const brokenStore = createLocalStore(join(folder, 'roto'))
    await writeFile(join(folder, 'roto'), 'no folder')
    await expect(brokenStore.save('arch_NADA', Buffer.from('x'), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
    expect(await readFile(join(folder, 'roto'), 'utf8')).toBe('no folder')
    expect(await keys(brokenStore)).toEqual([])
  })
})

describe('the storage in S3', () => {
  const fileDownload = (method: 'GET' | 'HEAD') =>
    ({ method, mime: JPEG, disposition: 'attachment; filename="arch_FOTO.jpg"' }) as const

  it('hands out links that carry type and name, for one method, for five minutes', async () => {
    const contenido = randomBytes(5_000)
    await s3.save('arch_FOTO', contenido, JPEG)
    for (const method of ['GET', 'HEAD'] as const) {
      const link = await s3.link!('arch_FOTO', fileDownload(method))
      const { searchParams } = new URL(link)
      expect(searchParams.get('X-Amz-Expires')).toBe('300')
      const response = await fetch(link, { method })
      expect(response.status).toBe(200)
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-type': JPEG,
        'content-disposition': 'attachment; filename="arch_FOTO.jpg"',
        'cache-control': 'no-store',
        'content-length': '5000',
      })
      const body = Buffer.from(await response.arrayBuffer())
      expect(body.equals(method === 'GET' ? contenido : Buffer.alloc(0))).toBe(true)
      const other = { GET: 'HEAD', HEAD: 'GET' }[method]
      for (const foreignMethod of [other, 'PUT', 'DELETE'])
        expect([foreignMethod, (await fetch(link, { method: foreignMethod })).status]).toEqual([foreignMethod, 403])
    }
  })

  it('opens to nobody with an altered, expired or missing signature', async () => {
    await s3.save('arch_FOTO', Buffer.from('suyo'), JPEG)
    await s3.save('arch_AJENO', Buffer.from('ajeno'), JPEG)
    const link = await s3.link!('arch_FOTO', fileDownload('GET'))
    expect((await fetch(link)).status).toBe(200)
    expect((await fetch(link.split('?')[0]!)).status).toBe(403)
    expect((await fetch(link.replace('arch_FOTO', 'arch_AJENO'))).status).toBe(403)
    for (const name of new URL(link).searchParams.keys()) {
      const altered = new URL(link)
      altered.searchParams.set(name, `${altered.searchParams.get(name)}0`)
      expect([name, (await fetch(altered)).status]).toEqual([name, 403])
    }
    const { getSignedUrl } = await import('@aws-sdk/s3-request-presigner')
    const { GetObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
    const { endpoint, region, bucket: Bucket } = server.config
    const client = new S3Client({ endpoint: endpoint!, region, forcePathStyle: true, credentials: S3_CREDENTIALS })
    const command = new GetObjectCommand({ Bucket, Key: 'arch_FOTO' })
    const signedUrl = (seconds: number) =>
      getSignedUrl(client, command, { expiresIn: 300, signingDate: new Date(Date.now() - seconds * 1_000) })
    expect((await fetch(await signedUrl(200))).status).toBe(200)
    expect((await fetch(await signedUrl(301))).status).toBe(403)
    client.destroy()
  })

  it.each([
    ['answers 500 once', 'falla', 1],
    ['cuts off twice', 'corta', 2],
    ['loses an answer', 'pierde', 1],
  ] as const)('gets through to one that %s', async (_description, fate, times) => {
    let remaining: number = times
    server.decideFate = () => (remaining-- > 0 ? fate : 'bien')
    const contenido = randomBytes(200_000)
    await s3.save(`arch_TRAS_${fate}`, contenido, JPEG)
    expect((await read(`arch_TRAS_${fate}`)).equals(contenido)).toBe(true)
    remaining = fate === 'corta' ? 0 : times
    expect((await read(`arch_TRAS_${fate}`)).equals(contenido)).toBe(true)
  })

  it(
    'gives up on one that doesn’t answer, keeps nothing half-written, and goes on when it does',
    FULL_RUN_ONLY,
    async () => {
      const before = await keys(s3)
      await s3.save('arch_GOTEA', randomBytes(100_000), JPEG)
      server.decideFate = ({ url = '' }) => (url.includes('GOTEA') ? 'gotea' : 'cuelga')
      const [halfRead, ...intentos] = await Promise.allSettled([
        s3.read('arch_GOTEA').then(buffer),
        s3.save('arch_NADA', randomBytes(1_000_000), JPEG),
        s3.read('arch_FOTO'),
        s3.remove('arch_FOTO'),
        keys(s3),
      ])
      for (const intento of intentos) expect(intento).toMatchObject({ status: 'rejected', reason: NO_DISPONIBLE })
      expect(halfRead).toMatchObject({ status: 'rejected' })
      server.decideFate = () => 'falla'
      await expect(s3.save('arch_NADA', Buffer.from('x'), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
      server.decideFate = () => 'corta'
      await expect(s3.save('arch_NADA', randomBytes(300_000), JPEG)).rejects.toMatchObject(NO_DISPONIBLE)
      server.decideFate = () => 'bien'
      expect(await keys(s3)).toEqual([...before, 'arch_GOTEA'].sort())
      await s3.save('arch_NADA', Buffer.from('ahora'), JPEG)
      expect(String(await read('arch_NADA'))).toBe('ahora')
    },
  )

  it('lists only the files below its own prefix', async () => {
    const [one, other] = [abrirS3({ prefix: 'una/' }), abrirS3({ prefix: 'dos/' })]
    await one.save('arch_UNA', Buffer.from('x'), JPEG)
    await other.save('arch_OTRA', Buffer.from('x'), JPEG)
    expect(await keys(one)).toEqual(['arch_UNA'])
    expect(await keys(other)).toEqual(['arch_OTRA'])
  })

  it('lists more than a page', FULL_RUN_ONLY, async () => {
    const store = abrirS3({ prefix: 'muchos/' })
    const names = Array.from({ length: 1_003 }, (_, i) => `arch_${String(i).padStart(5, '0')}`)
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => store.save(name, Buffer.from('x'), JPEG)))
    expect(await keys(store)).toEqual(names)
  })

  const comprobar = async (other: Record<string, string>) => {
    const { nota, close } = await openStore(readConfig({ ...server.env, ...other }, '/'))
    close()
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
  ])('says at the start what has to be mended: %s', async (_description, other, mensaje) => {
    await expect(comprobar(other)).rejects.toMatchObject({
      name: 'FileStoreError',
      message: expect.stringMatching(mensaje),
    })
    await expect(comprobar(other)).rejects.toThrow(/^No se puede usar el almacén de archivos \(STORAGE=s3\): /)
  })

  it('warns of what may pass, in a bounded time', FULL_RUN_ONLY, async () => {
    expect(await comprobar({})).toBeUndefined()
    expect(await comprobar({ S3_ENDPOINT: 'http://127.0.0.1:1' })).toMatch(/no responde .*ECONNREFUSED.* recibirán 503/)
    const silentServer = await createSilentServer()
    expect(await comprobar({ S3_ENDPOINT: silentServer.url })).toMatch(
      /^El almacén de archivos no responde \(http.*503 hasta que vuelva\.$/,
    )
    silentServer.close()
  })

  it('keeps what it is and what it is of: type and digest', async () => {
    const contenido = randomBytes(1_000)
    await s3.save('arch_TIPO', contenido, 'application/pdf')
    const { HeadObjectCommand, S3Client } = await import('@aws-sdk/client-s3')
    const { endpoint, region, bucket: Bucket } = server.config
    const client = new S3Client({ endpoint: endpoint!, region, forcePathStyle: true, credentials: S3_CREDENTIALS })
    const { ContentType, ETag } = await client.send(new HeadObjectCommand({ Bucket, Key: 'arch_TIPO' }))
    const md5 = createHash('md5').update(contenido).digest('hex')
    expect([ContentType, ETag]).toEqual(['application/pdf', `"${md5}"`])
    client.destroy()
  })
})
