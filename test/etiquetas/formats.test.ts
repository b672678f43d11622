import { describe, expect, it } from 'vitest'
import type { Resolution } from '../../server/platform/zpl/zpl.ts'
import type { Comercio } from '../environment.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import { createGuiaForEtiqueta, etiquetasComercio, guia, useEtiquetas } from './etiquetas.ts'
import { print, scan, textsOf } from './printer.ts'
import { readBarcode, readDrawnWidths } from './readers.ts'

const environment = useEtiquetas()

const request = async (path: string, accept?: string, init: RequestInit = {}, owner: Comercio = etiquetasComercio) => {
  const headers = { Authorization: `Bearer ${owner.llave}`, ...(accept === undefined ? {} : { Accept: accept }) }
  const answer = await fetch(`${environment.url}/api/v1/${path}`, { ...init, headers: { ...headers, ...init.headers } })
  const bytes = Buffer.from(await answer.arrayBuffer())
  return { status: answer.status, headers: answer.headers, type: answer.headers.get('content-type'), bytes }
}
const create = (body: object, accept: string) =>
  request('etiquetas', accept, {
    method: 'POST',
    body: JSON.stringify(body),
    headers: { 'Content-Type': 'application/json' },
  })

describe('GET /api/v1/guias/{guia}/etiqueta', () => {
  it('gives the PDF itself, which is the one behind the link', async () => {
    const codigo = await createGuiaForEtiqueta({ destinatario: 'María José Ajú' })
    const { status, headers, bytes } = await request(`guias/${codigo}/etiqueta`, 'application/pdf')
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(bytes.length),
      'content-disposition': `attachment; filename="etiqueta-${codigo}.pdf"`,
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      vary: 'Accept',
      ratelimit: expect.stringContaining('"documentos"'),
    })
    const { texto: text, contents } = parsePdf(bytes)
    expect([text.includes('María José Ajú'), readBarcode(readDrawnWidths(contents[0]!))]).toEqual([true, codigo])
    const { url } = await etiquetasComercio.api.guias.etiqueta(codigo)
    expect(Buffer.from(await (await fetch(url)).arrayBuffer()).equals(bytes)).toBe(true)
  })

  it.each<[string, Resolution]>([
    ['', 203],
    ['?ppp=203', 203],
    ['?ppp=300', 300],
  ])('gives ZPL that a printer prints, with %j for %i dpi', async (query, ppp) => {
    const codigo = await createGuiaForEtiqueta({ destinatario: 'Ñandú ^XA~JR', direccion: '5a avenida norte 12' })
    const { status, headers, bytes } = await request(`guias/${codigo}/etiqueta${query}`, 'application/zpl')
    expect([status, headers.get('content-type'), headers.get('content-disposition')]).toEqual([
      200,
      'application/zpl',
      `attachment; filename="etiqueta-${codigo}.zpl"`,
    ])
    expect(textsOf(bytes)).toEqual(expect.arrayContaining(['Ñandú ^XA~JR', '5a avenida norte 12']))
    const [png, ...others] = await print(bytes, ppp)
    expect(others).toEqual([])
    expect(await scan(png!)).toEqual({ Code128: codigo, QRCode: `${environment.url}/r/${codigo}` })
  })

  it.each([
    [undefined, 'application/json'],
    ['*/*', 'application/json'],
    ['application/*', 'application/json'],
    ['application/problem+json', 'application/json'],
    ['application/pdf;q=0.5, application/zpl', 'application/zpl'],
    ['application/zpl;q=0.5, application/pdf;q=0.9, application/json;q=0.1', 'application/pdf'],
    ['application/json;q=0, application/pdf', 'application/pdf'],
    ['text/html, application/pdf;q=0.2', 'application/pdf'],
    ['application/pdf;q=0.5, */*;q=0.1', 'application/pdf'],
  ])('answers Accept %s with %s', async (accept, expected) => {
    const { status, type, headers } = await request(`guias/${guia}/etiqueta`, accept)
    expect([status, type, headers.get('vary')]).toEqual([200, expected, 'Accept'])
  })

  it.each(['image/png', 'text/html', 'application/pdf;q=0', 'application/zip, text/*'])(
    'refuses Accept %s with the forms that exist',
    async (accept) => {
      const { status, headers, bytes } = await request(`guias/${guia}/etiqueta`, accept)
      expect([status, headers.get('vary')]).toEqual([406, 'Accept'])
      expect(JSON.parse(bytes.toString())).toMatchObject({
        codigo: 'formato_no_disponible',
        mensaje: 'Pida en Accept uno de estos formatos: application/json, application/pdf, application/zpl.',
      })
    },
  )

  it('answers 304 to who has the same label, for each form, until the guide changes', async () => {
    const codigo = await createGuiaForEtiqueta({ direccion: 'Calle vieja 1' })
    const etags = new Set<string>()
    for (const [accept, query] of [
      ['application/pdf', ''],
      ['application/zpl', ''],
      ['application/zpl', '?ppp=300'],
    ] as const) {
      const path = `guias/${codigo}/etiqueta${query}`
      const ETag = (await request(path, accept)).headers.get('etag')!
      etags.add(ETag)
      const same = await request(path, accept, { headers: { 'If-None-Match': `"x", ${ETag}` } })
      expect([same.status, same.bytes.length, same.headers.get('etag')]).toEqual([304, 0, ETag])
    }
    expect(etags.size).toBe(3)
    const corrected = await etiquetasComercio.api.guias.corregir(codigo, { direccion: 'Calle nueva 2' })
    expect(corrected.advertencias.map((one) => one.codigo)).toContain('etiqueta_desactualizada')
    const changed = await request(`guias/${codigo}/etiqueta`, 'application/zpl', {
      headers: { 'If-None-Match': [...etags].join(', ') },
    })
    expect([changed.status, textsOf(changed.bytes).includes('Calle nueva 2')]).toEqual([200, true])
    // What was printed is current: the guide's warning is gone.
    const { advertencias } = await etiquetasComercio.api.guias.obtener(codigo)
    expect(advertencias.map((one) => one.codigo)).not.toContain('etiqueta_desactualizada')
  })

  it('gives only headers to HEAD', async () => {
    const codigo = await createGuiaForEtiqueta()
    const { status, bytes, headers } = await request(`guias/${codigo}/etiqueta`, 'application/pdf', { method: 'HEAD' })
    expect([status, bytes.length, headers.get('etag')]).toEqual([200, 0, expect.any(String)])
    await request(`guias/${codigo}/etiqueta`, 'application/pdf')
    const known = await request(`guias/${codigo}/etiqueta`, 'application/pdf', { method: 'HEAD' })
    expect(Number(known.headers.get('content-length'))).toBeGreaterThan(1_000)
  })

  it('is not for a cancelled guide, nor for another merchant’s', async () => {
    const codigo = await createGuiaForEtiqueta()
    const other = await environment.createComercio()
    for (const accept of ['application/pdf', 'application/zpl']) {
      expect((await request(`guias/${codigo}/etiqueta`, accept, {}, other)).status).toBe(404)
    }
    await etiquetasComercio.api.guias.cancelar(codigo)
    for (const accept of ['application/pdf', 'application/zpl', 'application/json']) {
      const { status, bytes } = await request(`guias/${codigo}/etiqueta`, accept)
      expect([status, JSON.parse(bytes.toString()).codigo]).toEqual([409, 'guia_cancelada'])
    }
  })

  it('refuses a resolution that printers do not have, or for another form', async () => {
    for (const [query, accept] of [
      ['ppp=600', 'application/zpl'],
      ['ppp=x', 'application/zpl'],
      ['ppp=300', 'application/pdf'],
      ['ppp=203', 'application/json'],
    ] as const) {
      const { status, bytes } = await request(`guias/${guia}/etiqueta?${query}`, accept)
      const { errores } = JSON.parse(bytes.toString())
      expect([query, accept, status, errores[0].campo]).toEqual([query, accept, 400, 'ppp'])
      if (accept !== 'application/zpl') expect(errores[0].mensaje).toContain('application/zpl')
      else expect(errores[0].mensaje).toContain('203')
    }
  })
})

