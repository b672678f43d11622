import { createHash, createPublicKey, hash, verify } from 'node:crypto'
import { readdir, readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Guias, type ManifiestoDePrueba } from '@guias/sdk'
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose'
import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { toJob } from '../../server/data/queue/jobRows.ts'
import { sweepArchivos } from '../../server/domain/archivos/sweep.ts'
import { makePdf, makePdfs, readPendingPruebas } from '../../server/domain/pruebasEntrega/makePdf.ts'
import type { PruebaWithRepartidor } from '../../server/domain/pruebasEntrega/prueba.ts'
import { createLocalStore } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { createMaps, createThreads } from '../../server/startup/buildDeps.ts'
import { createMetrics } from '../../server/startup/metrics.ts'
import { createDeliveredGuia, createGuiaOnRoute, uploadArchivo } from '../archivos/images.ts'
import { type Comercio, MASTER_KEY } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY, readTestSettings } from '../factories.ts'
import { useTiles } from '../maps/tiles.ts'
import { documentsComercio, useDocuments } from './documents.ts'
import { parsePdf } from './readPdf.ts'

const { environment, withoutWorkers, waitForPdf, jwks } = useDocuments()
const tiles = useTiles()
const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
const downloadBytes = async (url: string) => Buffer.from(await (await fetch(url)).arrayBuffer())
const contentOf = (jws: string): ManifiestoDePrueba =>
  JSON.parse(Buffer.from(jws.split('.')[1]!, 'base64url').toString())
const threads = createThreads(createLog('silent'))
afterAll(() => threads.stop())
const depsOf = (service = withoutWorkers, more: Partial<Parameters<typeof makePdf>[0]> = {}) => ({
  db: service.db,
  log: createLog('silent'),
  clock: service.clock,
  secretos: createSecrets([Buffer.from(MASTER_KEY, 'base64')]),
  store: createLocalStore(join(service.dataDir, 'archivos')),
  threads,
  maps: undefined,
  settings: readTestSettings({ BRAND_NAME: 'Envíos' }),
  ...more,
})
const rowOf = async (service: typeof withoutWorkers, guia: string): Promise<PruebaWithRepartidor> => {
  const { rows } = await service.db.pool.query(
    `select p.*, null as repartidor from prueba_entrega p
     join guia_indice i on i.comercio_id = p.comercio_id and i.id = p.guia_id where i.guia = $1`,
    [guia],
  )
  return rows[0]
}

