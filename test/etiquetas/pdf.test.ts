import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { EtiquetaData } from '../../server/domain/etiquetas/label.ts'
import { renderEtiquetas } from '../../server/domain/etiquetas/pdf.ts'
import { type Logo, prepareLogo } from '../../server/platform/brand/logo.ts'
import { inGroups } from '../../server/platform/codes/guideCode.ts'
import { barsOf, qrOf } from '../../server/platform/pdf/barcodes.ts'
import { createDocument } from '../../server/platform/pdf/document.ts'
import { createTypography } from '../../server/platform/pdf/text.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import { anyLabel, BRAND_WITHOUT_LOGO, datos, latinText, oddText } from './data.ts'
import { findBars, MODULE_POINTS, measureWidths, readBarcode, readDrawnQr, readQr } from './readers.ts'

const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('a label of 10 × 15 cm with everything that a courier needs', async () => {
  const {
    texto: text,
    measurement: measure,
    pageCount,
  } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos()]))
  expect(pageCount).toBe(1)
  expect(measure.map((puntos) => (puntos / 72) * 25.4)).toEqual([expect.closeTo(100, 1), expect.closeTo(150, 1)])
  for (const message of [
    'Envíos del Altiplano',
    'Zapatería El Caminante, S. A.',
    '7K3M-9QX2-A1B4',
    'PEDIDO-2026-00005',
    'Bodega Zona 12',
    '12 avenida 3-40, bodega 7',
    'Tel. 5555 1234 · Luis Batz',
    'INDICACIONES PARA RECOGER',
    'Portón azul, tocar el timbre',
    'María José Ajú',
    'Tel. 3148 1676',
    'Antigua Guatemala',
    'Sacatepéquez',
    '5a avenida norte 12, casa 3',
    'Portón verde, frente a la tienda',
    '2 pares de zapatos',
  ]) {
    expect(text).toContain(message)
  }
  expect(text).not.toContain('PRUEBA')
})

test('names and addresses in other scripts are in Latin letters, with a mark and its meaning', async () => {
  const base = datos().destinatario
  for (const [nombre, written] of [
    ['김민수', 'GimMinSu*'],
    ['王小明', 'WangXiaoMing*'],
    ['محمد علي', 'mhmd ly*'],
    ['سوق ٢٣', 'swq 23*'],
    ['Дмитрий Иванов', 'Dmitriy Ivanov*'],
    ['สมชาย', 'smchay*'],
    ['नरेन्द्र', 'nrendr*'],
    ['José 김', 'José Gim*'],
    ['محمد عبد الله', 'mhmd bd allh*'],
    ['شـــريف', 'shryf*'],
    ['Ana 🏠👍🏽 Pérez', 'Ana Pérez*'],
  ] as const) {
    const etiqueta = datos({
      destinatario: { ...base, nombre, direccion: nombre, indicaciones: nombre, municipio: nombre },
    })
    const { texto: text } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [etiqueta, datos()]))
    expect(text.split(written)).toHaveLength(5)
    expect(text.split('* Transcrito de otro alfabeto')).toHaveLength(2)
    expect(text).not.toMatch(/□|[^\p{Script=Latin}\p{Script=Common}]/u)
  }
  expect(parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos()])).texto).not.toContain('Transcrito')
})

test('a name of emoji alone is written as such', async () => {
  const etiqueta = datos({ destinatario: { ...datos().destinatario, nombre: '👨‍👩‍👧 🏠' } })
  expect(parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [etiqueta])).texto).toContain('(emoji)*')
})

test('the bars that are drawn read as the code, with their quiet zones on the page', async () => {
  const [contenido] = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos({ modo: 'test' })])).contents
  const anchos = measureWidths(contenido!)
  const drawnItems = findBars(contenido!)
  expect(readBarcode(anchos.map(Math.round))).toBe('7K3M9QX2A1B4')
  for (const width of anchos) expect(Math.abs(width - Math.round(width))).toBeLessThan(0.01)
  expect(drawnItems[0]![0]).toBeGreaterThan(10 * MODULE_POINTS)
  expect(283.4 - drawnItems.at(-1)![0]! - drawnItems.at(-1)![2]!).toBeGreaterThan(10 * MODULE_POINTS)
})

/** Pieces of a sheet's content that draw one label each, with the label's place and scale. */
const etiquetasOfSheet = (contenido: string) =>
  contenido
    .split(/^(?=1 0 0 1 [\d.]+ [\d.]+ cm$)/m)
    .slice(1)
    .map((drawnBarcode) => {
      const [, x, y, scale] = /^1 0 0 1 ([\d.]+) ([\d.]+) cm\n([\d.]+) 0 0 \3 0 0 cm$/m.exec(drawnBarcode)!.map(Number)
      return {
        x: x!,
        y: y!,
        scale: scale!,
        guia: readBarcode(measureWidths(drawnBarcode).map(Math.round)),
        drawnBarcode,
      }
    })

