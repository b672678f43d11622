import { describe, expect, it } from 'vitest'
import { composePdf } from '../../server/domain/pruebasEntrega/composePdf.ts'
import type { PruebaData } from '../../server/domain/pruebasEntrega/pdfContent.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { type ParsedPdf, parsePdf } from './readPdf.ts'
import { buildMilestone, createSampleImage, datos, file, type foto } from './sample.ts'

/** How far a line of text reaches above its baseline. */
const LETTER_HEIGHT = 8
/** The titles that begin a part of the document. */
const TITULO = /^(?:Historial|Foto$|Fotos \(|Firma, ampliada|Integridad de los archivos)/

/** The highest stretch of each page on which nothing stands, as a part of the page. */
function gapsOf({ pageCount, chunks, images, measurement: [, height] }: ParsedPdf): number[] {
  return Array.from({ length: pageCount }, (_, page) => {
    const fullCase = [
      ...chunks.filter((one) => one.pagina === page).map(({ y }) => ({ bottom: y, top: y + LETTER_HEIGHT })),
      ...images.filter((one) => one.pagina === page),
    ].sort((a, b) => b.top - a.top)
    let [end, gap] = [height, 0]
    for (const { bottom: abajo, top: arriba } of fullCase) {
      gap = Math.max(gap, end - arriba)
      end = Math.min(end, abajo)
    }
    return Math.max(gap, end) / height
  })
}

const HEADING = /^(?:Fecha|Estado|Lugar|Archivo|SHA-256 del archivo guardado)$/
/** How much stands below the last title of each page: one alone at a page's end has a table's head at most, and the foot. */
const countLinesAfterLastTitle = ({ pageCount, chunks, images }: ParsedPdf): number[] =>
  Array.from({ length: pageCount }, (_, page) => {
    const pageChunks = chunks.filter((one) => one.pagina === page)
    const titles = pageChunks.filter(({ texto: text }) => TITULO.test(text))
    if (titles.length === 0) return Number.POSITIVE_INFINITY
    const last = Math.min(...titles.map(({ y }) => y))
    const lines = pageChunks.filter(({ texto: text, y }) => y < last - LETTER_HEIGHT && y > 45 && !HEADING.test(text))
    return lines.length + images.filter((one) => one.pagina === page && one.bottom < last).length
  })

const LARGO = 'María de los Ángeles Guadalupe Fernández-Castañeda y Xicará de la Cruz Hernández viuda de Montúfar'
const LONG_NAMES: Partial<PruebaData> = {
  comercio: 'Comercializadora Internacional de Calzado y Artículos de Cuero de Guatemala, Sociedad Anónima de Capital',
  contenido: 'Dos blusas bordadas y un corte de Totonicapán, tres pares de zapatos de cuero y una caja de candelas',
  recogida: { nombre: 'Bodega central de la zona 12, sótano 3, rampa norte, puerta 27', lat: 14.5, lng: -90.5 },
  destinatario: {
    nombre: LARGO,
    telefono: '+50231481676',
    departamento: 'Alta Verapaz',
    municipio: 'Santa María Cahabón',
    direccion:
      '2a calle 3-45, zona 1, segundo portón verde después de la iglesia de San Juan Bautista, frente a la tienda',
  },
  receiver: { nombre: LARGO, documento: 'DPI 1234 56789 0101', relacion: 'Compañero de trabajo' },
  repartidor: { repartidor: 'rep_4T8WQ2ZK7NHB', nombre: LARGO },
}

// As high as the courier's page makes it.
const firma = await file('firma.png', await createSampleImage(600, 300))
const alta = await file('alta.jpg', await createSampleImage(900, 1_200))
const grande = await file('grande.jpg', await createSampleImage(1_200, 900))
const mapa = { image: grande.image!, attribution: '© Calles de Todos' }
const historyOf = (count: number) =>
  Array.from({ length: count }, (_, i) =>
    buildMilestone(new Date(1.79e12 + i * 3.6e6).toISOString(), `Evento ${i + 1}`),
  )

const FOTOS = {
  'no photo': [],
  'one photo': [grande],
  'one high photo': [alta],
  'two photos': [grande, alta],
  'three high photos': [alta, alta, alta],
  'six photos': [grande, alta, grande, alta, grande, grande],
  'ten photos': Array<typeof foto>(10).fill(grande),
}
const HISTORIALES = [2, 5, 8, 12, 15, 20, 25, 30, 40, 60, 200]

async function revisar(cambios: Partial<PruebaData>, kind: string): Promise<ParsedPdf> {
  const pdf = parsePdf(await composePdf(datos({ firma, ...cambios })))
  expect(pdf.pageCount, kind).toBeLessThanOrEqual(2)
  for (const gap of gapsOf(pdf)) expect(gap, `${kind}: empty`).toBeLessThan(1 / 3)
  for (const followingHeight of countLinesAfterLastTitle(pdf))
    expect(followingHeight, `${kind}: a title alone`).toBeGreaterThan(0)
  return pdf
}

describe('the pages of a proof', () => {
  it('are filled with a long history and no photo, which shows the signature enlarged', async () => {
    const { texto: text, pageCount } = await revisar({ fotos: [], historial: historyOf(12) }, 'twelve events')
    expect(pageCount).toBe(2)
    expect(text).toContain('Firma, ampliada')
    for (let i = 1; i <= 12; i++) expect(text).toContain(`Evento ${i} `)
  })

  it('are filled with six photos', async () => {
    const { texto: text } = await revisar({ fotos: FOTOS['six photos'], historial: historyOf(5) }, 'six')
    expect(text).toContain('Foto 6 · ')
  })

  it('are filled with long names, none of which takes the courier’s code', async () => {
    const { texto: text } = await revisar({ ...LONG_NAMES, historial: historyOf(5) }, 'long names')
    expect(text).toContain('rep_4T8WQ2ZK7NHB')
  })

  it(
    'carry over no row of a history that fits on the first page, and else four rows at least',
    FULL_RUN_ONLY,
    async () => {
      for (let count = 2; count <= 30; count++)
        for (const fotos of [FOTOS['one photo'], FOTOS['six photos']]) {
          const { chunks } = await revisar({ historial: historyOf(count), fotos }, `${count}`)
          const rows = chunks.filter(({ texto: text, pagina }) => pagina === 1 && /^(?:Evento|…)/.test(text)).length
          expect([count, rows === 0 || rows >= 4]).toEqual([count, true])
          if (count < 7) expect([count, rows]).toEqual([count, 0])
        }
    },
  )

  it('carry over no single row of the history', async () => {
    for (let count = 2; count <= 30; count++) {
      const { chunks } = await revisar({ historial: historyOf(count), fotos: FOTOS['three high photos'] }, `${count}`)
      const rows = chunks.filter(({ texto: text, pagina }) => pagina === 1 && /^(?:Evento|…)/.test(text))
      expect(rows).not.toHaveLength(1)
    }
  })

  it.each(Object.entries(FOTOS))('are filled with %s and any other content', FULL_RUN_ONLY, async (count, fotos) => {
    for (const eventos of HISTORIALES)
      for (const longItems of [{}, LONG_NAMES])
        for (const withMap of [null, mapa])
          await revisar(
            { fotos, historial: historyOf(eventos), locationMap: withMap, ...longItems },
            `${count}, ${eventos} events${longItems === LONG_NAMES ? ', long names' : ''}${withMap ? ', a map' : ''}`,
          )
  })
})
