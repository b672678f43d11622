import { connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Comercio, shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'

const environment = shareEnvironment()

let comercio: Comercio
beforeAll(async () => {
  comercio = await environment.createComercio()
})

describe('every answer', () => {
  it('carries its id, language and safety headers', async () => {
    const { guia } = await comercio.api.guias.crear(buildGuia())
    const { headers } = await environment.request('GET', `/api/v1/guias/${guia}/etiqueta`, {
      llave: comercio.llave,
      headers: { 'X-Request-Id': 'mi-solicitud-1' },
    })
    expect(Object.fromEntries(headers)).toMatchObject({
      'x-request-id': 'mi-solicitud-1',
      'content-language': 'es',
      'content-type': 'application/json',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'content-security-policy': expect.stringContaining("default-src 'none'"),
    })
    expect(headers.get('x-powered-by')).toBeNull()
    const bad = await environment.request('GET', '/api/v1/nada', { headers: { 'X-Request-Id': 'con espacio' } })
    expect(bad.body).toMatchObject({
      estado_http: 404,
      codigo: 'ruta_desconocida',
      id_solicitud: bad.headers.get('x-request-id'),
    })
    expect(bad.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  const bad = { ...buildGuia(), telefono: 'x' }
  const fail = (headers: Record<string, string>) =>
    environment.request('POST', '/api/v1/guias', {
      llave: comercio.llave,
      body: bad,
      headers: { 'X-Request-Id': 'sol-1', ...headers },
    })
  const errores = [{ campo: '/telefono', codigo: 'formato_invalido', mensaje: expect.any(String) }]
  const remainder = () => ({
    codigo: 'validacion',
    errores,
    id_solicitud: 'sol-1',
    documentacion: `${environment.url}/docs/errores#error-validacion`,
  })

  it('says an error in Spanish', async () => {
    for (const Accept of ['application/json', '*/*', 'text/html']) {
      const { status, headers, body } = await fail({ Accept })
      expect([status, headers.get('content-type')]).toEqual([422, 'application/json'])
      expect(body).toEqual({
        titulo: 'Los datos no son válidos',
        mensaje: 'Corrija 1 campo y vuelva a enviar: telefono.',
        estado_http: 422,
        ...remainder(),
      })
    }
  })

  it('says it with the names of RFC 9457 when Accept names its type', async () => {
    for (const Accept of ['application/problem+json', 'application/json, Application/Problem+JSON;q=0.9']) {
      const { status, headers, body } = await fail({ Accept })
      expect([status, headers.get('content-type')]).toEqual([422, 'application/problem+json'])
      expect(body).toEqual({
        type: 'urn:guias:problema:validacion',
        title: 'Los datos no son válidos',
        status: 422,
        detail: 'Corrija 1 campo y vuelva a enviar: telefono.',
        instance: 'urn:guias:solicitud:sol-1',
        ...remainder(),
      })
    }
  })

  it('leaves the type of what is no error of ours as it is', async () => {
    const headers = { Accept: 'application/problem+json' }
    const { status, headers: responseHeaders } = await environment.request('GET', '/healthz', { headers })
    expect([status, responseHeaders.get('content-type')]).toEqual([200, 'application/json'])
  })

  it('points nowhere for an error that no merchant gets', async () => {
    const { body } = await environment.asOperador('POST', '/comercios/com_x/llaves', { modo: 'test' })
    expect([body.codigo, body.documentacion]).toEqual(['comercio_desconocido', null])
  })

  it('never is a 5xx for a path that isn’t well encoded', async () => {
    for (const path of [
      '/api/v1/guias/%',
      '/api/v1/guias/%ff',
      '/api/v1/guias/%E0%A4%A',
      '/%00',
      '//',
      '/api/v1//guias',
      '/api/v1/guias/a%2Fb',
    ]) {
      const { status } = await environment.request('GET', path, { llave: comercio.llave })
      expect([path, status >= 400 && status < 500]).toEqual([path, true])
    }
  })

  it('lets no odd request target validate as another operation, now or later', async () => {
    const request = async (destino: string, body: string) =>
      raw(
        `POST ${destino} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${comercio.llave}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
      )
    for (const destino of [
      '/api/v1/guias/#/cancelar',
      '/api/v1/guias/bulk#/cancelar',
      '//api/v1/guias',
      'http://[/api/v1/guias',
      '*',
    ]) {
      expect([destino, (await request(destino, '{"descripcion":"x"}')).slice(9, 12)]).toEqual([destino, '400'])
    }
    expect((await request(`${environment.url}/api/v1/guias?x=1`, JSON.stringify(buildGuia()))).slice(9, 12)).toBe('400')
    expect((await request(`${environment.url}/api/v1/guias`, JSON.stringify(buildGuia()))).slice(9, 12)).toBe('201')
    expect(
      (await environment.request('POST', '/api/v1/guias', { llave: comercio.llave, body: buildGuia() })).status,
    ).toBe(201)
  })

  it('says what is wrong with a request that is no request', async () => {
    expect(await raw('GET / HTTP/1.1\r\nHost: x\r\nbad header\r\n\r\n')).toMatch(
      /^HTTP\/1.1 400[\s\S]*"codigo":"parametro_invalido"/,
    )
    expect(await raw(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`)).toMatch(
      /^HTTP\/1.1 431[\s\S]*16 KB[\s\S]*"estado_http":431/,
    )
  })

  it('refuses a long list of different things where few may be', async () => {
    const alcances = Array.from({ length: 20_000 }, (_, i) => `x${i}`)
    const path = `/comercios/${comercio.comercio}/llaves`
    expect((await environment.asOperador('POST', path, { modo: 'test', alcances })).status).toBe(422)
    // Also when something else is wrong first.
    expect((await environment.asOperador('POST', path, { alcances })).status).toBe(422)
  })

  it('looks at the key again when the body took its time', async () => {
    const { body: llave } = await environment.asOperador('POST', `/comercios/${comercio.comercio}/llaves`, {
      modo: 'test',
    })
    const text = new TextEncoder().encode(JSON.stringify(buildGuia()))
    const slow = ReadableStream.from(
      (async function* () {
        yield text.slice(0, 10)
        await environment.asOperador('POST', `/llaves/${llave.id}/revocar`)
        await new Promise((resolve) => setTimeout(resolve, 1_100))
        yield text.slice(10)
      })(),
    )
    const { status } = await environment.request('POST', '/api/v1/guias', {
      llave: llave.llave,
      raw: slow as ReadableStream,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(status).toBe(401)
  })

  it('refuses two keys in one request', async () => {
    const response = await raw(
      `GET /api/v1/guias HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${comercio.llave}\r\nAuthorization: Bearer ${comercio.llave}\r\nConnection: close\r\n\r\n`,
    )
    expect(response).toMatch(/^HTTP\/1.1 401/)
  })

  it('answers 413 to a body that grows past its limit, without reading it to the end', async () => {
    const chunk = 'x'.repeat(64 * 1024)
    const start = `POST /api/v1/guias HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${comercio.llave}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`
    const response = await raw(start + `${chunk.length.toString(16)}\r\n${chunk}\r\n`.repeat(6))
    expect(response).toMatch(/^HTTP\/1.1 413/)
    expect(response).toMatch(/Connection: close/i)
  })

  it('takes a body in many small pieces, with an odd content type', async () => {
    const text = JSON.stringify(buildGuia())
    const chunks = ReadableStream.from([...text].map((letter) => new TextEncoder().encode(letter)))
    const { status } = await environment.request('POST', '/api/v1/guias', {
      llave: comercio.llave,
      raw: chunks as ReadableStream,
      headers: { 'Content-Type': 'Application/JSON ; charset="UTF-8"; q=1' },
    })
    expect(status).toBe(201)
  })

  it.each([
    ['charset="utf-8"', 201],
    ['charset=UTF8', 201],
    ['charset=utf-8; foo=bar', 201],
    ['foo="; charset=latin1"', 201],
    ['charset=latin1', 415],
    ['foo="a;b"; charset="latin1"', 415],
  ])('reads the parameters of JSON with %s as %i', async (parameters, expected) => {
    const { status } = await environment.request('POST', '/api/v1/guias', {
      llave: comercio.llave,
      raw: JSON.stringify(buildGuia()),
      headers: { 'Content-Type': `application/json; ${parameters}` },
    })
    expect(status).toBe(expected)
  })

  it('keeps memory flat over thousands of content types', async () => {
    const request = (i: number) =>
      environment.request('POST', '/api/v1/guias', {
        llave: comercio.llave,
        raw: '{}',
        headers: { 'Content-Type': `application/json; q=${i}` },
      })
    for (let i = 0; i < 50; i++) await request(i)
    globalThis.gc?.()
    const before = process.memoryUsage().heapUsed
    for (let i = 50; i < 600; i++) await request(i)
    globalThis.gc?.()
    // A validator per header string would keep 77 KB each: 42 MB.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(30 * 1024 * 1024)
  })

  it('leaves phones and keys out of the log', async () => {
    await comercio.api.guias.crear(buildGuia({ telefono: '+50230000007' }))
    await environment.request('GET', `/operaciones/v1/guias?telefono=${encodeURIComponent('+50230000007')}`, {
      llave: environment.llaveDeOperacion,
    })
    const log = environment.log.join('')
    expect(log).not.toContain('30000007')
    expect(log).not.toContain(comercio.llave.slice(30, 60))
    expect(log).toMatch(/"operacion":"crearGuia".*"status":201/)
  })
})

function raw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const { hostname, port } = new URL(environment.url)
    let received = ''
    const socket = connect(Number(port), hostname, () => socket.write(text))
    socket.on('data', (chunk) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.on('error', (error) => (received ? resolve(received) : reject(error)))
  })
}
