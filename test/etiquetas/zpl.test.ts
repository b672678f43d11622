import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EtiquetaData } from '../../server/domain/etiquetas/label.ts'
import { renderZpl } from '../../server/domain/etiquetas/zpl.ts'
import { type Logo, prepareLogo } from '../../server/platform/brand/logo.ts'
import { DOTS_PER_MM, fieldData, modulesOfQr, type Resolution } from '../../server/platform/zpl/zpl.ts'
import { buildLogoSvg, writeLogoFile } from '../brand/logos.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { anyLabel, BRAND_WITHOUT_LOGO, datos, latinText, oddText } from './data.ts'
import { inkOf, print, scan, textsOf } from './printer.ts'

const RESOLUTIONS: Resolution[] = [203, 300]
/** Commands that a label consists of, with the form of their parameters. */
const COMMANDS =
  /^(?:\^XA\^CI28|\^PW\d+\^LL\d+\^LH0,0\^PON\^FWN\^LRN|\^FO\d+,\d+(?:\^FR)?\^A0N,\d+,\d+\^FH\^FD[A-Za-z0-9 .,:;/()_-]*\^FS|\^FO\d+,\d+\^GB\d+,\d+,\d+\^FS|\^FO\d+,\d+\^BY\d+,3,\d+\^BCN,\d+,N,N,N\^FD>:[A-Za-z0-9-]+\^FS|\^FO\d+,\d+\^BY2,3,10\^BQN,2,\d+,M\^FH\^FD[A-Za-z0-9 .,:;/()_-]*\^FS|\^FO\d+,\d+\^GFA,\d+,\d+,\d+,[0-9A-F]+\^FS|\^XZ|)$/

const HOSTILE = [
  '^XA^FO0,0^GB800,1200,1200^FS^XZ',
  '~JR',
  '^FS^FO50,50^A0N,200,200^FDHOLA^FS',
  '^CC!!FO0,0',
  '_5EXA_7EJR',
  'a\\&b\\\\c',
  '^FH\\^FD',
]

describe.each(RESOLUTIONS)('a label for a printer of %i dpi', (ppp) => {
  const dots = DOTS_PER_MM[ppp]

  it('is 10 × 15 cm, and a scanner reads its bars and its QR', async () => {
    const [png, ...others] = await print(await renderZpl(BRAND_WITHOUT_LOGO, [datos()], ppp), ppp)
    expect(others).toEqual([])
    expect(await scan(png!)).toEqual({ Code128: '7K3M9QX2A1B4', QRCode: datos().url_rastreo })
    const { width, height, ...edges } = await inkOf(png!)
    expect([width, height]).toEqual([100 * dots, 150 * dots])
    for (const free of [edges.left, edges.top, width - edges.right, height - edges.bottom])
      expect(free).toBeGreaterThan(3.5 * dots)
  })

  it('is read with the longest texts, which stay on the label', async () => {
    const length = (text: string, length: number) => text.repeat(length).slice(0, length)
    const fullCase = datos({
      comercio: length('Ñandú & Compañía ', 120),
      modo: 'test',
      external_ref: length('REF', 128),
      url_rastreo: `https://guias.el-nombre-mas-largo-de-un-servicio.com.gt/r/7K3M9QX2A1B4`,
      recogida: {
        ...datos().recogida,
        nombre: length('Bodega ', 120),
        direccion: length('Kilómetro 22.5, ', 300),
        contacto: length('María ', 120),
        indicaciones: length('Portón azul, ', 500),
      },
      destinatario: {
        nombre: length('Wenceslao ', 120),
        telefono: '+50231481676',
        departamento: length('Sacatepéquez ', 100),
        municipio: length('San Juan ', 100),
        direccion: length('5a avenida “A” norte 12, ', 300),
        indicaciones: length('W', 500),
      },
      contenido: length('2 pares de zapatos ñ, ', 300),
    })
    const [png] = await print(await renderZpl(BRAND_WITHOUT_LOGO, [fullCase], ppp), ppp)
    expect(await scan(png!)).toEqual({ Code128: fullCase.guia, QRCode: fullCase.url_rastreo })
    const { width, height, ...edges } = await inkOf(png!)
    for (const free of [edges.left, edges.top, width - edges.right, height - edges.bottom])
      expect(free).toBeGreaterThan(2.5 * dots)
  })

  it('follows another in one file, in their order', async () => {
    const codigos = ['7K3M9QX2A1B4', '2Q9ZT4C7XK0Y', '000000000000']
    const zpl = await renderZpl(
      BRAND_WITHOUT_LOGO,
      codigos.map((guia) => datos({ guia })),
      ppp,
    )
    const scannedCodes = await Promise.all((await print(zpl, ppp)).map(scan))
    expect(scannedCodes.map(({ Code128 }) => Code128)).toEqual(codigos)
  })
})

