import fc from 'fast-check'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { composePdf } from '../../server/domain/pruebasEntrega/composePdf.ts'
import type { PruebaData } from '../../server/domain/pruebasEntrega/pdfContent.ts'
import { prepareImage } from '../../server/platform/images/prepareImage.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { parsePdf } from './readPdf.ts'
import { buildMilestone, createSampleImage, datos, file, firma, foto, fotoBytes, sha256 } from './sample.ts'

const locationMap = { image: (await prepareImage(fotoBytes, 640, 78))!, attribution: '© Calles de Todos' }

test('the first page shows the first photo and a map, which cost no page', async () => {
  const cases: [Partial<PruebaData>, number][] = [
    [{}, 3],
    [{ fotos: [], firma: null }, 1],
    [{ fotos: [foto, foto, foto] }, 3],
    [{ fotos: Array(10).fill(foto), historial: Array(30).fill(datos().historial[0]) }, 3],
  ]
  for (const [changes, pictures] of cases) {
    const [without, withMap] = [
      parsePdf(await composePdf(datos(changes))),
      parsePdf(await composePdf(datos({ ...changes, locationMap }))),
    ]
    expect(withMap.pageCount).toBe(without.pageCount)
    // The signature stands on the first page, too.
    expect(withMap.contents[0]!.match(/^\/I\d+ Do$/gm)).toHaveLength(pictures)
    expect(withMap.chunks.find(({ texto: text }) => text.includes('Mapa: © Calles de Todos'))!.pagina).toBe(0)
    expect(without.texto).not.toContain('Mapa:')
  }
  expect(parsePdf(await composePdf(datos({ locationMap, posicion: null }))).texto).not.toContain('Mapa:')
})

test('the first page shows the first photo that can be shown, and the file contains it once', async () => {
  const broken = await file('rota.jpg', Buffer.from('no es una imagen'))
  const { texto: text, jpegs } = parsePdf(await composePdf(datos({ fotos: [broken, foto], firma: null })))
  expect(text).toContain('Foto 2 de 2 · ')
  expect(jpegs).toHaveLength(1)
})

test('says what happened, in Spanish, with the zone of its times and without the phone', async () => {
  const { texto: text, measurement: measure, dictionaries } = parsePdf(await composePdf(datos()))
  expect(measure).toEqual([612, 792])
  for (const message of [
    'PRUEBA DE ENTREGA',
    'Envíos del Altiplano',
    'Zapatería El Caminante, S. A.',
    '7K3M-9QX2-A1B4',
    'PEDIDO-2026-00005',
    '14 de noviembre de 2026, 15:04 · hora de Guatemala (UTC−6)',
    'Recogida: Bodega Zona 12',
    'Teléfono •••• 1676',
    'Antigua Guatemala, Sacatepéquez',
    'Ana Lucía Xicay Ñandú',
    'Documento •••• 0101',
    'Hija',
    'Carlos Méndez · rep_4T8WQ2ZK7NHB',
    '14.55891, -90.73321 (±8 m); a 1.2 km',
    'tras un aviso',
    '12 nov 2026, 09:12 Envío registrado 14.63490, -90.50690',
    'Foto 1 · 14 nov 2026, 15:03',
    foto.sha256,
    firma.sha256,
    'elija este PDF: https://guias.example.gt/verificar/7K3M9QX2A1B4?f=Zm9v',
  ]) {
    expect(text).toContain(message)
  }
  expect(text).not.toMatch(/3148 ?1676|78901 ?0101/)
  expect(text).not.toContain('Guía de prueba')
  expect(dictionaries).toContain('/Lang (es)')
  expect(dictionaries).toContain('/Marked true')
  expect(dictionaries).toContain('/S /Table')
  expect(dictionaries).toContain('(D:20261114210510Z)')
})

test('the same data give the same bytes, whenever', async () => {
  const [one, other] = [await composePdf(datos()), await composePdf(datos())]
  expect(sha256(other)).toBe(sha256(one))
  // Nor does a document depend on those before it, nor on those made at the same time.
  const rara = datos({ comercio: 'A\u2010B\u00A0C\u2011D Å × ∕ ⁄ ΩΑΒ' })
  const [, concurrentResults] = await Promise.all([composePdf(rara), composePdf(datos())])
  expect(sha256(concurrentResults)).toBe(sha256(one))
  expect(sha256(await composePdf(datos({ registrado_en: '2026-11-14T21:05:11.000Z' })))).not.toBe(sha256(one))
})

