import { type ErrorGuias, ErrorRespuesta } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { fault, GUIA, json, NEW_GUIA, text, useFakeServer } from './server.ts'

const { client, respondWith: answer, faultWith, capturedRequests: received } = useFakeServer()

describe('answers that are not the API’s', () => {
  it.each([
    ['an HTML page with 200', text(200, '<html>\n<body>Bienvenido</body>'), 200, 'proxy'],
    ['an HTML page with 502', text(502, '<html>Bad Gateway'), 502, 'Intente de nuevo'],
    ['HTML that calls itself JSON', text(200, '<html>', { 'Content-Type': 'application/json' }), 200, 'proxy'],
    ['nothing, without a type', text(200, '', {}), 200, 'vacía'],
    ['204', text(204, '', {}), 204, 'vacía'],
    ['JSON of something else', json(200, { status: 'ok' }), 200, 'proxy'],
    ['a page where a guide should be', json(200, { datos: [], cursor_siguiente: null }), 200, 'proxy'],
    ['null', json(200, null), 200, 'null'],
    ['an error of a gateway in JSON', json(403, { message: 'Forbidden' }), 403, 'Forbidden'],
    ['a JSON text cut short', text(200, '{"guia": "7K3', { 'Content-Type': 'application/json' }), 200, '{"guia": "7K3'],
  ])('%s', async (_, response, status, dice) => {
    const error = await faultWith(ErrorRespuesta, response)
    expect(error).toMatchObject({ name: 'ErrorRespuesta', estadoHttp: status })
    expect(error.message).toContain(`HTTP ${status}`)
    expect(error.message).toContain(dice)
  })

  it('keeps the first 200 characters and the id', async () => {
    const error = await faultWith(ErrorRespuesta, text(500, 'x'.repeat(5000), { 'X-Request-Id': 'sol-9' }))
    expect(error).toMatchObject({
      texto: 'x'.repeat(200),
      idSolicitud: 'sol-9',
      message: expect.stringContaining('sol-9'),
    })
    expect(error.message.length).toBeLessThan(500)
  })

  describe.each([
    ['an HTML page', '<html><h1>Slow down</h1>'],
    ['nothing', ''],
    ['JSON of its own', '{"message":"API rate limit exceeded"}'],
  ])('a proxy’s %s', (_, body) => {
    it.each([
      [429, { 'Retry-After': '120' }, 120],
      [503, { 'Retry-After': '7' }, 7],
      [503, { 'Retry-After': 'Fri, 20 Nov 2026 10:01:30 GMT', Date: 'Fri, 20 Nov 2026 10:00:00 GMT' }, 90],
      [429, {}, null],
    ])('with %i keeps how long to wait: %j', async (status, headers, seconds) => {
      const error: ErrorGuias = await faultWith(ErrorRespuesta, text(status, body, headers))
      expect(error.esperarSegundos).toBe(seconds)
      expect(error.message).toContain(`Intente de nuevo en ${seconds ?? 'unos'} segundos`)
    })
  })

  it('follows no redirect: a POST would become a GET', async () => {
    answer((res, { method }) =>
      method === 'POST'
        ? res.writeHead(301, { Location: 'https://guias.ejemplo.com/api/v1/guias' }).end()
        : json(200, GUIA)(res),
    )
    const error = await fault(client().guias.crear(NEW_GUIA))
    expect(error).toMatchObject({
      name: 'ErrorRespuesta',
      estadoHttp: 301,
      message: expect.stringContaining('https://guias.ejemplo.com/api/v1/guias'),
    })
    expect(received).toHaveLength(1)
  })

  it.each([
    ['a page', () => client().guias.listar()],
    ['a batch', () => client().guias.crearLote({ guias: [NEW_GUIA] })],
    ['the feed', () => client().eventos.listar()],
  ])('looks at the shape of %s', async (_, request) => {
    answer(json(200, GUIA))
    expect(await fault(request())).toBeInstanceOf(ErrorRespuesta)
  })
})
