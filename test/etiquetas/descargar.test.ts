import { hash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { crearEnlaces } from '../../server/archivos/enlaces.ts'
import { crearSecretos } from '../../server/secretos.ts'
import { entregada } from '../archivos/imagenes.ts'
import { MASTER_KEY } from '../entorno.ts'
import { RECOGIDA, unaGuia } from '../fabricas.ts'
import { comercio, descargar, guia, negada, nueva, usarEtiquetas } from './etiquetas.ts'

const entorno = usarEtiquetas()

describe('GET /etiquetas/{guias}', () => {
  it('answers every altered byte the same, and tells nothing apart', { timeout: 60_000 }, async () => {
    const otra = await nueva()
    const { url } = await comercio.api.guias.etiquetas([guia, otra])
    const mala = await negada(`${entorno.url}/etiquetas/${guia}`)
    expect([mala.status, mala.codigo]).toEqual([403, 'enlace_invalido'])
    const desde = entorno.url.length + '/etiquetas/'.length
    for (let i = desde; i < url.length; i++) {
      for (const letra of ['0', 'A', '-', '&']) {
        if (url[i] === letra) continue
        const alterado = url.slice(0, i) + letra + url.slice(i + 1)
        expect([alterado, await negada(alterado)]).toEqual([alterado, mala])
      }
    }
    const [base, consulta] = url.split('?')
    for (const malo of [
      `${base}?${consulta}&x=1`,
      `${base}?${consulta}&v=1`,
      `${base}-${guia}?${consulta}`,
      // The same guides, otherwise: another order, fewer, in small letters.
      `${entorno.url}/etiquetas/${otra}-${guia}?${consulta}`,
      `${entorno.url}/etiquetas/${guia}?${consulta}`,
      `${entorno.url}/etiquetas/${guia.toLowerCase()}-${otra}?${consulta}`,
      url.replace('disp=inline', 'disp=attachment'),
      url.replace(/exp=\d+/, 'exp=9999999999'),
    ])
      expect([malo, await negada(malo)]).toEqual([malo, mala])
    expect((await descargar(url)).status).toBe(200)
  })

  it('opens nothing with a file’s signature, nor a file with its own', async () => {
    const { foto } = await entregada(entorno, comercio)
    const partes = {
      secretos: crearSecretos([Buffer.from(MASTER_KEY, 'base64')]),
      reloj: () => new Date(),
      urlPublica: entorno.url,
      minutos: 1,
    }
    const [deArchivos, deEtiquetas] = [
      crearEnlaces({ ...partes, carpeta: 'archivos' }),
      crearEnlaces({ ...partes, carpeta: 'etiquetas' }),
    ]
    expect((await descargar(deEtiquetas.crear(guia, 'attachment').url)).cabeceras.get('content-disposition')).toBe(
      `attachment; filename="etiqueta-${guia}.pdf"`,
    )
    expect((await descargar(deArchivos.crear(foto, 'inline').url)).status).toBe(200)
    for (const url of [
      deArchivos.crear(guia, 'inline').url.replace('/archivos/', '/etiquetas/'),
      deEtiquetas.crear(foto, 'inline').url.replace('/etiquetas/', '/archivos/'),
      // Well signed, and nobody's.
      deEtiquetas.crear('000000000000', 'inline').url,
      deEtiquetas.crear('', 'inline').url.replace('/etiquetas/?', '/etiquetas/-?'),
      crearEnlaces({ ...partes, carpeta: 'etiquetas', minutos: 0 }).crear(guia, 'inline').url,
    ])
      expect([url, (await negada(url)).codigo]).toEqual([url, 'enlace_invalido'])
  })

  it('knows GET and HEAD, says so before it looks at the link, and expires', async () => {
    const { url } = await comercio.api.guias.etiqueta(guia)
    for (const metodo of ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
      for (const destino of [url, `${entorno.url}/etiquetas/${guia}`]) {
        const { status, cabeceras } = await descargar(destino, { method: metodo })
        expect([metodo, status, cabeceras.get('allow')]).toEqual([metodo, 405, 'GET, HEAD'])
      }
    const cabeza = await descargar(url, { method: 'HEAD' })
    const { pdf } = await descargar(url)
    expect([cabeza.status, cabeza.pdf.length, Number(cabeza.cabeceras.get('content-length'))]).toEqual([
      200,
      0,
      pdf.length,
    ])
    entorno.adelantar(15 * 60_000 + 1_000)
    expect((await negada(url)).codigo).toBe('enlace_invalido')
    expect((await descargar((await comercio.api.guias.etiqueta(guia)).url)).status).toBe(200)
    expect(entorno.log.join('')).not.toContain(/firma=(.+)$/.exec(url)![1]!)
  })

  it('draws two at once, lets sixteen wait, and tells the others to come back', async () => {
    const lote = await comercio.api.guias.crearLote({
      recogida: RECOGIDA,
      guias: Array.from({ length: 20 }, () => unaGuia()),
    })
    const { url } = await comercio.api.guias.etiquetas(lote.resultados.map((uno) => (uno.ok ? uno.guia : '')))
    const todas = await Promise.all(Array.from({ length: 24 }, () => descargar(url)))
    const buenas = todas.filter(({ status }) => status === 200)
    const demas = todas.filter(({ status }) => status !== 200)
    expect(buenas.length).toBeGreaterThanOrEqual(18)
    expect(demas.length).toBeGreaterThan(0)
    for (const { status, cabeceras } of demas) expect([status, cabeceras.get('retry-after')]).toEqual([503, '2'])
    expect(new Set(buenas.map(({ pdf }) => hash('sha256', pdf))).size).toBe(1)
    expect((await descargar(url)).status).toBe(200)
  })
})
