/** What the SDK does that a merchant would otherwise write: files, waits, look-ups, and numbers that are none. */
import { createHash } from 'node:crypto'
import { ErrorAbortado, ErrorAlcance, ErrorGuias, ErrorRespuesta, ErrorTiempo } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { fault, GUIA, json, NEW_GUIA, type Responder, respondProblema, useFakeServer } from './server.ts'

const server = useFakeServer()
const { client, respondWith: answer, capturedRequests: received } = server

const file =
  (type: string, bytes: string): Responder =>
  (res) =>
    res.writeHead(200, { 'Content-Type': type }).end(bytes)
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

describe('labels', () => {
  it('are the bytes of the requested form', async () => {
    answer(file('application/pdf', '%PDF'), file('application/zpl', '^XA'))
    expect(text(await client().guias.etiquetaPdf('7K3M9QX2A1B4'))).toBe('%PDF')
    expect(text(await client().guias.etiquetaZpl('7K3M9QX2A1B4', { ppp: 300 }))).toBe('^XA')
    expect(received.map(({ method, path, headers }) => [method, path, headers.accept])).toEqual([
      ['GET', '/api/v1/guias/7K3M9QX2A1B4/etiqueta', 'application/pdf'],
      ['GET', '/api/v1/guias/7K3M9QX2A1B4/etiqueta?ppp=300', 'application/zpl'],
    ])
  })

  it('for several guides come in one file', async () => {
    answer(file('application/pdf', '%PDF'), file('application/zpl', '^XA'))
    await client().guias.etiquetaPdf(['A', 'B'], { formato: 'carta' })
    await client().guias.etiquetaZpl(['A'], { ppp: 203 })
    expect(received.map(({ method, path, body }) => [method, path, JSON.parse(body)])).toEqual([
      ['POST', '/api/v1/etiquetas', { guias: ['A', 'B'], formato: 'carta' }],
      ['POST', '/api/v1/etiquetas', { guias: ['A'], ppp: 203 }],
    ])
  })

  it('are refused where something else comes: the page of a proxy, or a problem', async () => {
    answer(file('text/html', '<html>'))
    const error = await fault(client().guias.etiquetaPdf('A'))
    expect([error instanceof ErrorRespuesta, error.message.includes('<html>')]).toEqual([true, true])
    answer(respondProblema(409, 'guia_cancelada'))
    await expect(client().guias.etiquetaZpl('A')).rejects.toMatchObject({ codigo: 'guia_cancelada' })
  })
})

describe('archivos.descargar', () => {
  const link = () => `${server.baseUrl}/archivos/arch_1?firma=secreta`

  it('takes a link without the key and the headers of the merchant, and follows it to the storage', async () => {
    answer((res) => res.writeHead(307, { Location: '/almacen?firma=otra' }).end(), file('image/jpeg', 'foto'))
    const seen: string[] = []
    const api = client({ cabeceras: { 'X-Propia': 'si' }, registro: ({ ruta: path }) => seen.push(path) })
    expect(text(await api.archivos.descargar({ url: link() }))).toBe('foto')
    for (const { headers } of received)
      expect([headers.authorization, headers['x-propia']]).toEqual([undefined, undefined])
    expect(received.map(({ path }) => path)).toEqual(['/archivos/arch_1?firma=secreta', '/almacen?firma=otra'])
    // A log has the link without its signature.
    expect(seen).toEqual([`${server.baseUrl}/archivos/arch_1`])
  })

  it('compares the digest', async () => {
    answer(file('image/jpeg', 'foto'))
    const sha256 = createHash('sha256').update('foto').digest('hex')
    expect(text(await client().archivos.descargar({ url: link(), sha256 }))).toBe('foto')
    answer(file('image/jpeg', 'fot'))
    expect((await fault(client().archivos.descargar({ url: link(), sha256 }))).message).toContain('sha256')
  })

  it('tells an expired link, and repeats what passes', async () => {
    answer(respondProblema(403, 'enlace_invalido'))
    const error = await fault(client().archivos.descargar(link()))
    expect([error instanceof ErrorAlcance, (error as ErrorAlcance).codigo]).toEqual([true, 'enlace_invalido'])
    answer((res) => res.writeHead(503, { 'Retry-After': '0' }).end(), file('application/pdf', '%PDF'))
    expect(text(await client({ reintentos: 1 }).archivos.descargar(link()))).toBe('%PDF')
  })

  it('sends nothing without a link', async () => {
    for (const bad of ['', '/archivos/arch_1', undefined, null, { url: 7 }])
      expect((await fault(client().archivos.descargar(bad as never))).message).toContain('descargar espera un enlace')
    expect(received).toEqual([])
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
    answer(proof(null, '0'), proof(null, '0'), proof({ url: 'https://x' }))
    expect(await client().guias.esperarPrueba('A')).toMatchObject({ pdf: { url: 'https://x' }, manifiesto: 'a.b.c' })
    expect(received).toHaveLength(3)
  })

  it('gives up at once where the PDF would come too late, and stops with its signal', async () => {
    answer(proof(null, '3600'))
    const error = await fault(client().guias.esperarPrueba('A'))
    expect([error instanceof ErrorTiempo, error.message]).toEqual([true, expect.stringContaining('3600 s')])
    const control = new AbortController()
    answer((res) => {
      proof(null, '50')(res)
      setImmediate(() => control.abort())
    })
    expect(await fault(client().guias.esperarPrueba('A', { signal: control.signal }))).toBeInstanceOf(ErrorAbortado)
  })
})

