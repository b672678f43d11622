/** What the SDK does that a merchant would otherwise write: files, waits, look-ups, and numbers that are none. */
import { createHash } from 'node:crypto'
import { ErrorAbortado, ErrorAlcance, ErrorGuias, ErrorRespuesta, ErrorTiempo } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { falla, GUIA, json, NEW_GUIA, type Responder, respondProblema, useFakeServer } from './server.ts'

const servidor = useFakeServer()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = servidor

const file =
  (type: string, bytes: string): Responder =>
  (res) =>
    res.writeHead(200, { 'Content-Type': type }).end(bytes)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('labels', () => {
  it('are the bytes of the requested form', async () => {
    contestar(file('application/pdf', '%PDF'), file('application/zpl', '^XA'))
    expect(text(await cliente().guias.etiquetaPdf('7K3M9QX2A1B4'))).toBe('%PDF')
    expect(text(await cliente().guias.etiquetaZpl('7K3M9QX2A1B4', { ppp: 300 }))).toBe('^XA')
    expect(recibidas.map(({ method: metodo, path: ruta, cabeceras }) => [metodo, ruta, cabeceras.accept])).toEqual([
      ['GET', '/api/v1/guias/7K3M9QX2A1B4/etiqueta', 'application/pdf'],
      ['GET', '/api/v1/guias/7K3M9QX2A1B4/etiqueta?ppp=300', 'application/zpl'],
    ])
  })

  it('for several guides come in one file', async () => {
    contestar(file('application/pdf', '%PDF'), file('application/zpl', '^XA'))
    await cliente().guias.etiquetaPdf(['A', 'B'], { formato: 'carta' })
    await cliente().guias.etiquetaZpl(['A'], { ppp: 203 })
    expect(recibidas.map(({ method: metodo, path: ruta, cuerpo }) => [metodo, ruta, JSON.parse(cuerpo)])).toEqual([
      ['POST', '/api/v1/etiquetas', { guias: ['A', 'B'], formato: 'carta' }],
      ['POST', '/api/v1/etiquetas', { guias: ['A'], ppp: 203 }],
    ])
  })

  it('are refused where something else comes: the page of a proxy, or a problem', async () => {
    contestar(file('text/html', '<html>'))
    const error = await falla(cliente().guias.etiquetaPdf('A'))
    expect([error instanceof ErrorRespuesta, error.message.includes('<html>')]).toEqual([true, true])
    contestar(respondProblema(409, 'guia_cancelada'))
    await expect(cliente().guias.etiquetaZpl('A')).rejects.toMatchObject({ codigo: 'guia_cancelada' })
  })
})

describe('archivos.descargar', () => {
  const link = () => `${servidor.baseUrl}/archivos/arch_1?firma=secreta`

  it('takes a link without the key and the headers of the merchant, and follows it to the storage', async () => {
    contestar((res) => res.writeHead(307, { Location: '/almacen?firma=otra' }).end(), file('image/jpeg', 'foto'))
    const seen: string[] = []
    const api = cliente({ cabeceras: { 'X-Propia': 'si' }, registro: ({ ruta }) => seen.push(ruta) })
    expect(text(await api.archivos.descargar({ url: link() }))).toBe('foto')
    for (const { cabeceras } of recibidas)
      expect([cabeceras.authorization, cabeceras['x-propia']]).toEqual([undefined, undefined])
    expect(recibidas.map(({ path: ruta }) => ruta)).toEqual(['/archivos/arch_1?firma=secreta', '/almacen?firma=otra'])
    // A log has the link without its signature.
    expect(seen).toEqual([`${servidor.baseUrl}/archivos/arch_1`])
  })

  it('compares the digest', async () => {
    contestar(file('image/jpeg', 'foto'))
    const sha256 = createHash('sha256').update('foto').digest('hex')
    expect(text(await cliente().archivos.descargar({ url: link(), sha256 }))).toBe('foto')
    contestar(file('image/jpeg', 'fot'))
    expect((await falla(cliente().archivos.descargar({ url: link(), sha256 }))).message).toContain('sha256')
  })

  it('tells an expired link, and repeats what passes', async () => {
    contestar(respondProblema(403, 'enlace_invalido'))
    const error = await falla(cliente().archivos.descargar(link()))
    expect([error instanceof ErrorAlcance, (error as ErrorAlcance).codigo]).toEqual([true, 'enlace_invalido'])
    contestar((res) => res.writeHead(503, { 'Retry-After': '0' }).end(), file('application/pdf', '%PDF'))
    expect(text(await cliente({ reintentos: 1 }).archivos.descargar(link()))).toBe('%PDF')
  })

  it('sends nothing without a link', async () => {
    for (const malo of ['', '/archivos/arch_1', undefined, null, { url: 7 }])
      expect((await falla(cliente().archivos.descargar(malo as never))).message).toContain('descargar espera un enlace')
    expect(recibidas).toEqual([])
  })
})

