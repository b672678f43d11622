import { describe, expect, it } from 'vitest'
import { composePdf } from '../../server/domain/pruebasEntrega/composePdf.ts'
import type { PruebaData } from '../../server/domain/pruebasEntrega/pdfContent.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { type ParsedPdf, parsePdf } from './readPdf.ts'
import { archivo, buildMilestone, createSampleImage, datos, type foto } from './sample.ts'

/** How far a line of text reaches above its baseline. */
const LETRA = 8
/** The titles that begin a part of the document. */
const TITULO = /^(?:Historial|Foto$|Fotos \(|Firma, ampliada|Integridad de los archivos)/

/** The highest stretch of each page on which nothing stands, as a part of the page. */
function huecosDe({ pageCount, chunks: trozos, images: imagenes, measurement: [, alto] }: ParsedPdf): number[] {
  return Array.from({ length: pageCount }, (_, pagina) => {
    const lleno = [
      ...trozos.filter((uno) => uno.pagina === pagina).map(({ y }) => ({ bottom: y, top: y + LETRA })),
      ...imagenes.filter((una) => una.pagina === pagina),
    ].sort((a, b) => b.top - a.top)
    let [fin, hueco] = [alto, 0]
    for (const { bottom: abajo, top: arriba } of lleno) {
      hueco = Math.max(hueco, fin - arriba)
      fin = Math.min(fin, abajo)
    }
    return Math.max(hueco, fin) / alto
  })
}

const CABEZA = /^(?:Fecha|Estado|Lugar|Archivo|SHA-256 del archivo guardado)$/
/** How much stands below the last title of each page: one alone at a page's end has a table's head at most, and the foot. */
const loQueSigueAlUltimoTitulo = ({ pageCount, chunks: trozos, images: imagenes }: ParsedPdf): number[] =>
  Array.from({ length: pageCount }, (_, pagina) => {
    const suyos = trozos.filter((uno) => uno.pagina === pagina)
    const titulos = suyos.filter(({ texto }) => TITULO.test(texto))
    if (titulos.length === 0) return Number.POSITIVE_INFINITY
    const ultimo = Math.min(...titulos.map(({ y }) => y))
    const lineas = suyos.filter(({ texto, y }) => y < ultimo - LETRA && y > 45 && !CABEZA.test(texto))
    return lineas.length + imagenes.filter((una) => una.pagina === pagina && una.bottom < ultimo).length
  })

const LARGO = 'María de los Ángeles Guadalupe Fernández-Castañeda y Xicará de la Cruz Hernández viuda de Montúfar'
const NOMBRES_LARGOS: Partial<PruebaData> = {
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
const firma = await archivo('firma.png', await createSampleImage(600, 300))
const alta = await archivo('alta.jpg', await createSampleImage(900, 1_200))
const grande = await archivo('grande.jpg', await createSampleImage(1_200, 900))
const mapa = { image: grande.image!, attribution: '© Calles de Todos' }
const historialDe = (cuantos: number) =>
  Array.from({ length: cuantos }, (_, i) =>
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

async function revisar(cambios: Partial<PruebaData>, que: string): Promise<ParsedPdf> {
  const pdf = parsePdf(await composePdf(datos({ firma, ...cambios })))
  expect(pdf.pageCount, que).toBeLessThanOrEqual(2)
  for (const hueco of huecosDe(pdf)) expect(hueco, `${que}: empty`).toBeLessThan(1 / 3)
  for (const cuanto of loQueSigueAlUltimoTitulo(pdf)) expect(cuanto, `${que}: a title alone`).toBeGreaterThan(0)
  return pdf
}

describe('the pages of a proof', () => {
  it('are filled with a long history and no photo, which shows the signature enlarged', async () => {
    const { texto, pageCount } = await revisar({ fotos: [], historial: historialDe(12) }, 'twelve events')
    expect(pageCount).toBe(2)
    expect(texto).toContain('Firma, ampliada')
    for (let i = 1; i <= 12; i++) expect(texto).toContain(`Evento ${i} `)
  })

  it('are filled with six photos', async () => {
    const { texto } = await revisar({ fotos: FOTOS['six photos'], historial: historialDe(5) }, 'six')
    expect(texto).toContain('Foto 6 · ')
  })

  it('are filled with long names, none of which takes the courier’s code', async () => {
    const { texto } = await revisar({ ...NOMBRES_LARGOS, historial: historialDe(5) }, 'long names')
    expect(texto).toContain('rep_4T8WQ2ZK7NHB')
  })

  it(
    'carry over no row of a history that fits on the first page, and else four rows at least',
    FULL_RUN_ONLY,
    async () => {
      for (let cuantos = 2; cuantos <= 30; cuantos++)
        for (const fotos of [FOTOS['one photo'], FOTOS['six photos']]) {
          const { chunks: trozos } = await revisar({ historial: historialDe(cuantos), fotos }, `${cuantos}`)
          const filas = trozos.filter(({ texto, pagina }) => pagina === 1 && /^(?:Evento|…)/.test(texto)).length
          expect([cuantos, filas === 0 || filas >= 4]).toEqual([cuantos, true])
          if (cuantos < 7) expect([cuantos, filas]).toEqual([cuantos, 0])
        }
    },
  )

  it('carry over no single row of the history', async () => {
    for (let cuantos = 2; cuantos <= 30; cuantos++) {
      const { chunks: trozos } = await revisar(
        { historial: historialDe(cuantos), fotos: FOTOS['three high photos'] },
        `${cuantos}`,
      )
      const filas = trozos.filter(({ texto, pagina }) => pagina === 1 && /^(?:Evento|…)/.test(texto))
      expect(filas).not.toHaveLength(1)
    }
  })

  it.each(Object.entries(FOTOS))('are filled with %s and any other content', FULL_RUN_ONLY, async (cuantas, fotos) => {
    for (const eventos of HISTORIALES)
      for (const largos of [{}, NOMBRES_LARGOS])
        for (const conMapa of [null, mapa])
          await revisar(
            { fotos, historial: historialDe(eventos), locationMap: conMapa, ...largos },
            `${cuantas}, ${eventos} events${largos === NOMBRES_LARGOS ? ', long names' : ''}${conMapa ? ', a map' : ''}`,
          )
  })
})