it('has the texts of the label on paper, with their accents', async () => {
  const texts = textsOf(await renderZpl(BRAND_WITHOUT_LOGO, [datos()], 203)).join(' ')
  for (const message of [
    'Envíos del Altiplano',
    'Zapatería El Caminante, S. A.',
    '7K3M-9QX2-A1B4',
    'PEDIDO-2026-00005',
    'Bodega Zona 12',
    '12 avenida 3-40, bodega 7',
    'Tel. 5555 1234 · Luis Batz',
    'Portón azul, tocar el timbre',
    'María José Ajú',
    'Tel. 3148 1676',
    'Antigua Guatemala',
    'Sacatepéquez',
    '5a avenida norte 12, casa 3',
    'Portón verde, frente a la tienda',
    '2 pares de zapatos',
    'Siga su envío con el código QR',
  ])
    expect(texts).toContain(message)
  expect(texts).not.toContain('PRUEBA')
  expect(textsOf(await renderZpl(BRAND_WITHOUT_LOGO, [datos({ modo: 'test' })], 203))).toContain('PRUEBA')
})

/** Texts of a label with the height of their letters in dots, from the largest. */
const textsBySize = async (destinatario: Partial<EtiquetaData['destinatario']>) => {
  const label = datos({ destinatario: { ...datos().destinatario, ...destinatario } })
  const zpl = (await renderZpl(BRAND_WITHOUT_LOGO, [label], 203)).toString('ascii')
  return [...zpl.matchAll(/\^A0N,(\d+),\d+\^FH\^FD[^^~]*\^FS/g)]
    .map(([field, height]) => ({ text: textsOf(Buffer.from(field)).join(''), height: Number(height) }))
    .toSorted((a, b) => b.height - a.height)
}

it.each([
  ['12 calle 1-25 zona 10, oficina 1204', 'ZONA 10'],
  ['6a avenida 3-40 Z. 1', 'ZONA 1'],
  ['6a avenida 3-40, z.01, Zona 1', 'ZONA 1'],
  ['5a avenida norte 12', undefined],
  ['Entre zona 9 y zona 10', undefined],
  ['Plaza. 4, Zona Viva, lote Z5, zona 100', undefined],
])('shows the zone of the address %j as %s', async (direccion, expected) => {
  const texts = await textsBySize({ direccion })
  expect(texts.map(({ text }) => text).find((text) => text.startsWith('ZONA'))).toBe(expected)
})

it('shows the municipality and the zone in the largest letters', async () => {
  for (const repetitions of [1, 5]) {
    const direccion = '12 calle 1-25 zona 10, edificio Géminis, torre norte. '.repeat(repetitions)
    const texts = await textsBySize({ municipio: 'Villa Nueva', direccion, indicaciones: 'Tocar el timbre' })
    const [first, second, third] = texts.filter(({ text }) => text !== '7K3M-9QX2-A1B4')
    expect([first!.text, second!.text]).toEqual(['Villa Nueva', 'ZONA 10'])
    expect(second!.height).toBeGreaterThan(third!.height)
  }
})

it('leaves long indications readable beside a long address', async () => {
  const indicaciones = 'Por la garita de la 13 calle, seguir recto y doblar en la tienda. '.repeat(4).slice(0, 220)
  const texts = await textsBySize({ direccion: 'Condominio Las Luces, casa 27. '.repeat(7), indicaciones })
  const lines = texts.filter(({ text }) => indicaciones.includes(text))
  expect(lines.reduce((length, { text }) => length + text.length, 0)).toBeGreaterThan(205)
  // The letters of the sheet of four are smaller by a sixth: 7 points here are 2 mm there.
  for (const { height } of lines) expect(height).toBeGreaterThanOrEqual((7 / 72) * 203)
})

it('writes other scripts in Latin letters, with a mark, and other quotation marks without one', async () => {
  const textsFor = async (nombre: string) =>
    textsOf(await renderZpl(BRAND_WITHOUT_LOGO, [datos({ destinatario: { ...datos().destinatario, nombre } })], 203))
  for (const [name, written] of [
    ['김민수', 'GimMinSu*'],
    ['Дмитрий Иванов', 'Dmitriy Ivanov*'],
    ['عبد الله', 'bd allh*'],
    ['Ana 🏠', 'Ana*'],
  ] as const) {
    const texts = await textsFor(name)
    expect(texts).toContain(written)
    expect(texts.join(' ')).toContain('* Transcrito de otro alfabeto')
  }
  const texts = await textsFor('Tz’utujil “K’iche’” — Ñ')
  expect(texts).toContain(`Tz'utujil "K'iche'" - Ñ`)
  expect(texts.join(' ')).not.toContain('Transcrito')
})

