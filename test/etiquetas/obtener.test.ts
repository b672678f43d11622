import { ErrorConflicto } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { createDeliveredGuia } from '../archivos/images.ts'
import { RECOGIDA } from '../factories.ts'
import { catchProblema } from '../problema.ts'
import { parsePdf } from '../pruebasEntrega/readPdf.ts'
import {
  createGuiaForEtiqueta,
  downloadEtiquetas,
  etiquetasComercio,
  fetchRefusal,
  guia,
  useEtiquetas,
} from './etiquetas.ts'
import { readBarcode, readDrawnQr, readDrawnWidths, readQr } from './readers.ts'

const environment = useEtiquetas()

describe('GET /api/v1/guias/{guia}/etiqueta', () => {
  it('links to a label whose bars and QR a scanner reads', async () => {
    const codigo = await createGuiaForEtiqueta({
      external_ref: 'PEDIDO-ÑANDÚ-7',
      destinatario: 'María José Ajú',
      direccion: '5a avenida norte 12, casa 3',
      indicaciones: 'Portón verde, frente a la tienda',
      contenido: '2 pares de zapatos',
    })
    const { url, vence_en, guias } = await etiquetasComercio.api.guias.etiqueta(codigo)
    expect([guias, new URL(url).pathname]).toEqual([[codigo], `/etiquetas/${codigo}`])
    expect(new Date(vence_en).getTime() - Date.now()).toBeLessThanOrEqual(15 * 60_000)
    expect(new Date(vence_en).getTime() - Date.now()).toBeGreaterThan(14 * 60_000)
    const { status, headers, pdf } = await downloadEtiquetas(url)
    expect(status).toBe(200)
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/pdf',
      'content-length': String(pdf.length),
      'content-disposition': `inline; filename="etiqueta-${codigo}.pdf"`,
      etag: expect.stringMatching(/^"[\w-]{43}"$/),
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
      'cross-origin-resource-policy': 'cross-origin',
      'referrer-policy': 'no-referrer',
    })
    const { pageCount, texto: text, measurement: measure, contents } = parsePdf(pdf)
    expect(pageCount).toBe(1)
    expect(measure.map((puntos) => (puntos / 72) * 25.4)).toEqual([expect.closeTo(100, 1), expect.closeTo(150, 1)])
    for (const message of [
      'Envíos del Altiplano',
      'Tienda La Ceiba',
      'PEDIDO-ÑANDÚ-7',
      RECOGIDA.nombre,
      'María José Ajú',
      'Tel. 3148 1676',
      'San Juan Sacatepéquez',
      'Guatemala',
      '5a avenida norte 12, casa 3',
      'Portón verde, frente a la tienda',
      '2 pares de zapatos',
      'PRUEBA',
      codigo.replace(/(.{4})(?=.)/g, '$1-'),
    ])
      expect(text).toContain(message)
    expect(readBarcode(readDrawnWidths(contents[0]!))).toBe(codigo)
    const rastreo = readQr(readDrawnQr(contents[0]!))
    expect(rastreo).toBe(`${environment.url}/r/${codigo}`)
    const page = await fetch(rastreo)
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining(codigo.slice(0, 4))])
  })

  it('is drawn when it is opened: the same bytes until the guide changes', async () => {
    const codigo = await createGuiaForEtiqueta({ direccion: 'Calle vieja 1' })
    const { url } = await etiquetasComercio.api.guias.etiqueta(codigo.toLowerCase())
    const first = await downloadEtiquetas(url)
    await environment.asOperador('POST', `/guias/${codigo}/eventos`, { estado: 'recolectado' })
    const other = await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(codigo)).url)
    expect(other.pdf.equals(first.pdf)).toBe(true)
    const ETag = first.headers.get('etag')!
    for (const ifNoneMatch of [ETag, `W/${ETag}`, `"x", ${ETag}`, '*']) {
      const same = await downloadEtiquetas(url, { headers: { 'If-None-Match': ifNoneMatch } })
      expect([ifNoneMatch, same.status, same.pdf.length, same.headers.get('etag')]).toEqual([ifNoneMatch, 304, 0, ETag])
    }
    await environment.db.pool.query(`update guia set direccion = 'Calle nueva 2' where guia = $1`, [codigo])
    const afterChange = await downloadEtiquetas(url, { headers: { 'If-None-Match': ETag } })
    expect([afterChange.status, parsePdf(afterChange.pdf).texto]).toEqual([
      200,
      expect.stringContaining('Calle nueva 2'),
    ])
  })

  it('shows the corrected indications of the pickup', async () => {
    const codigo = await createGuiaForEtiqueta({ recogida: { ...RECOGIDA, indicaciones: 'Portón azul' } })
    const { api } = etiquetasComercio
    const read = async () => parsePdf((await downloadEtiquetas((await api.guias.etiqueta(codigo)).url)).pdf).texto
    expect(await read()).toContain('INDICACIONES PARA RECOGER Portón azul')
    await api.guias.corregir(codigo, { recogida: { indicaciones: 'Portón rojo' } })
    expect(await read()).toContain('INDICACIONES PARA RECOGER Portón rojo')
    await api.guias.corregir(codigo, { recogida: { indicaciones: null } })
    expect(await read()).not.toContain('PARA RECOGER')
  })

  it('shows no mark of a test for a live guide, and fits the longest names', async () => {
    const real = await environment.createComercio('live')
    await environment.db.pool.query('update comercio set nombre = $2 where id = $1', [real.id, 'Ñ'.repeat(120)])
    const codigo = await createGuiaForEtiqueta(
      { destinatario: 'W'.repeat(120), direccion: `${'Calle larga '.repeat(20)}fin`, external_ref: 'R'.repeat(128) },
      real,
    )
    const {
      texto: text,
      contents,
      pageCount,
    } = parsePdf((await downloadEtiquetas((await real.api.guias.etiqueta(codigo)).url)).pdf)
    expect([pageCount, text.includes('PRUEBA'), readBarcode(readDrawnWidths(contents[0]!))]).toEqual([1, false, codigo])
  })

  it('is not for a cancelled guide, nor is a link from before', async () => {
    const codigo = await createGuiaForEtiqueta()
    const { url } = await etiquetasComercio.api.guias.etiqueta(codigo)
    const { url: tanda } = await etiquetasComercio.api.guias.etiquetas([guia, codigo])
    await etiquetasComercio.api.guias.cancelar(codigo)
    const error = await catchProblema(etiquetasComercio.api.guias.etiqueta(codigo))
    expect(error).toBeInstanceOf(ErrorConflicto)
    expect([error.codigo, error.estado]).toEqual(['guia_cancelada', 'cancelado'])
    for (const old of [url, tanda]) expect((await fetchRefusal(old)).codigo).toBe('enlace_invalido')
    // A delivered one may be printed again.
    const { guia: entregado } = await createDeliveredGuia(environment, etiquetasComercio)
    expect((await downloadEtiquetas((await etiquetasComercio.api.guias.etiqueta(entregado)).url)).status).toBe(200)
  })
})