describe('a delivery gets its document', () => {
  it('by itself, soon, with what was said and nothing that was only meant for the merchant', async () => {
    const { guia } = await documentsComercio.api.guias.crear(
      buildGuia({ destinatario: 'María José Ajú', direccion: '5a avenida 12', external_ref: `PEDIDO-${process.pid}` }),
    )
    const evento = (body: object) => environment.asOperador('POST', `/guias/${guia}/eventos`, body)
    await evento({ estado: 'recolectado' })
    await evento({ tipo: 'guia.nota', descripcion: 'Cuidado con el perro' })
    await evento({ estado: 'en_ruta' })
    await evento({ estado: 'intento_fallido', motivo: 'destinatario_ausente', descripcion: 'Salió la vecina' })
    await evento({ estado: 'en_ruta' })
    await evento({ estado: 'en_bodega', ocurrido_en: new Date(Date.now() - 60_000).toISOString() })
    const foto = (await uploadArchivo(environment, guia)).body.archivo
    const firma = (await uploadArchivo(environment, guia, { tipo: 'firma' })).body.archivo
    await environment.asOperador('POST', `/guias/${guia}/entrega`, {
      recibido_por: { nombre: 'Ana Lucía Xicay', documento: '2456 78901 0101', relacion: 'vecino' },
      fotos: [foto],
      firma,
      lat: 14.7189,
      lng: -90.6442,
      precision_m: 8.5,
    })
    const prueba = await waitForPdf(guia)
    expect(prueba.pdf).toMatchObject({ tipo: 'pdf', mime: 'application/pdf', ancho: null, capturado_en: null })
    const bytes = await downloadBytes(prueba.pdf.url)
    expect([bytes.length, sha256(bytes)]).toEqual([prueba.pdf.bytes, prueba.pdf.sha256])
    const { texto: text, pageCount, dictionaries } = parsePdf(bytes)
    expect(pageCount).toBeLessThanOrEqual(2)
    for (const message of [
      'Envíos del Altiplano',
      'Tienda La Ceiba',
      'Guía de prueba',
      'Ana Lucía Xicay',
      'Documento •••• 0101',
      'María José Ajú',
      // The words of the tracking page.
      'Envío registrado',
      'Recolectado',
      'No se pudo entregar: no había nadie',
      'hora de Guatemala (UTC−6)',
      prueba.fotos[0]!.sha256,
      prueba.firma!.sha256,
    ])
      expect(text).toContain(message)
    expect(dictionaries).toContain(`${environment.url}/verificar/${guia}`)
    expect(text).not.toMatch(/perro|vecina|Lectura recibida tarde|\+502|3148 ?1676|78901 ?0101/)
  })

  it('with a signed manifest that two other implementations verify', async () => {
    const { guia, foto, firma } = await createDeliveredGuia(environment, documentsComercio)
    const { manifiesto, sal, pdf, ...prueba } = await waitForPdf(guia)
    expect(decodeProtectedHeader(manifiesto)).toEqual({
      alg: 'EdDSA',
      kid: (await jwks()).keys[0].kid,
      typ: 'prueba-entrega+jws',
    })
    const { payload } = await compactVerify(manifiesto, createLocalJWKSet(await jwks()), { algorithms: ['EdDSA'] })
    const contenido: ManifiestoDePrueba = JSON.parse(Buffer.from(payload).toString())
    const [head, body, sello] = manifiesto.split('.')
    const key = createPublicKey({ key: (await jwks()).keys[0], format: 'jwk' })
    expect(verify(null, Buffer.from(`${head}.${body}`), key, Buffer.from(sello!, 'base64url'))).toBe(true)

    const { recibido_por: receivedBy, external_ref } = {
      ...prueba,
      ...(await documentsComercio.api.guias.obtener(guia)),
    }
    expect(contenido).toEqual({
      version: 1,
      emisor: environment.url,
      guia,
      modo: 'test',
      external_ref,
      entregado_en: prueba.entregado_en,
      registrado_en: expect.stringMatching(/Z$/),
      hecho_en: expect.stringMatching(/Z$/),
      repartidor: null,
      posicion: {
        lat: 14.7189,
        lng: -90.6442,
        precision_m: 8.5,
        distancia_m: prueba.distancia_m,
        distancia_avisada_m: null,
      },
      recibido_por_sha256: hash(
        'sha256',
        JSON.stringify([sal, receivedBy.nombre, receivedBy.documento, receivedBy.relacion]),
      ),
      sin_firma: null,
      evidencia: {
        fotos_minimas: 1,
        firma: 'opcional',
        documento: 'opcional',
        faltas: [],
        pagina_anterior: false,
      },
      archivos: [...prueba.fotos, prueba.firma!, pdf].map(({ archivo, tipo, mime, bytes, sha256 }) => ({
        archivo,
        tipo,
        mime,
        bytes,
        sha256,
      })),
    })
    expect(contenido.archivos.map(({ archivo }) => archivo)).toEqual([foto, firma, pdf.archivo])
    // Of people it says nothing.
    expect(JSON.stringify(contenido)).not.toMatch(/María|López|31481676/)
    for (const { url, archivo } of [...prueba.fotos, prueba.firma!, pdf])
      expect(contenido.archivos.find((one) => one.archivo === archivo)!.sha256).toBe(sha256(await downloadBytes(url)))
  })

  it('without a signature and without a place, too', async () => {
    const guia = await createGuiaOnRoute(environment, documentsComercio)
    const fotos = [(await uploadArchivo(environment, guia)).body.archivo]
    await environment.asOperador('POST', `/guias/${guia}/entrega`, { recibido_por: { nombre: 'Ana' }, fotos })
    const { manifiesto, firma } = await waitForPdf(guia)
    expect(firma).toBeNull()
    expect(contentOf(manifiesto)).toMatchObject({ posicion: null, archivos: [{ tipo: 'foto' }, { tipo: 'pdf' }] })
  })

  it('once and for all: what comes later changes nothing', async () => {
    const { guia } = await createDeliveredGuia(environment, documentsComercio)
    const { pdf, manifiesto } = await waitForPdf(guia)
    const late = new Date(Date.now() - 60_000).toISOString()
    await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega', ocurrido_en: late })
    await environment.asOperador('POST', `/guias/${guia}/eventos`, {
      tipo: 'guia.nota',
      descripcion: 'Llamó la señora',
    })
    await environment.waitForQuiet()
    expect(await waitForPdf(guia)).toMatchObject({ pdf: { archivo: pdf.archivo }, manifiesto })
  })
})