test('a test guide says so', async () => {
  expect(parsePdf(await composePdf(datos({ modo: 'test' }))).texto).toContain('Guía de prueba')
})

test('transcribes what its fonts lack, says so, and shows words of right-to-left scripts in their order', async () => {
  const { texto: text } = parsePdf(
    await composePdf(
      datos({ comercio: '김 Ñandú 👨‍👩‍👧', receiver: { nombre: 'שלום עולם', documento: null, relacion: 'Ω → ✓' } }),
    ),
  )
  expect(text).toContain('Gim Ñandú*')
  expect(text).toContain('* Transcrito de otro alfabeto')
  expect(text).not.toContain('□')
  expect(text).toMatch(/ם.*ל.*ו.*ע.* .*ם.*ו.*ל.*ש/)
  expect(text).toMatch(/Ω.*→.*✓/)
})

test('a broken image is a note, and its digest stays', async () => {
  const rota = await file('rota.jpg', Buffer.from('no es una imagen'))
  const truncatedFoto = await file('truncada.jpg', fotoBytes.subarray(0, fotoBytes.length >> 1))
  const pdf = parsePdf(await composePdf(datos({ fotos: [rota, foto, truncatedFoto], firma: rota })))
  expect(pdf.texto.match(/No se pudo mostrar esta/g)).toHaveLength(2)
  expect(pdf.texto).toContain('No se pudo mostrar la firma')
  expect(pdf.texto).toContain(rota.sha256)
  expect(pdf.dictionaries.match(/\/Subtype \/Image/g)).toHaveLength(1)
})

test('ten photos of any shape and a long history fit on two pages; the last event is always there', async () => {
  const formas = await Promise.all([
    createSampleImage(3000, 30),
    createSampleImage(30, 3000),
    createSampleImage(1, 1),
    createSampleImage(1600, 1200),
  ])
  const fotos = await Promise.all(
    Array.from({ length: 10 }, (_, i) => file(`foto-${i + 1}.jpg`, formas[i % formas.length]!)),
  )
  const historial = Array.from({ length: 400 }, (_, i) =>
    buildMilestone(new Date(1.8e12 + i * 6e4).toISOString(), `Evento ${i + 1}`),
  )
  const { pageCount, texto: text } = parsePdf(await composePdf(datos({ fotos, historial })))
  expect(pageCount).toBe(2)
  expect(text).toContain('Foto 10 · ')
  expect(text).toContain('Evento 1 ')
  expect(text).toContain('Evento 400 ')
  expect(text).toMatch(/… \d+ eventos más …/)
})

test('a proof without photos and with little to tell is one page', async () => {
  const nothing = { nombre: null, documento: null, relacion: null }
  const { pageCount, texto: text } = parsePdf(
    await composePdf(
      datos({
        external_ref: null,
        contenido: null,
        repartidor: null,
        receiver: nothing,
        posicion: null,
        historial: [],
        fotos: [],
        firma: null,
      }),
    ),
  )
  expect(pageCount).toBe(1)
  expect(text).toContain('Sin firma')
  expect(text).not.toContain('Historial')
})

type Textos = (maxLength: number) => fc.Arbitrary<string>
const latinos: Textos = (maxLength) =>
  fc.oneof(
    fc.string({ unit: fc.constantFrom(...'aeiouñáéíMWilrst 0123-,.'), maxLength }),
    fc.constantFrom('', ' ', 'W'.repeat(maxLength)),
  )
const oddValues: Textos = (maxLength) =>
  fc.oneof(
    fc.string({ unit: 'binary', maxLength }),
    fc.string({ unit: 'grapheme', maxLength }),
    fc.string({ unit: fc.constantFrom('W', 'ñ', ' ', '字', 'ب', 'ש', '👩‍🚀', '\u0301', '\u200f', '\n'), maxLength }),
  )
const nullable = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null })
const degrees = fc.double({ min: -180, max: 180, noNaN: true })
const meters = nullable(fc.double({ min: 0, max: 2e7, noNaN: true }))
const date = (text: Textos) =>
  fc.oneof(
    fc.date({ noInvalidDate: true }).map((d) => d.toISOString()),
    text(10),
  )