test('four labels on a letter sheet, in the places of its adhesives, and the next ones on another', async () => {
  const guias = ['7K3M9QX2A1B4', '2Q9ZT4C7XK0Y', '000000000000', 'ABCDEFGHJKMN', 'ZZZZZZZZZZZZ']
  const etiquetas = guias.map((guia, i) => datos({ guia, modo: i === 1 ? 'test' : 'live', external_ref: `P-${i}` }))
  const {
    pageCount,
    measurement: measure,
    contents,
    texto: text,
  } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, etiquetas, 'carta'))
  expect([pageCount, measure]).toEqual([2, [8.5 * 72, 11 * 72]])
  const sheets = contents.map(etiquetasOfSheet)
  expect(sheets.map((sheet) => sheet.map(({ guia }) => guia))).toEqual([guias.slice(0, 4), guias.slice(4)])
  for (const [i, { x, y, scale, drawnBarcode }] of sheets.flat().entries()) {
    const [izquierda, arriba] = [[0.5, 4.5][i % 2]! * 72, [0.5, 5.5][(i % 4) >> 1]! * 72]
    // Within the adhesive of 3½ × 5 in, with a bar module of ten dots at 600 dpi.
    expect([x >= izquierda, y >= arriba]).toEqual([true, true])
    expect(x + 283.46 * scale).toBeLessThanOrEqual(izquierda + 3.5 * 72)
    expect(y + 425.2 * scale).toBeLessThanOrEqual(arriba + 5 * 72)
    expect((MODULE_POINTS * scale * 600) / 72).toBeCloseTo(10, 2)
    expect(readQr(readDrawnQr(drawnBarcode))).toBe('https://guias.example.gt/rastreo/7K3M9QX2A1B4')
  }
  for (const message of ['P-0', 'P-4', 'Tel. 3148 1676', 'Antigua Guatemala']) expect(text).toContain(message)
  expect(text.match(/PRUEBA/g)).toHaveLength(2)
})

test('the QR that is drawn reads as the tracking address', async () => {
  const url = 'https://guias.example.gt/rastreo/7K3M9QX2A1B4'
  const [contenido] = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos()])).contents
  expect(readQr(readDrawnQr(contenido!))).toBe(url)
})

test('every code reads back', () => {
  const codigo = fc.string({
    unit: fc.constantFrom(...'0123456789ABCDEFGHJKMNPQRSTVWXYZ'),
    minLength: 12,
    maxLength: 12,
  })
  fc.assert(
    fc.property(codigo, (guia) => {
      expect(readBarcode(barsOf(guia)!)).toBe(guia)
    }),
    { numRuns: 300 },
  )
  const url = fc.string({
    unit: fc.constantFrom(...'abcdefghijklmnopqrstuvwxyz0123456789/._-?=&%'),
    minLength: 1,
    maxLength: 70,
  })
  fc.assert(
    fc.property(url, (rest) => {
      expect(readQr(qrOf(`https://${rest}`)!)).toBe(`https://${rest}`)
    }),
    { numRuns: 60 },
  )
})

test('test labels say PRUEBA at the top and behind the destination', async () => {
  const { chunks } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos({ modo: 'test' })]))
  const texts = chunks.map(({ texto: text }) => text)
  expect(texts.filter((text) => text === 'PRUEBA')).toHaveLength(2)
  expect(texts[texts.lastIndexOf('PRUEBA') + 1]).toBe('ENTREGAR A')
})

test(
  'a hundred labels: a page each, in time that grows with their number, in little memory, the same bytes again',
  FULL_RUN_ONLY,
  async () => {
    const hundred = Array.from({ length: 100 }, (_, i) =>
      datos({ external_ref: `PEDIDO-${i}`, url_rastreo: `https://example.gt/${i}` }),
    )
    await renderEtiquetas(BRAND_WITHOUT_LOGO, hundred.slice(0, 5))
    globalThis.gc?.()
    const rss = process.memoryUsage.rss()
    const pdf = await renderEtiquetas(BRAND_WITHOUT_LOGO, hundred)
    expect(process.memoryUsage.rss() - rss).toBeLessThan(60e6)
    expect(pdf.length).toBeLessThan(1e6)
    expect(parsePdf(pdf).pageCount).toBe(100)
    expect(sha256(await renderEtiquetas(BRAND_WITHOUT_LOGO, hundred))).toBe(sha256(pdf))
    const cost = async (count: number) => {
      const times: number[] = []
      for (let time = 0; time < 3; time++) {
        const from = process.cpuUsage()
        await renderEtiquetas(BRAND_WITHOUT_LOGO, hundred.slice(0, count))
        const { user, system } = process.cpuUsage(from)
        times.push(user + system)
      }
      return Math.min(...times)
    }
    // Some eight times as much for eight times as many: 64 if it grew with their square.
    expect((await cost(96)) / (await cost(12))).toBeLessThan(24)
  },
)