describe('the job', () => {
  let manifestComercio: Comercio
  beforeAll(async () => {
    manifestComercio = await withoutWorkers.createComercio('live')
  })

  it('makes the same bytes for the same proof on each run, also after later scans', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const row = await rowOf(withoutWorkers, guia)
    const digests: string[] = []
    for (const time of [0, 1]) {
      const deps = depsOf(withoutWorkers, { clock: () => new Date(Date.now() + time * 86_400_000) })
      await makePdf(deps, row)
      const { rows } = await withoutWorkers.db.pool.query(
        `select encode(a.sha256, 'hex') as sha256 from archivo a where guia_id = $1 and tipo = 'pdf' order by creado_en desc`,
        [row.guia_id],
      )
      expect(rows).toHaveLength(time + 1)
      digests.push(rows[0].sha256)
      const late = new Date(Date.now() - 60_000).toISOString()
      await withoutWorkers.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'en_bodega', ocurrido_en: late })
    }
    expect(new Set(digests).size).toBe(1)
  })

  it('has one winner when several make it at once, and the sweeper takes what the others made', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const row = await rowOf(withoutWorkers, guia)
    const hechos = await Promise.all(Array.from({ length: 4 }, () => makePdf(depsOf(), row)))
    expect(hechos.filter(Boolean)).toHaveLength(1)
    expect(await makePdf(depsOf(), row)).toBe(false)
    // Run again as a job, it finds nothing to do.
    await makePdfs(depsOf(), [toJob(row), toJob(row)])
    const archivos = async () =>
      (
        await withoutWorkers.db.pool.query(
          `select archivo, usado_en from archivo where guia_id = $1 and tipo = 'pdf' order by usado_en`,
          [row.guia_id],
        )
      ).rows
    const { pdf } = await rowOf(withoutWorkers, guia)
    const archivosBefore = await archivos()
    expect(archivosBefore).toHaveLength(5)
    expect(archivosBefore.filter(({ usado_en }) => usado_en).map(({ archivo }) => archivo)).toEqual([pdf])
    const store = createLocalStore(join(withoutWorkers.dataDir, 'archivos'))
    const clock = () => new Date(Date.now() + 8 * 86_400_000)
    await sweepArchivos({ db: withoutWorkers.db, store, clock, log: createLog('silent') })
    expect((await archivos()).map(({ archivo }) => archivo)).toEqual([pdf])
    const keys = (await Array.fromAsync(store.list())).map(({ clave: key }) => key)
    expect(archivosBefore.map(({ archivo }) => archivo).filter((file) => keys.includes(file))).toEqual([pdf])
    const bytes = await downloadBytes((await waitForPdf(guia, manifestComercio)).pdf.url)
    expect(contentOf((await waitForPdf(guia, manifestComercio)).manifiesto).archivos.at(-1)!.sha256).toBe(sha256(bytes))
    expect(parsePdf(bytes).texto).not.toContain('Guía de prueba')
  })

  describe('with tiles of the operator’s own', () => {
    const pdfWith = async (url: string, ownNames = true) => {
      const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
      const settingValues = {
        ...readTestSettings(),
        tiles: { url, selfHosted: ownNames, attribution: '© Calles de Todos' },
      }
      const mapas = createMaps(settingValues, { clock: withoutWorkers.clock, log: createLog('silent') })
      expect(
        await makePdf(
          depsOf(withoutWorkers, { settings: settingValues, maps: mapas }),
          await rowOf(withoutWorkers, guia),
        ),
      ).toBe(true)
      return parsePdf(await downloadBytes((await waitForPdf(guia, manifestComercio)).pdf.url))
    }
    const MAP_CREDIT = 'Mapa: © Calles de Todos'

    it('draws the place of the delivery', async () => {
      const pdf = await pdfWith(tiles.url)
      expect(pdf.texto).toContain(MAP_CREDIT)
      expect(tiles.requests.length).toBeGreaterThanOrEqual(3)
      // Photo, signature and map.
      expect(pdf.dictionaries.match(/\/Subtype \/Image/g)).toHaveLength(3)
      const mapa = pdf.jpegs.filter(({ ancho, alto }) => ancho === 1_280 && alto === 512)
      const { channels } = await sharp(mapa[0]!.bytes).stats()
      expect(channels.map(({ mean }) => Math.round(mean / 10))).toEqual([5, 10, 15])
    })

    it.each([
      ['is slow', () => tiles.url, 'nunca'],
      ['fails', () => tiles.url, 'falta'],
      ['is gone', () => tiles.goneUrl, 'bien'],
    ] as const)('goes without a map where their server %s', async (_, url, asSpecified) => {
      tiles.answerMode = asSpecified
      const pdf = await pdfWith(url())
      expect(pdf.texto).not.toContain('Mapa:')
      expect(pdf.dictionaries.match(/\/Subtype \/Image/g)).toHaveLength(2)
    })

    it('asks nobody whose tiles are not for that', async () => {
      expect((await pdfWith(tiles.url, false)).texto).not.toContain('Mapa:')
      expect(tiles.requests).toEqual([])
    })
  })

  it('waits longer and longer for a photo that can’t be read, holds up no other, and in the end does without', async () => {
    const { guia, foto } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const other = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const folder = join(withoutWorkers.dataDir, 'archivos', foto.slice(-2))
    const [name] = (await readdir(folder)).filter((one) => one === foto)
    await rename(join(folder, name!), join(folder, `${name}.perdida`))
    let now = Date.now()
    const lines: string[] = []
    const deps = depsOf(withoutWorkers, {
      clock: () => new Date(now),
      log: createLog('warn', { write: (line) => lines.push(line) }),
    })
    const metrics = createMetrics()
    metrics.observe(deps)
    const ids = new Set<string>()
    const from = now
    const esperas = [5, 60, 600, 3_600, ...Array<number>(6).fill(14_400)]
    for (const seconds of esperas) {
      const pendientes = await readPendingPruebas(deps, 100)
      const { id, proximo_en } = await rowOf(withoutWorkers, guia)
      expect(pendientes.map((one) => one.id)).toContain(id)
      expect(ids.has(id)).toBe(false)
      ids.add(id)
      await makePdfs(deps, pendientes as Parameters<typeof makePdfs>[1])
      const row = await rowOf(withoutWorkers, guia)
      expect(row.pdf).toBeNull()
      expect(row.proximo_en.getTime()).toBe(now + seconds * 1_000)
      expect(row.proximo_en > proximo_en).toBe(true)
      expect((await readPendingPruebas(deps, 100)).map((one) => one.id)).not.toContain(row.id)
      now += seconds * 1_000
    }
    // The other one didn't wait for it.
    expect((await rowOf(withoutWorkers, other.guia)).pdf).not.toBeNull()
    const exposedMetrics = await metrics.expose()
    expect(exposedMetrics).toMatch(/^guias_pruebas_sin_pdf [1-9]/m)
    expect(Number(/^guias_pruebas_atraso_segundos (.*)$/m.exec(exposedMetrics)![1])).toBeGreaterThan(60_000)
    expect(lines.filter((line) => line.includes('proof without its PDF'))).toHaveLength(esperas.length)
    expect(now - from).toBeGreaterThan(86_400_000)
    await makePdfs(deps, (await readPendingPruebas(deps, 100)) as Parameters<typeof makePdfs>[1])
    const { pdf, manifiesto, fotos } = await waitForPdf(guia, manifestComercio)
    const { texto: text } = parsePdf(await downloadBytes(pdf.url))
    expect(text).toContain('No se pudo mostrar esta imagen')
    // What was received is still known.
    expect(text).toContain(fotos[0]!.sha256)
    expect(contentOf(manifiesto).archivos[0]!.sha256).toBe(fotos[0]!.sha256)
    expect(lines.filter((line) => line.includes('picture left out'))).toHaveLength(1)
  })

  it('shows no photo that isn’t the one that was kept', async () => {
    const { guia, foto } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const path = join(withoutWorkers.dataDir, 'archivos', foto.slice(-2), foto)
    const bytes = await readFile(path)
    bytes[bytes.length - 3]! ^= 1
    await writeFile(path, bytes)
    await makePdfs(depsOf(), [toJob(await rowOf(withoutWorkers, guia))])
    expect(await rowOf(withoutWorkers, guia)).toMatchObject({ pdf: null, intentos: 1 })
  })

  it('tells in how many seconds to ask again, until it is there', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const wait = async () => {
      const { datos, cabeceras: headers } = await manifestComercio.api.guias.pruebaEntrega(guia).conRespuesta()
      return [datos.pdf === null, headers.get('retry-after')]
    }
    expect(await wait()).toEqual([true, '2'])
    const in90Days = new Date(withoutWorkers.clock().getTime() + 90 * 86_400_000)
    await withoutWorkers.db.pool.query('update prueba_entrega set proximo_en = $1', [in90Days])
    expect(await wait()).toEqual([true, '86400'])
    await makePdfs(depsOf(), [toJob(await rowOf(withoutWorkers, guia))])
    expect(await wait()).toEqual([false, null])
  })

  it('is not put off when the database takes no writes', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const pending = await rowOf(withoutWorkers, guia)
    const store = createLocalStore(join(withoutWorkers.dataDir, 'archivos'))
    for (const code of ['53100', '25006', '58030']) {
      const error = Object.assign(new Error('no writes'), { code })
      const storeWithoutWrites = { ...store, save: () => Promise.reject(error) }
      await expect(makePdfs(depsOf(withoutWorkers, { store: storeWithoutWrites }), [toJob(pending)])).rejects.toBe(
        error,
      )
    }
    expect(await rowOf(withoutWorkers, guia)).toMatchObject({ id: pending.id, pdf: null, intentos: 0 })
    await makePdfs(depsOf(), [toJob(pending)])
    expect((await rowOf(withoutWorkers, guia)).pdf).not.toBeNull()
  })

  it('stops at the proof in hand when its worker lost its jobs', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const job = toJob(await rowOf(withoutWorkers, guia))
    await makePdfs(depsOf(), [{ ...job, signal: AbortSignal.abort() }])
    expect((await rowOf(withoutWorkers, guia)).pdf).toBeNull()
    await makePdfs(depsOf(), [job])
    expect((await rowOf(withoutWorkers, guia)).pdf).not.toBeNull()
  })

  it('keeps what it can’t store now for later', async () => {
    const { guia } = await createDeliveredGuia(withoutWorkers, manifestComercio)
    const pending = await rowOf(withoutWorkers, guia)
    const store = createLocalStore(join(withoutWorkers.dataDir, 'archivos'))
    const fullCase = { ...store, save: () => Promise.reject(new Error('no space left')) }
    await makePdfs(depsOf(withoutWorkers, { store: fullCase }), [toJob(pending)])
    const row = await rowOf(withoutWorkers, guia)
    expect(row).toMatchObject({ pdf: null, manifiesto: null, intentos: 1 })
    // After its ten waits it is tried every four hours.
    await withoutWorkers.db.pool.query('update prueba_entrega set intentos = 10 where id = $1', [row.id])
    const now = new Date()
    await makePdfs(depsOf(withoutWorkers, { store: fullCase, clock: () => now }), [toJob(row)])
    const repetition = await rowOf(withoutWorkers, guia)
    expect(repetition).toMatchObject({ pdf: null, intentos: 11, proximo_en: new Date(now.getTime() + 14_400_000) })
    await makePdfs(depsOf(), [toJob(repetition)])
    expect((await rowOf(withoutWorkers, guia)).pdf).not.toBeNull()
  })
})