describe('texts that look like commands', () => {
  it.each(HOSTILE)('%s is printed as a text', async (hostileText) => {
    const { recogida, destinatario } = datos()
    const etiqueta = datos({
      comercio: hostileText,
      external_ref: hostileText,
      contenido: hostileText,
      url_rastreo: `https://g.gt/${hostileText.replaceAll('\\', '')}`,
      recogida: {
        ...recogida,
        nombre: hostileText,
        contacto: hostileText,
        direccion: hostileText,
        indicaciones: hostileText,
      },
      destinatario: {
        ...destinatario,
        nombre: hostileText,
        municipio: hostileText,
        departamento: hostileText,
        direccion: hostileText,
        indicaciones: hostileText,
      },
    })
    const zpl = await renderZpl({ ...BRAND_WITHOUT_LOGO, nombre: hostileText }, [etiqueta], 203)
    for (const line of zpl.toString('ascii').split('\n')) expect(line).toMatch(COMMANDS)
    const pictures = await print(zpl, 203)
    expect(pictures).toHaveLength(1)
    expect(await scan(pictures[0]!)).toEqual({ Code128: etiqueta.guia, QRCode: etiqueta.url_rastreo })
    expect((await inkOf(pictures[0]!)).share).toBeLessThan(0.2)
    expect(textsOf(zpl).join('')).toContain(hostileText.replaceAll('\\', '/').slice(0, 12))
  })

  it('are no commands before they are escaped either: unescaped, the printer obeys them', async () => {
    const [hostileText] = HOSTILE
    const zpl = (await renderZpl(BRAND_WITHOUT_LOGO, [datos({ contenido: 'AQUI' })], 203)).toString('ascii')
    const [obeyed] = await print(Buffer.from(zpl.replace('^FH^FDAQUI', `^FD${hostileText}`)), 203)
    expect((await inkOf(obeyed!)).share).toBeGreaterThan(0.5)
  })
})

const onlyCommands = (numRuns: number) =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(anyLabel(latinText), anyLabel(oddText)), { minLength: 1, maxLength: 2 }),
      fc.constantFrom(...RESOLUTIONS),
      async (etiquetas, ppp) => {
        const zpl = (await renderZpl(BRAND_WITHOUT_LOGO, etiquetas, ppp)).toString('latin1')
        for (const line of zpl.split('\n')) expect(line).toMatch(COMMANDS)
        expect(zpl.match(/\^XA/g)).toHaveLength(etiquetas.length)
        for (const [, x, y] of zpl.matchAll(/\^FO(\d+),(\d+)/g)) {
          expect(Number(x)).toBeLessThan(97 * DOTS_PER_MM[ppp])
          expect(Number(y)).toBeLessThan(147 * DOTS_PER_MM[ppp])
        }
      },
    ),
    { numRuns },
  )
it('a label with random data has only its own commands, and no field beyond the edges', () => onlyCommands(20))
it('the same with five hundred data', FULL_RUN_ONLY, () => onlyCommands(500))

it('field data decodes to its text', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 60 }), (text) => {
      const [, data = ''] = /^\^FH\^FD([A-Za-z0-9 .,:;/()_-]*)\^FS$/.exec(fieldData(text)) ?? []
      const bytes = data.replace(/_(..)/g, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
      expect(Buffer.from(bytes, 'latin1').toString('utf8')).toBe(text.toWellFormed().replaceAll('\\', '/'))
    }),
  )
})

it('prints the logo in its place, once for each label, and no QR of a text that is too long', async () => {
  const logo: Logo = await prepareLogo(writeLogoFile('ancho.svg', buildLogoSvg(500, 90)))
  const mark = { ...BRAND_WITHOUT_LOGO, logo: { color: logo, black: logo.black } }
  const zpl = await renderZpl(mark, [datos(), datos()], 203)
  expect(zpl.toString('ascii').match(/\^GFA/g)).toHaveLength(2)
  expect(textsOf(zpl)).not.toContain(BRAND_WITHOUT_LOGO.nombre)
  const [image] = await print(zpl, 203)
  const [caseWithout] = await print(await renderZpl({ ...BRAND_WITHOUT_LOGO, nombre: ' ' }, [datos()], 203), 203)
  expect((await inkOf(image!)).share).toBeGreaterThan((await inkOf(caseWithout!)).share)
  expect(modulesOfQr('x'.repeat(400))).toBeUndefined()
  expect((await renderZpl(BRAND_WITHOUT_LOGO, [datos({ url_rastreo: 'x'.repeat(400) })], 203)).includes('^BQ')).toBe(
    false,
  )
})