const prepare = async (...measure: [number, number]) => prepareImage(await createSampleImage(...measure), 720, 78)
const images = fc.constantFrom(await prepare(40, 30), await prepare(9, 16), undefined, await prepare(900, 7))
const buildArchivo = (text: Textos) =>
  fc.record({ nombre: text(60), image: images, sha256: text(64), capturado_en: nullable(date(text)) })
const MAPA = (await prepare(640, 256))!
const SQUARE = {
  png: await sharp(await createSampleImage(90, 90))
    .png()
    .toBuffer(),
  ancho: 90,
  alto: 90,
}
const LOGO = { color: SQUARE, black: SQUARE }
const cualquiera = (text: Textos): fc.Arbitrary<PruebaData> =>
  fc.record({
    brand: fc.record({ nombre: text(120), color: fc.constant('#8a1538'), logo: fc.constantFrom(null, LOGO) }),
    comercio: text(120),
    modo: fc.constantFrom('live', 'test'),
    guia: fc.oneof(fc.constant('7K3M9QX2A1B4'), text(64)),
    external_ref: nullable(text(128)),
    estado: text(40),
    entregado_en: date(text),
    registrado_en: date(text),
    zona: fc.constantFrom('America/Guatemala', 'UTC', 'Asia/Kathmandu', ''),
    verificationUrl: fc.oneof(fc.webUrl(), text(3000)),
    recogida: fc.record({ nombre: nullable(text(120)), lat: nullable(degrees), lng: nullable(degrees) }),
    destinatario: fc.record({
      nombre: nullable(text(120)),
      telefono: text(40),
      departamento: text(100),
      municipio: text(100),
      direccion: nullable(text(300)),
    }),
    contenido: nullable(text(300)),
    repartidor: nullable(fc.record({ repartidor: text(64), nombre: text(120) })),
    receiver: fc.record({ nombre: nullable(text(120)), documento: nullable(text(60)), relacion: nullable(text(60)) }),
    posicion: nullable(
      fc.record({ lat: degrees, lng: degrees, precision_m: meters, distancia_m: meters, distancia_avisada_m: meters }),
    ),
    locationMap: fc.constantFrom(null, { image: MAPA, attribution: '© OpenStreetMap' }),
    historial: fc.array(
      fc.record({
        ocurrido_en: date(text),
        descripcion: text(500),
        lugar: nullable(text(100)),
        lat: nullable(degrees),
        lng: nullable(degrees),
      }),
      { maxLength: 40 },
    ),
    fotos: fc.array(buildArchivo(text), { maxLength: 10 }),
    firma: nullable(buildArchivo(text)),
    sin_firma: nullable(text(40)),
    pagina_anterior: nullable(text(200)),
  })

const inside = (numRuns: number) =>
  fc.assert(
    fc.asyncProperty(fc.oneof(cualquiera(latinos), cualquiera(oddValues)), async (datos) => {
      const { pageCount, chunks } = parsePdf(await composePdf(datos))
      expect(pageCount).toBeLessThanOrEqual(2)
      for (const { x, y } of chunks) {
        // The margin is 46 points wide. A mark of a foreign script may stand left of its letter, in the margin.
        expect(x).toBeGreaterThan(25)
        expect(x).toBeLessThan(612 - 40)
        expect(y).toBeGreaterThan(25)
        expect(y).toBeLessThan(792 - 25)
      }
      // Neither does what flows run into what stands at the foot.
      const nota = chunks.findIndex(({ texto: text }) => text.startsWith('Entrega registrada'))
      const { pagina, y: ceiling } = chunks[nota]!
      const flowingChunks = chunks.slice(0, nota).filter((chunk) => !(chunk.pagina < pagina && chunk.y < 45))
      for (const chunk of flowingChunks) expect(chunk.y).toBeGreaterThan(chunk.pagina === pagina ? ceiling + 5 : 48)
    }),
    { numRuns },
  )
test('a proof with random data has one or two pages, and nothing written beyond their edges', () => inside(10))
test('the same with five hundred data', FULL_RUN_ONLY, () => inside(500))
