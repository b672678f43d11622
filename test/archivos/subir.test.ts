import { hash, randomBytes } from 'node:crypto'
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import sharp from 'sharp'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { createLocalStore } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { type Comercio, useEnvironment } from '../environment.ts'
import { FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { ACCEPTED_IMAGES, REFUSED_IMAGES } from './hostileFiles.ts'
import { createDeliveredGuia, createFoto, createGuiaOnRoute, uploadArchivo } from './images.ts'

const environment = useEnvironment()
let comercio: Comercio
let guia: string
beforeAll(async () => {
  comercio = await environment.createComercio()
})
// A guide takes no more than some pictures.
beforeEach(async () => {
  guia = await createGuiaOnRoute(environment, comercio)
})

const store = () => createLocalStore(join(environment.dataDir, 'archivos'))
const guardados = async () => (await Array.fromAsync(store().list())).map(({ clave: key }) => key).sort()
const readTableRows = async () => {
  const { rows } = await environment.db.pool.query('select archivo from archivo order by 1')
  return rows.map(({ archivo }) => archivo as string)
}
const readStored = (file: string) => readFile(join(environment.dataDir, 'archivos', file.slice(-2), file))
const listTemporaryFiles = () => readdir(join(environment.dataDir, 'subidas')).catch(() => [])
/** How many uploads may still be under way; on a slow machine they end before the test that waits for it. */
let running = 0
/** Every row has its file, every file its row, and nothing is left of an upload. */
const inOrder = async () => {
  expect(await guardados()).toEqual(await readTableRows())
  // What a cut upload left is cleared after its answer.
  await waitUntil(async () => (await listTemporaryFiles()).length <= running)
}

/** EXIF of a place in Guatemala, with changes. */
const lugarExif = (cambios: Record<string, string>) => ({
  GPSLatitudeRef: 'N',
  GPSLatitude: '14/1 38/1 5/1',
  GPSLongitudeRef: 'W',
  GPSLongitude: '90/1 30/1 25/1',
  ...cambios,
})

describe('POST /operaciones/v1/guias/{guia}/archivos', () => {
  it('keeps a photo made anew, and beside it what the camera had written into it', async () => {
    const { status, body } = await uploadArchivo(environment, guia)
    expect(status).toBe(201)
    expect(body).toMatchObject({
      archivo: expect.stringMatching(/^arch_[0-9A-Z]{16}$/),
      tipo: 'foto',
      mime: 'image/jpeg',
      ancho: 640,
      alto: 480,
      capturado_en: '2026-11-20T21:04:05.000Z',
      lat: expect.closeTo(14.634722, 5),
      lng: expect.closeTo(-90.506944, 5),
    })
    const bytes = await readStored(body.archivo)
    expect(bytes.length).toBe(body.bytes)
    expect(hash('sha256', bytes)).toBe(body.sha256)
    const { exif, icc, xmp, format } = await sharp(bytes).metadata()
    expect({ exif, icc, xmp, format }).toEqual({ exif: undefined, icc: undefined, xmp: undefined, format: 'jpeg' })
    expect(bytes.includes('SECRETO-MARCA')).toBe(false)
    await inOrder()
  })

  it('takes no place from a camera that wrote 0, 0, and takes one on the equator', async () => {
    const placeOf = async (GPSLatitude: string, GPSLongitude: string) => {
      const IFD3 = { GPSLatitudeRef: 'N', GPSLatitude, GPSLongitudeRef: 'W', GPSLongitude }
      const bytes = await sharp(await createFoto())
        .withExif({ IFD3 })
        .jpeg()
        .toBuffer()
      const { lat, lng } = (await uploadArchivo(environment, guia, { bytes })).body
      return [lat, lng]
    }
    expect(await placeOf('0/1 0/1 0/1', '0/1 0/1 0/1')).toEqual([null, null])
    expect(await placeOf('0/1 0/1 0/1', '90/1 30/1 0/1')).toEqual([0, -90.5])
    expect(await placeOf('14/1 30/1 0/1', '0/1 0/1 0/1')).toMatchObject([14.5, expect.closeTo(0)])
  })

  it.each<[string, Record<string, string>]>([
    ['no hemisphere', { GPSLatitude: '42/1 30/1 0/1', GPSLongitude: '74/1 30/1 0/1' }],
    [
      'no hemisphere of the longitude',
      { GPSLatitudeRef: 'N', GPSLatitude: '42/1 30/1 0/1', GPSLongitude: '74/1 30/1 0/1' },
    ],
    [
      'no hemisphere of the latitude',
      { GPSLatitude: '42/1 30/1 0/1', GPSLongitudeRef: 'W', GPSLongitude: '74/1 30/1 0/1' },
    ],
    ['a hemisphere of neither', lugarExif({ GPSLongitudeRef: 'X' })],
    ['the hemispheres exchanged', lugarExif({ GPSLatitudeRef: 'W', GPSLongitudeRef: 'N' })],
    ['a latitude past the pole', lugarExif({ GPSLatitude: '91/1 0/1 0/1' })],
    ['a longitude past the date line', lugarExif({ GPSLongitude: '181/1 0/1 0/1' })],
    ['degrees over 0', lugarExif({ GPSLatitude: '14/0 38/1 5/1' })],
    ['seconds of 0/0', lugarExif({ GPSLongitude: '90/1 30/1 0/0' })],
    ['minutes past 60', lugarExif({ GPSLatitude: '14/1 75/1 0/1' })],
  ])('takes no place from a photo with %s', async (_description, IFD3) => {
    const bytes = await sharp(await createFoto())
      .withExif({ IFD3 })
      .jpeg()
      .toBuffer()
    const { status, body } = await uploadArchivo(environment, guia, { bytes })
    expect([status, body.lat, body.lng]).toEqual([201, null, null])
  })

  it.each(['image/jpeg; charset=binary', 'image/jpeg;charset=ISO-8859-1', 'image/jpeg; name="foto; charset=x.jpg"'])(
    'takes a photo of type %s, for a picture has no charset',
    async (mime) => {
      expect((await uploadArchivo(environment, guia, { mime })).status).toBe(201)
    },
  )

  it('turns it upright, makes it no larger than 2560 pixels, and takes PNG and WebP as well', async () => {
    const grande = sharp({ create: { width: 3_000, height: 1_000, channels: 3, background: '#369' } })
    const rotatedFoto = await grande.clone().withMetadata({ orientation: 6 }).jpeg().toBuffer()
    expect((await uploadArchivo(environment, guia, { bytes: rotatedFoto })).body).toMatchObject({
      ancho: 853,
      alto: 2_560,
    })
    for (const formato of ['png', 'webp'] as const) {
      const bytes = await grande.clone().toFormat(formato).toBuffer()
      const { body } = await uploadArchivo(environment, guia, { bytes, mime: `image/${formato}` })
      expect(body).toMatchObject({ mime: 'image/jpeg', ancho: 2_560, alto: 853, capturado_en: null, lat: null })
    }
  })

  it('keeps a signature as PNG on white', async () => {
    const { body } = await uploadArchivo(environment, guia, { tipo: 'firma', mime: 'image/png' })
    expect(body).toMatchObject({ tipo: 'firma', mime: 'image/png', ancho: 300, alto: 100 })
    const { data, info } = await sharp(await readStored(body.archivo))
      .raw()
      .toBuffer({ resolveWithObject: true })
    expect([info.channels, ...data.subarray(0, 3)]).toEqual([3, 255, 255, 255])
  })

  it.each(ACCEPTED_IMAGES)(
    'makes %s anew, and keeps nothing else of it',
    async (_description, act, { tipo = 'foto', ...expected }) => {
      const { status, body } = await uploadArchivo(environment, guia, { bytes: await act(), tipo })
      expect([status, body]).toEqual([201, expect.objectContaining(expected)])
      const bytes = await readStored(body.archivo)
      for (const rest of ['script', 'PK\x03\x04', 'SECRETO', 'Exif', '%PDF', 'tEXt'])
        expect(bytes.includes(rest)).toBe(false)
      const { format, space, depth, orientation, pages, width, height } = await sharp(bytes).metadata()
      expect({ format, space, depth, orientation, pages, width, height }).toEqual({
        format: tipo === 'foto' ? 'jpeg' : 'png',
        space: 'srgb',
        depth: 'uchar',
        orientation: undefined,
        pages: undefined,
        width: body.ancho,
        height: body.alto,
      })
      await inOrder()
    },
  )

  it.each(REFUSED_IMAGES)('refuses %s, and nothing of it is left', async (_description, act, detalle) => {
    const before = await readTableRows()
    for (const tipo of ['foto', 'firma'] as const) {
      const { status, body } = await uploadArchivo(environment, guia, { bytes: await act(), tipo })
      expect([status, body.codigo]).toEqual([422, 'imagen_invalida'])
      expect(body.mensaje).toMatch(detalle)
    }
    expect(await readTableRows()).toEqual(before)
    await inOrder()
  })

  it('refuses a picture that unfolds to 17,000² pixels without unfolding it', async () => {
    const [, act] = REFUSED_IMAGES.find(([kind]) => kind.includes('17,000²'))!
    const bomba = await act()
    globalThis.gc?.()
    const before = process.memoryUsage.rss()
    // The pixels would be given back before the answer, so the memory is measured meanwhile.
    let mayor = before
    const measure = setInterval(() => {
      mayor = Math.max(mayor, process.memoryUsage.rss())
    }, 5)
    try {
      for (let i = 0; i < 4; i++) expect((await uploadArchivo(environment, guia, { bytes: bomba })).status).toBe(422)
    } finally {
      clearInterval(measure)
    }
    expect((mayor - before) / 1024 / 1024).toBeLessThan(100)
  })

  it('goes by what the bytes are, not by what they are called', async () => {
    const { status, body } = await uploadArchivo(environment, guia, { bytes: await createFoto(), mime: 'image/webp' })
    expect([status, body.mime]).toEqual([201, 'image/jpeg'])
  })

  it('answers 404 before it reads, and names what it needs', async () => {
    expect((await uploadArchivo(environment, '000000000000')).body.codigo).toBe('guia_desconocida')
    for (const query of ['', '?tipo=pdf', '?tipo=foto&tipo=firma']) {
      const { status, body } = await environment.request('POST', `/operaciones/v1/guias/${guia}/archivos${query}`, {
        llave: environment.llaveDeOperacion,
        raw: new Uint8Array(await createFoto()),
        headers: { 'Content-Type': 'image/jpeg' },
      })
      expect([query, status, body.codigo]).toEqual([query, 400, 'parametro_invalido'])
    }
    await inOrder()
  })

  const header = (more: string) =>
    `POST /operaciones/v1/guias/${guia}/archivos?tipo=foto HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${environment.llaveDeOperacion}\r\nContent-Type: image/jpeg\r\n${more}\r\n\r\n`

  /** What comes back over a connection of its own, until it closes. */
  const raw = (write: (socket: Socket) => void) =>
    new Promise<string>((resolve) => {
      let text = ''
      const socket = connect(Number(new URL(environment.url).port), '127.0.0.1')
      socket.on('data', (datos) => {
        text += datos
      })
      socket.on('error', () => {})
      socket.on('close', () => resolve(text))
      write(socket)
    })

  // It takes as long as a client may: the others meanwhile.
  let slowOne: ReturnType<typeof raw>
  it('lets in who sends slowly', FULL_RUN_ONLY, async () => {
    slowOne = raw((socket) => {
      socket.write(header('Content-Length: 5000000'))
      const dripTimer = setInterval(() => socket.write('\xff'), 200)
      socket.on('close', () => clearInterval(dripTimer))
    })
    await waitUntil(async () => (await listTemporaryFiles()).length === 1)
    running = 1
  })

  it.each<[string, string, RegExp]>([
    ['more than 10 MB by one byte', 'Content-Length: 10485761', /^HTTP\/1.1 413 [\s\S]*Reduzca el archivo/],
    ['a length below zero', 'Content-Length: -5', /^HTTP\/1.1 400 /],
    ['a length that is none', 'Content-Length: mucho', /^HTTP\/1.1 400 /],
    ['two lengths', 'Content-Length: 10\r\nContent-Length: 20', /^HTTP\/1.1 400 /],
    ['a length and chunks', 'Content-Length: 10\r\nTransfer-Encoding: chunked', /^HTTP\/1.1 400 /],
    ['chunks that are none', 'Transfer-Encoding: chunked', /^HTTP\/1.1 400 /],
  ])('refuses who announces %s', async (_description, announcement, response) => {
    const before = await readTableRows()
    expect(await raw((socket) => socket.write(`${header(announcement)}zz\r\n`))).toMatch(response)
    expect(await readTableRows()).toEqual(before)
    await inOrder()
  })

  it('takes from the body no more than was announced, and what follows for nothing else', async () => {
    const before = await readTableRows()
    const foto = await createFoto()
    const text = await raw((socket) => {
      socket.write(header('Content-Length: 1000'))
      socket.write(foto)
    })
    // The parser may see what follows before the picture has been looked at.
    const [last, beforeIt] = text.match(/(?<=^HTTP\/1.1 )\d+/gm)!.reverse()
    expect([last, beforeIt ?? '422']).toEqual(['400', '422'])
    expect(await readTableRows()).toEqual(before)
    await inOrder()
  })

  it('ends a stream that grows past 10 MB with a 413, and keeps nothing', async () => {
    const chunk = randomBytes(1 << 20)
    const received = await raw((socket) => {
      socket.write(header('Transfer-Encoding: chunked'))
      const send = (remaining: number) => {
        if (remaining === 0 || socket.destroyed) return
        socket.write(`${chunk.length.toString(16)}\r\n`)
        socket.write(chunk)
        socket.write('\r\n', () => send(remaining - 1))
      }
      send(40)
    })
    expect(received).toMatch(/^HTTP\/1.1 413[\s\S]*Connection: close[\s\S]*cuerpo_demasiado_grande/i)
    await inOrder()
  })

  it('forgets an upload that is cut off', async () => {
    const before = await readTableRows()
    for (let i = 0; i < 3; i++) {
      const socket = connect(Number(new URL(environment.url).port), '127.0.0.1')
      socket.on('error', () => {})
      socket.write(header('Content-Length: 5000000'))
      socket.write((await createFoto()).subarray(0, 1_000))
      await waitUntil(async () => (await listTemporaryFiles()).length > running)
      socket.destroy()
    }
    await waitUntil(async () => (await listTemporaryFiles()).length <= running)
    expect(await readTableRows()).toEqual(before)
    expect((await uploadArchivo(environment, guia)).status).toBe(201)
    await inOrder()
  })

  it('answers 503 while the storage is full or gone, and no row says otherwise', async () => {
    const folder = join(environment.dataDir, 'archivos')
    const before = await readTableRows()
    await rename(folder, `${folder}.aparte`)
    await writeFile(folder, 'no folder')
    const { status, body, headers } = await uploadArchivo(environment, guia)
    expect([status, body.codigo, headers.get('retry-after')]).toEqual([503, 'no_disponible', '2'])
    await rm(folder)
    await rename(`${folder}.aparte`, folder)
    expect(await readTableRows()).toEqual(before)
    expect((await uploadArchivo(environment, guia)).status).toBe(201)
    await inOrder()
  })

  it(
    'keeps memory bounded under eight uploads of 10 MB at once, and under pictures of 40 megapixels',
    FULL_RUN_ONLY,
    async () => {
      const noiseImage = await sharp(randomBytes(1_800 * 1_900 * 3), {
        raw: { width: 1_800, height: 1_900, channels: 3 },
      })
        .jpeg({ quality: 100, chromaSubsampling: '4:4:4' })
        .toBuffer()
      expect(noiseImage.length).toBeGreaterThan(8_000_000)
      expect(noiseImage.length).toBeLessThan(10 * 1024 * 1024)
      const hugeOne = await sharp({ create: { width: 7_300, height: 5_400, channels: 3, background: '#7a3' } })
        .jpeg({ progressive: true })
        .toBuffer()
      await uploadArchivo(environment, guia, { bytes: noiseImage })
      const measure = async (bytes: Buffer, count: number) => {
        globalThis.gc?.()
        const before = process.memoryUsage.rss()
        let peak = before
        const clock = setInterval(() => {
          peak = Math.max(peak, process.memoryUsage.rss())
        }, 5)
        const chunks = function* () {
          for (let i = 0; i < bytes.length; i += 65_536) yield new Uint8Array(bytes.subarray(i, i + 65_536))
        }
        const responses = await Promise.all(
          Array.from({ length: count }, () =>
            environment.request('POST', `/operaciones/v1/guias/${guia}/archivos?tipo=foto`, {
              llave: environment.llaveDeOperacion,
              raw: ReadableStream.from(chunks()) as ReadableStream,
              headers: { 'Content-Type': 'image/jpeg' },
            }),
          ),
        )
        clearInterval(clock)
        expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: count }, () => 201))
        return Math.round((peak - before) / 1024 / 1024)
      }
      const growth = { eightOf10Mb: await measure(noiseImage, 8), eightOf40Mp: await measure(hugeOne, 8) }
      console.log('RSS growth in MB', growth)
      // Eight decoded at once would be 8 × 120 MB and more.
      expect(growth.eightOf10Mb).toBeLessThan(250)
      expect(growth.eightOf40Mp).toBeLessThan(400)
      await inOrder()
    },
  )

  it('shows the door to who still sends after half a minute', FULL_RUN_ONLY, async () => {
    const text = await slowOne
    running = 0
    expect(text).not.toMatch(/^HTTP\/1.1 2/)
    await waitUntil(async () => (await listTemporaryFiles()).length === 0)
    await inOrder()
  })
})