it('finds the guide of a reference, or none', async () => {
  answer(json(200, { datos: [GUIA], cursor_siguiente: null }), json(200, { datos: [], cursor_siguiente: null }))
  expect(await client().guias.porReferencia('PEDIDO 1&2')).toEqual(GUIA)
  expect(await client().guias.porReferencia('otra')).toBeUndefined()
  expect(received[0]!.path).toBe('/api/v1/guias?external_ref=PEDIDO%201%262')
})

it.each([undefined, null, ''])('finds no guide of a reference that is missing, %j', async (missing) => {
  const error = await fault(client().guias.porReferencia(missing as unknown as string))
  expect([error.name, error.message, received]).toEqual(['ErrorGuias', 'Falta la external_ref.', []])
})

it('takes a Date where an instant is expected', async () => {
  const desde = new Date(1_795_283_100_000)
  answer(json(200, { datos: [], cursor_siguiente: null }))
  await client().guias.listar({ creado_desde: desde, creado_hasta: desde.toISOString() })
  await client().eventos.listar({ desde })
  answer(json(202, { recuperacion: 'r', webhook: 'w', desde: '' }))
  await client().webhooks.recuperar('wh_1', { desde })
  const iso = encodeURIComponent(desde.toISOString())
  expect(received.slice(0, 2).map(({ path }) => path)).toEqual([
    `/api/v1/guias?creado_desde=${iso}&creado_hasta=${iso}`,
    `/api/v1/eventos?desde=${iso}`,
  ])
  expect(JSON.parse(received[2]!.body).desde).toBe(desde.toISOString())
})

describe('a number that is none', () => {
  const lat = Number('14,63')
  it.each<[string, string, () => Promise<unknown>]>([
    ['lat', 'NaN', () => client().guias.crear({ ...NEW_GUIA, lat, lng: -90.5 })],
    ['lng', 'Infinity', () => client().guias.crear({ ...NEW_GUIA, recogida: { lat: 1, lng: Infinity } })],
    ['lat', 'NaN', () => client().guias.crearLote({ guias: [NEW_GUIA, { ...NEW_GUIA, lat, lng: 1 }] })],
    ['lat', 'NaN', () => client().guias.confirmarUbicacion('A', { lat, lng: 1 })],
  ])('is refused before the request, with its field (%s is %s)', async (field, value, callUrl) => {
    const error = await fault(callUrl())
    expect(error).toBeInstanceOf(ErrorGuias)
    expect(error.message).toContain(`${field} es ${value} y no un número: ¿venía con coma, como 14,63?`)
    expect(received).toEqual([])
  })

  it('fails alone among many', async () => {
    answer(json(200, { resultados: [{ indice: 0, ok: true, guia: 'A', estado: 'aceptado', external_ref: 'B' }] }))
    const guias = [
      { ...NEW_GUIA, lat, lng: 1 },
      { ...NEW_GUIA, external_ref: 'B' },
    ]
    const results = await Array.fromAsync(client().guias.crearMuchas(guias))
    expect(results.map(({ ok }) => ok)).toEqual([false, true])
    expect((results[0] as { error: ErrorGuias }).error.message).toContain('lat es NaN')
    expect(JSON.parse(received[0]!.body).guias).toHaveLength(1)
  })
})