test('the telephone of a pickup is whole, however long its contact and its address are', async () => {
  const recogida = {
    ...datos().recogida,
    contacto: 'María Guadalupe '.repeat(7),
    direccion: 'Kilómetro 22.5, '.repeat(18),
  }
  const { texto: text } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos({ recogida })]))
  expect(text.replaceAll(/\s/g, '')).toContain('Tel.55551234')
})

const LONG_INSTRUCTIONS = 'Entrar por la garita de la 13 calle, preguntar por bodega y esperar. '.repeat(7)

test('long indications of a pickup are cut, and the destination keeps its texts', async () => {
  const drawWith = async (cambios: Partial<EtiquetaData['recogida']>) => {
    const recogida = { ...datos().recogida, ...cambios }
    const { texto: text, chunks } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, [datos({ recogida })]))
    return { texto: text, destino: chunks.find((one) => one.texto === 'ENTREGAR A')!.y }
  }
  const [caseWithout, longValues] = [
    await drawWith({ indicaciones: null }),
    await drawWith({ indicaciones: LONG_INSTRUCTIONS }),
  ]
  expect(caseWithout.texto).not.toContain('RECOGER')
  expect(longValues.texto).toMatch(/Entrar por la garita.*…/)
  expect(longValues.texto).not.toContain(LONG_INSTRUCTIONS.trim())
  // The lines of the sender leave the space, so the destination begins where it did.
  expect(longValues.destino).toBe(caseWithout.destino)
  expect(longValues.texto).toContain('Portón verde, frente a la tienda')
  const shortOne = await drawWith({
    direccion: null,
    contacto: null,
    telefono: null,
    nombre: 'B',
    indicaciones: LONG_INSTRUCTIONS,
  })
  expect(Math.abs(shortOne.destino - caseWithout.destino)).toBeLessThan(20)
  expect(shortOne.texto).toContain('Portón verde, frente a la tienda')
})

test('a code in groups of four', () => {
  expect(inGroups('7K3M9QX2A1B4')).toBe('7K3M-9QX2-A1B4')
  expect(inGroups('')).toBe('')
})

const inside = (numRuns: number) =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(anyLabel(latinText), anyLabel(oddText)), { minLength: 1, maxLength: 2 }),
      async (etiquetas) => {
        const { pageCount, chunks } = parsePdf(await renderEtiquetas(BRAND_WITHOUT_LOGO, etiquetas))
        expect(pageCount).toBe(etiquetas.length)
        for (const { texto: text, x, y } of chunks) {
          if (text === 'PRUEBA') continue
          // Marks of some scripts stand before their letters, into the margin.
          expect(x).toBeGreaterThan(0)
          expect(x).toBeLessThan(283 - 10)
          expect(y).toBeGreaterThan(10)
          expect(y).toBeLessThan(425 - 12)
        }
      },
    ),
    { numRuns },
  )
test('labels with random data have one page each, and nothing written beyond the edges', () => inside(10))
test('the same with five hundred data', FULL_RUN_ONLY, () => inside(500))

test('a text that is cut keeps within its width, with its ellipsis', () => {
  const { doc } = createDocument({
    titulo: '',
    autor: '',
    subject: '',
    creado_en: '2026-11-12T15:12:00.000Z',
    size: [283, 425],
    tagged: false,
  })
  const { split, measure } = createTypography(doc)
  const estilo = { size: 10 }
  for (let width = 40; width < 200; width++) {
    const [line = ''] = split('Sacatepéquez, Huehuetenango, Quetzaltenango y Suchitepéquez', estilo, width, 1)
    expect(line).toMatch(/.…$/)
    expect([width, measure(line, estilo)]).toEqual([
      width,
      expect.toSatisfy((measuredWidth: number) => measuredWidth <= width),
    ])
  }
})

test('the logo stands on each label and in the document once; one that is no word has the name beside it', async () => {
  const [width, height] = await Promise.all([
    prepareLogo(writeLogoFile('ancho.svg', buildLogoSvg(500, 90))),
    prepareLogo(writeLogoFile('alto.svg', buildLogoSvg(90, 160))),
  ])
  const drawWith = (logo: Logo) => ({ ...BRAND_WITHOUT_LOGO, logo: { color: logo, black: logo.black } })
  const [one, ten] = await Promise.all([1, 10].map((n) => renderEtiquetas(drawWith(width), Array(n).fill(datos()))))
  expect(parsePdf(one!).texto).not.toContain(BRAND_WITHOUT_LOGO.nombre)
  expect(one!.toString('latin1').match(/\/Subtype \/Image/g)).toHaveLength(1)
  expect(ten!.toString('latin1').match(/\/Subtype \/Image/g)).toHaveLength(1)
  expect(parsePdf(await renderEtiquetas(drawWith(height), [datos()])).texto).toContain(BRAND_WITHOUT_LOGO.nombre)
})