describe('when the master key changes', () => {
  it('old proofs verify as ever, even after the old key is gone', FULL_RUN_ONLY, async () => {
    const { guia } = await createDeliveredGuia(environment, documentsComercio)
    const old = await waitForPdf(guia)
    const fresh = Buffer.alloc(32, 9).toString('base64')
    for (const MASTER_KEYS of [`${fresh},${MASTER_KEY}`, fresh]) {
      await environment.reset({ MASTER_KEYS })
      const { keys } = await jwks()
      expect(keys).toHaveLength(2)
      const { kid } = decodeProtectedHeader(old.manifiesto)
      expect(keys.map((key: { kid: string }) => key.kid).indexOf(kid)).toBe(1)
      await compactVerify(old.manifiesto, createLocalJWKSet({ keys }))
      const client = new Guias({ llave: documentsComercio.llave, baseUrl: environment.url })
      const other = await createDeliveredGuia(environment, { api: client })
      const { manifiesto } = await waitForPdf(other.guia, { ...documentsComercio, api: client })
      expect(decodeProtectedHeader(manifiesto).kid).toBe(keys[0].kid)
      await compactVerify(manifiesto, createLocalJWKSet(await jwks()))
      expect((await jwks()).keys).toHaveLength(2)
      expect((await client.guias.pruebaEntrega(guia)).manifiesto).toBe(old.manifiesto)
    }
    const { rows } = await environment.db.pool.query('select count(*)::int as n from clave_publica')
    expect(rows).toEqual([{ n: 2 }])
  })
})