describe('the sweeper', () => {
  const sweep = (days: number) =>
    sweepArchivos({
      db: environment.db,
      store: store(),
      clock: () => new Date(Date.now() + days * 86_400_000),
      log: createLog('silent'),
    })

  it('deletes what a crash left between file and row, and nothing younger than an hour', async () => {
    const { rows } = await environment.db.pool.query('select comercio_id, modo, id from guia limit 1')
    const [{ comercio_id, modo, id }] = rows
    const reserve = (file: string) =>
      environment.db.pool.query(`insert into archivo_indice values ($1, $2, $3, $4, 'subiendo', now())`, [
        file,
        comercio_id,
        modo,
        id,
      ])
    const before = await guardados()
    // Killed after the bytes were safe, and killed in the middle of them.
    await reserve('arch_MUERTO0000000000')
    await mkdir(join(environment.dataDir, 'archivos/00'), { recursive: true })
    await writeFile(join(environment.dataDir, 'archivos/00/arch_MUERTO0000000000'), 'entero')
    await reserve('arch_MUERTO1111111100')
    await writeFile(join(environment.dataDir, 'archivos/00/arch_MUERTO1111111100.parcial'), 'a medias')
    await sweep(0)
    expect(await guardados()).toContain('arch_MUERTO0000000000')
    await sweep(0.1)
    expect(await guardados()).toEqual(before)
    expect((await readdir(join(environment.dataDir, 'archivos/00'))).filter((n) => n.includes('MUERTO'))).toEqual([])
    const { rows: remaining } = await environment.db.pool.query(`select from archivo_indice where estado <> 'listo'`)
    expect(remaining).toEqual([])
    await inOrder()
  })

  it('deletes what nobody used within seven days, and never what a proof holds', async () => {
    const { guia: deliveredGuia, foto, firma } = await createDeliveredGuia(environment, comercio)
    const pdf = await waitUntil(async () => (await comercio.api.guias.pruebaEntrega(deliveredGuia)).pdf?.archivo)
    const { body: looseArchivo } = await uploadArchivo(environment, guia)
    await sweep(6)
    expect(await readTableRows()).toContain(looseArchivo.archivo)
    await sweep(8)
    expect(await readTableRows()).toEqual([foto, firma, pdf].sort())
    await inOrder()
    expect((await comercio.api.guias.pruebaEntrega(deliveredGuia)).fotos).toHaveLength(1)
  })

  it('tells an upload that it swept, so that no row names what is gone', async () => {
    const { rows } = await environment.db.pool.query('select comercio_id, modo, id from guia limit 1')
    const { saveArchivo } = await import('../../server/domain/archivos/archivo.ts')
    const slow = {
      ...store(),
      async save(...args: Parameters<ReturnType<typeof store>['save']>) {
        const done = await store().save(...args)
        await sweep(1)
        return done
      },
    }
    const intento = saveArchivo({ db: environment.db, store: slow, clock: () => new Date() }, rows[0], {
      contenido: Buffer.from('x'),
      tipo: 'foto',
      mime: 'image/jpeg',
      ancho: 1,
      alto: 1,
      capturado_en: null,
      lat: null,
      lng: null,
      autor: null,
      usado_en: null,
    })
    await expect(intento).rejects.toMatchObject({ codigo: 'no_disponible' })
    await sleep(10)
    await inOrder()
  })
})