describe('guias.esperarPrueba', () => {
  const proof = (pdf: object | null, wait?: string) =>
    json(
      200,
      { guia: 'A', entregado_en: '', fotos: [], pdf, manifiesto: pdf && 'a.b.c' },
      wait ? { 'Retry-After': wait } : {},
    )

  it('asks as often as the service says, until the PDF is there', async () => {
    contestar(proof(null, '0'), proof(null, '0'), proof({ url: 'https://x' }))
    expect(await cliente().guias.esperarPrueba('A')).toMatchObject({ pdf: { url: 'https://x' }, manifiesto: 'a.b.c' })
    expect(recibidas).toHaveLength(3)
  })

  it('gives up at once where the PDF would come too late, and stops with its signal', async () => {
    contestar(proof(null, '3600'))
    const error = await falla(cliente().guias.esperarPrueba('A'))
    expect([error instanceof ErrorTiempo, error.message]).toEqual([true, expect.stringContaining('3600 s')])
    const control = new AbortController()
    contestar((res) => {
      proof(null, '50')(res)
      setImmediate(() => control.abort())
    })
    expect(await falla(cliente().guias.esperarPrueba('A', { signal: control.signal }))).toBeInstanceOf(ErrorAbortado)
  })
})

it('finds the guide of a reference, or none', async () => {
  contestar(json(200, { datos: [GUIA], cursor_siguiente: null }), json(200, { datos: [], cursor_siguiente: null }))
  expect(await cliente().guias.porReferencia('PEDIDO 1&2')).toEqual(GUIA)
  expect(await cliente().guias.porReferencia('otra')).toBeUndefined()
  expect(recibidas[0]!.path).toBe('/api/v1/guias?external_ref=PEDIDO%201%262')
})

it('takes a Date where an instant is expected', async () => {
  const desde = new Date(1_795_283_100_000)
  contestar(json(200, { datos: [], cursor_siguiente: null }))
  await cliente().guias.listar({ creado_desde: desde, creado_hasta: desde.toISOString() })
  await cliente().eventos.listar({ desde })
  contestar(json(202, { recuperacion: 'r', webhook: 'w', desde: '' }))
  await cliente().webhooks.recuperar('wh_1', { desde })
  const iso = encodeURIComponent(desde.toISOString())
  expect(recibidas.slice(0, 2).map(({ path: ruta }) => ruta)).toEqual([
    `/api/v1/guias?creado_desde=${iso}&creado_hasta=${iso}`,
    `/api/v1/eventos?desde=${iso}`,
  ])
  expect(JSON.parse(recibidas[2]!.cuerpo).desde).toBe(desde.toISOString())
})

describe('a number that is none', () => {
  const lat = Number('14,63')
  it.each<[string, string, () => Promise<unknown>]>([
    ['lat', 'NaN', () => cliente().guias.crear({ ...NEW_GUIA, lat, lng: -90.5 })],
    ['lng', 'Infinity', () => cliente().guias.crear({ ...NEW_GUIA, recogida: { lat: 1, lng: Infinity } })],
    ['lat', 'NaN', () => cliente().guias.crearLote({ guias: [NEW_GUIA, { ...NEW_GUIA, lat, lng: 1 }] })],
    ['lat', 'NaN', () => cliente().guias.confirmarUbicacion('A', { lat, lng: 1 })],
  ])('is refused before the request, with its field (%s is %s)', async (campo, valor, llamar) => {
    const error = await falla(llamar())
    expect(error).toBeInstanceOf(ErrorGuias)
    expect(error.message).toContain(`${campo} es ${valor} y no un número: ¿venía con coma, como 14,63?`)
    expect(recibidas).toEqual([])
  })

  it('fails alone among many', async () => {
    contestar(json(200, { resultados: [{ indice: 0, ok: true, guia: 'A', estado: 'aceptado', external_ref: 'B' }] }))
    const guias = [
      { ...NEW_GUIA, lat, lng: 1 },
      { ...NEW_GUIA, external_ref: 'B' },
    ]
    const resultados = await Array.fromAsync(cliente().guias.crearMuchas(guias))
    expect(resultados.map(({ ok }) => ok)).toEqual([false, true])
    expect((resultados[0] as { error: ErrorGuias }).error.message).toContain('lat es NaN')
    expect(JSON.parse(recibidas[0]!.cuerpo).guias).toHaveLength(1)
  })
})
