import { ErrorGuias, ErrorNoEncontrado, ErrorValidacion } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { buildGuia, RECOGIDA } from '../factories.ts'
import { catchProblema } from '../problema.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import { createGuiaForEtiqueta, downloadEtiquetas, etiquetasComercio, guia, useEtiquetas } from './etiquetas.ts'
import { readBarcode, readDrawnWidths } from './readers.ts'

const environment = useEtiquetas()

describe('POST /api/v1/etiquetas', () => {
  it('links to one PDF of a hundred labels, in the order given', { timeout: 60_000 }, async () => {
    const lote = await etiquetasComercio.api.guias.crearLote({
      recogida: RECOGIDA,
      guias: Array.from({ length: 100 }, () => buildGuia()),
    })
    const codigos = lote.resultados.map((one) => (one.ok ? one.guia : '')).reverse()
    const { url, guias } = await etiquetasComercio.api.guias.etiquetas(codigos)
    expect(guias).toEqual(codigos)
    expect(url.length).toBeLessThan(2_048)
    const { status, headers, pdf } = await downloadEtiquetas(url)
    expect([status, headers.get('content-disposition')]).toEqual([200, 'inline; filename="etiquetas-100.pdf"'])
    const { pageCount, contents } = parsePdf(pdf)
    expect(pageCount).toBe(100)
    expect(contents.map((contenido) => readBarcode(readDrawnWidths(contenido)))).toEqual(codigos)
  })

  it('takes codes as people type them', async () => {
    const other = await createGuiaForEtiqueta()
    const typedGuia = `${guia.slice(0, 4)}-${guia.slice(4, 8)} ${guia.slice(8)}`.toLowerCase()
    const { guias, url } = await etiquetasComercio.api.guias.etiquetas([other, typedGuia])
    expect(guias).toEqual([other, guia])
    expect(parsePdf((await downloadEtiquetas(url)).pdf).pageCount).toBe(2)
  })

  it('names each position that can’t be, and does nothing by halves', async () => {
    const foreignComercio = await environment.createComercio()
    const [foreign, cancelled] = [await createGuiaForEtiqueta({}, foreignComercio), await createGuiaForEtiqueta()]
    await etiquetasComercio.api.guias.cancelar(cancelled)
    const llave = await environment.createLlave(etiquetasComercio, { modo: 'live' })
    const liveGuia = (await environment.request('POST', '/api/v1/guias', { llave, body: buildGuia() })).body.guia
    const error = await catchProblema(
      etiquetasComercio.api.guias.etiquetas([
        guia,
        foreign,
        'nada',
        cancelled,
        guia.toLowerCase(),
        '000000000000',
        liveGuia,
      ]),
    )
    expect(error).toBeInstanceOf(ErrorValidacion)
    expect(error.errores).toMatchObject([
      { campo: '/guias/1', codigo: 'valor_no_admitido', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/2', mensaje: expect.stringMatching(/no puede ser de una guía.*external_ref, «nada»/) },
      { campo: '/guias/3', mensaje: expect.stringContaining('cancelada') },
      { campo: '/guias/4', mensaje: expect.stringContaining('posición 0') },
      { campo: '/guias/5', mensaje: expect.stringContaining('no es una guía suya') },
      { campo: '/guias/6', mensaje: expect.stringContaining('no es una guía suya') },
    ])
    for (const [body, field] of [
      [{}, '/guias'],
      [{ guias: [] }, '/guias'],
      [{ guias: Array.from({ length: 101 }, () => guia) }, '/guias'],
      [{ guias: [guia, 7] }, '/guias/1'],
      [{ guias: [guia], formato: 'zpl' }, '/formato'],
    ] as const) {
      const { status, body: problema } = await environment.request('POST', '/api/v1/etiquetas', {
        llave: etiquetasComercio.llave,
        body,
      })
      expect([status, problema.errores?.[0].campo]).toEqual([422, field])
    }
  })

  it('isn’t asked at all for what is no list', () => {
    expect(() => etiquetasComercio.api.guias.etiquetas(guia as never)).toThrow(ErrorGuias)
    expect(() => etiquetasComercio.api.guias.etiquetas(undefined as never)).toThrow('deben ser una lista')
  })

  it('needs its scope, and one’s own guides', async () => {
    const caseWithout = await environment.createLlave(etiquetasComercio, {
      alcances: ['guias:escribir', 'pruebas_entrega:leer'],
    })
    const denial = await environment.request('POST', '/api/v1/etiquetas', {
      llave: caseWithout,
      body: { guias: [guia] },
    })
    expect([denial.status, denial.body.codigo]).toEqual([403, 'alcance_insuficiente'])
    const foreignComercio = await environment.createComercio()
    expect(await catchProblema(foreignComercio.api.guias.etiqueta(guia))).toBeInstanceOf(ErrorNoEncontrado)
  })
})