describe('POST /api/v1/etiquetas', () => {
  it('gives the labels of several guides in one file, in their order', async () => {
    const guias = [await createGuiaForEtiqueta(), guia, await createGuiaForEtiqueta()]
    const pdf = await create({ guias, formato: 'carta' }, 'application/pdf')
    expect([pdf.status, pdf.headers.get('content-disposition'), pdf.headers.get('vary')]).toEqual([
      200,
      'attachment; filename="etiquetas-3.pdf"',
      'Accept',
    ])
    expect(parsePdf(pdf.bytes).measurement).toEqual([612, 792])
    const zpl = await create({ guias, ppp: 300 }, 'application/zpl')
    expect([zpl.status, zpl.type]).toEqual([200, 'application/zpl'])
    const read = await Promise.all((await print(zpl.bytes, 300)).map(scan))
    expect(read.map(({ Code128 }) => Code128)).toEqual(guias)
  })

  it('refuses letter sheets in ZPL, a resolution for another form, and other forms', async () => {
    const faults = async (body: object, accept: string) => {
      const { status, bytes } = await create(body, accept)
      return [status, JSON.parse(bytes.toString()).errores.map(({ campo: field }: { campo: string }) => field)]
    }
    expect(await faults({ guias: [guia], formato: 'carta' }, 'application/zpl')).toEqual([422, ['/formato']])
    expect(await faults({ guias: [guia], ppp: 300 }, 'application/pdf')).toEqual([422, ['/ppp']])
    expect(await faults({ guias: [guia], ppp: 150 }, 'application/zpl')).toEqual([422, ['/ppp']])
    expect(await faults({ guias: [guia] }, 'image/png')).toEqual([406, []])
  })
})
