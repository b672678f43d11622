import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import {
  createWhatsappClient,
  type WhatsappClient,
  type WhatsappResult,
} from '../../server/domain/mensajeria/whatsapp.ts'
import { judgeCode } from '../../server/domain/mensajeria/whatsappCodes.ts'
import { createCertificate, encodeDnsName } from '../certificate.ts'
import { useDeadlines } from '../deadlines.ts'
import { openProvider, type RequestOutcome, type TestProvider } from './provider.ts'

/** The deadline of a message unless it is told, in ms. */
const DEADLINE = 15_000
const deadlines = useDeadlines(DEADLINE)
const TELEFONO = '+50255551234'
const DATOS = {
  id: 'men_GT1_1',
  telefono: TELEFONO,
  brand: 'Altiplano',
  comercio: 'La Ceiba',
  municipio: 'Mixco',
  token: 'tok_abc',
}
const PETICION = { id: 'men_GT1_2', telefono: TELEFONO, texto: 'Comparta su ubicación.' }

let provider: TestProvider
let client: WhatsappClient
beforeEach(async () => {
  provider = await openProvider()
  client = createWhatsappClient(provider.config)
})
afterEach(async () => {
  vi.useRealTimers()
  await client.close()
  await provider.close()
})

/** However it goes, neither phone nor secret may be told. */
function checkNoSecretos(submission: WhatsappResult): WhatsappResult {
  const text = JSON.stringify(submission)
  expect(text).not.toContain('55551234')
  expect(text).not.toContain(provider.config.token)
  if ('motivo' in submission) expect(submission.motivo).toMatch(/^[A-ZÁÉÍÓÚ].*[.)»]$/s)
  return submission
}
async function sendWith(outcome: RequestOutcome): Promise<WhatsappResult> {
  const before = provider.requests.length
  provider.siguientes.push(outcome)
  const sendingResult = client.sendTemplate(DATOS)
  // Who gets no answer waits for the deadline, which passes as soon as the message has arrived.
  if (outcome.tipo === 'colgar' || (outcome.tipo === 'aceptar' && outcome.lag)) {
    await expect.poll(() => provider.requests.length).toBe(before + 1)
    deadlines.expireAll()
  }
  return checkNoSecretos(await sendingResult)
}

// --- What is sent ---

describe('the client sends', () => {
  test('a template, byte by byte', async () => {
    const submission = await client.sendTemplate(DATOS)
    expect(submission).toEqual({ resultado: 'aceptado', providerId: provider.acceptedMensajes[0]!.wamid })
    const [requestData] = provider.requests
    expect(requestData!.path).toBe('/v23.0/106540352242922/messages')
    expect(requestData!.headers).toEqual({
      host: new URL(provider.url).host,
      connection: 'keep-alive',
      authorization: `Bearer ${provider.config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-length': String(requestData!.body.length),
    })
    expect(requestData!.json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '50255551234',
      type: 'template',
      template: {
        name: 'confirmar_ubicacion',
        language: { code: 'es' },
        components: [
          {
            type: 'body',
            parameters: [
              { type: 'text', text: 'Altiplano' },
              { type: 'text', text: 'La Ceiba' },
              { type: 'text', text: 'Mixco' },
            ],
          },
          { type: 'button', sub_type: 'url', index: '0', parameters: [{ type: 'text', text: 'tok_abc' }] },
        ],
      },
      biz_opaque_callback_data: 'men_GT1_1',
    })
  })

  test('a request for the location, in answer to a message', async () => {
    await client.askUbicacion({ ...PETICION, inReplyTo: 'wamid.X' })
    expect(provider.requests[0]!.json).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '50255551234',
      context: { message_id: 'wamid.X' },
      type: 'interactive',
      interactive: {
        type: 'location_request_message',
        body: { text: 'Comparta su ubicación.' },
        action: { name: 'send_location' },
      },
      biz_opaque_callback_data: 'men_GT1_2',
    })
  })

  test('a text', async () => {
    await client.sendText(PETICION)
    const { json } = provider.requests[0]!
    expect(json).toMatchObject({ type: 'text', text: { preview_url: false, body: 'Comparta su ubicación.' } })
    expect(json).not.toHaveProperty('context')
  })

  test('texts in the form that WhatsApp accepts', async () => {
    const oddValue = { ...DATOS, comercio: ' La\n\tCeiba,      S. A. ', municipio: '' }
    expect(await client.sendTemplate(oddValue)).toMatchObject({ resultado: 'aceptado' })
    const [body] = provider.requests[0]!.json.template.components
    expect(body.parameters.map(({ text }: { text: string }) => text)).toEqual(['Altiplano', 'La Ceiba, S. A.', '—'])
    for (const text of ['ñ'.repeat(5000), '\u{1f69a}'.repeat(3000), '\ud800'.repeat(3)]) {
      expect(await client.askUbicacion({ ...PETICION, texto: text })).toMatchObject({ resultado: 'aceptado' })
      expect(await client.sendText({ ...PETICION, texto: text })).toMatchObject({ resultado: 'aceptado' })
    }
    for (const { json } of provider.requests.slice(1)) {
      expect((json.text?.body ?? json.interactive.body.text).isWellFormed()).toBe(true)
    }
  })

  test('to a base with a path, and with configuration that needs escaping', async () => {
    const other = createWhatsappClient({
      ...provider.config,
      baseUrl: `${provider.url}/meta/`,
      phoneNumberId: 'a/b',
    })
    await other.sendText(PETICION)
    expect(provider.requests[0]!.path).toBe('/meta/v23.0/a%2Fb/messages')
    await other.close()
  })

  test('a hundred messages at a time over a few connections, each with its own answer', async () => {
    const smallClient = createWhatsappClient(provider.config, { connections: 4 })
    const ids = Array.from({ length: 100 }, (_, i) => `men_${i}`)
    const submissions = await Promise.all(ids.map((id) => smallClient.sendText({ ...PETICION, id })))
    const byId = new Map(provider.acceptedMensajes.map(({ ownId, wamid }) => [ownId, wamid]))
    expect(submissions).toEqual(ids.map((id) => ({ resultado: 'aceptado', providerId: byId.get(id) })))
    expect(provider.connections()).toBeLessThanOrEqual(4)
    await smallClient.close()
  })
})

// --- What is answered ---

describe('errors of Meta', () => {
  const REJECTED_CODES = [
    0, 3, 10, 33, 100, 190, 200, 250, 299, 368, 130472, 130497, 131005, 131008, 131009, 131021, 131026, 131030, 131031,
    131042, 131045, 131047, 131050, 131051, 131052, 131053, 132000, 132001, 132005, 132007, 132012, 132015, 132016,
    133010,
  ]
  test.each(REJECTED_CODES)('%d: rejected, for every status', async (code) => {
    for (const status of [400, 500]) {
      const submission = await sendWith({ tipo: 'error', status, error: { code, details: 'Some details' } })
      expect(submission).toMatchObject({ resultado: 'rechazado', codigo: String(code) })
      expect((submission as { motivo: string }).motivo).toMatch(/: .+\. \(Meta: «Some details»\)$/)
    }
  })

  test.each<[number, number]>([
    [2, 60],
    [4, 900],
    [80007, 900],
    [130429, 10],
    [131000, 60],
    [131016, 60],
    [131048, 21_600],
    [131049, 86_400],
    [131056, 60],
    [131057, 600],
    [133004, 60],
  ])('%d: passes, after %d s', async (code, esperar_s) => {
    const submission = await sendWith({ tipo: 'error', status: 400, error: { code } })
    expect(submission).toMatchObject({ resultado: 'pasajero', codigo: String(code), waitSeconds: esperar_s })
    const retryAfterResult = await sendWith({
      tipo: 'error',
      status: 429,
      error: { code },
      headers: { 'retry-after': '33' },
    })
    expect(retryAfterResult).toMatchObject({ resultado: 'pasajero', waitSeconds: 33 })
  })

  test.each<[number, boolean | undefined, string]>([
    [400, undefined, 'rechazado'],
    [403, false, 'rechazado'],
    [404, undefined, 'rechazado'],
    [400, true, 'pasajero'],
    [408, undefined, 'pasajero'],
    [429, undefined, 'pasajero'],
    [500, undefined, 'pasajero'],
    [502, undefined, 'pasajero'],
    [503, undefined, 'pasajero'],
    [504, undefined, 'pasajero'],
  ])('an unknown code with %d (is_transient %s): %s', async (status, isTransient, resultado) => {
    const error = { code: 999_999, ...(isTransient !== undefined && { isTransient }) }
    const submission = await sendWith({ tipo: 'error', status, error })
    expect(submission).toMatchObject({ resultado, codigo: '999999', motivo: expect.stringContaining('999999') })
  })

  test.each<[number, string]>([
    [301, 'rechazado'],
    [400, 'rechazado'],
    [401, 'rechazado'],
    [404, 'rechazado'],
    [408, 'pasajero'],
    [429, 'pasajero'],
    [500, 'pasajero'],
    [503, 'pasajero'],
  ])('%d without a code: %s', async (status, resultado) => {
    for (const body of [
      '',
      '<html><h1>Error</h1></html>',
      '{"error":"otro"}',
      '{"error":{"code":"x"}}',
      'null',
      '[]',
    ]) {
      expect(await sendWith({ tipo: 'respuesta', status, body })).toMatchObject({ resultado, codigo: `http_${status}` })
    }
  })

  test.each<[string, Record<string, string>, number | null]>([
    ['seconds', { 'retry-after': '120' }, 120],
    ['too many seconds', { 'retry-after': '999999999' }, 86_400],
    ['nonsense', { 'retry-after': 'mañana'.normalize('NFD').replace(/[^\x20-\x7e]/g, '') }, null],
    ['a past date', { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' }, null],
    [
      'minutes of usage',
      {
        'x-business-use-case-usage':
          '{"1":[{"type":"messages","estimated_time_to_regain_access":0},{"estimated_time_to_regain_access":19}]}',
      },
      1140,
    ],
    ['broken usage', { 'x-business-use-case-usage': '{"1":[nul' }, null],
    ['odd usage', { 'x-business-use-case-usage': '{"1":[null,{"estimated_time_to_regain_access":"9"}],"2":7}' }, null],
  ])('the client reads the time to wait from %s', async (_case, headers, esperar_s) => {
    expect(await sendWith({ tipo: 'respuesta', status: 503, body: '', headers })).toMatchObject({
      waitSeconds: esperar_s,
    })
  })

  test('a date to wait for', async () => {
    const now = Date.parse('2026-11-20T18:30:00Z')
    vi.useFakeTimers({ toFake: ['Date'], now })
    const date = new Date(now + 90_000).toUTCString()
    expect(
      await sendWith({ tipo: 'respuesta', status: 429, body: '', headers: { 'retry-after': date } }),
    ).toMatchObject({
      waitSeconds: 90,
    })
  })

  test('details never carry phones, tokens or control characters', async () => {
    const detalles = `Recipient +502 5555-1234 (50255551234) token ${provider.config.token}\u0007 ${'x'.repeat(500)}`
    const submission = await sendWith({ tipo: 'error', status: 400, error: { code: 131030, details: detalles } })
    expect((submission as { motivo: string }).motivo).toContain('Recipient ***34 (***34) token *** xxx')
    expect((submission as { motivo: string }).motivo.length).toBeLessThan(400)
  })

  test('the stand-in checks as Meta does: a wrong token, number, template', async () => {
    for (const [cambio, codigo] of [
      [{ token: 'otro' }, '190'],
      [{ phoneNumberId: '1' }, '100'],
      [{ template: 'otra' }, '132001'],
      [{ language: 'en' }, '132001'],
    ] as const) {
      const other = createWhatsappClient({ ...provider.config, ...cambio })
      expect(await other.sendTemplate(DATOS)).toMatchObject({ resultado: 'rechazado', codigo })
      await other.close()
    }
    expect(await client.sendText({ ...PETICION, telefono: '+1' })).toMatchObject({ codigo: '131009' })
    expect(provider.acceptedMensajes).toEqual([])
  })
})

// --- What remains in doubt ---

describe('a message may have been sent when', () => {
  test.each<[string, RequestOutcome, RegExp]>([
    ['hangs after reading', { tipo: 'colgar' }, /plazo/],
    ['closes after reading', { tipo: 'cerrar' }, /UND_ERR_SOCKET|ECONNRESET/],
    ['closes before reading', { tipo: 'cerrar_sin_leer' }, /UND_ERR_SOCKET|ECONNRESET|EPIPE/],
    ['gives half an answer', { tipo: 'media_respuesta' }, /UND_ERR_SOCKET|ECONNRESET/],
    ['answers too late', { tipo: 'aceptar', lag: DEADLINE }, /plazo/],
    ['answers no JSON', { tipo: 'respuesta', status: 200, body: '<html>' }, /sin dar el id/],
    ['answers without an id', { tipo: 'respuesta', status: 200, body: '{"messages":[{}]}' }, /sin dar el id/],
    ['answers nothing', { tipo: 'respuesta', status: 204, body: '' }, /sin dar el id/],
    ['answers without end', { tipo: 'respuesta', status: 200, body: 'x'.repeat(100_000) }, /respuesta_larga/],
    ['stands behind a gateway that gave up', { tipo: 'respuesta', status: 504, body: '<h1>504</h1>' }, /504/],
    ['stands behind a gateway that lost it', { tipo: 'respuesta', status: 502, body: '' }, /502/],
  ])('the provider %s', async (_case, outcome, motivo) => {
    expect(await sendWith(outcome)).toEqual({ resultado: 'dudoso', motivo: expect.stringMatching(motivo) })
    // Nothing is repeated behind our back: the next one is the next that arrives.
    expect(await client.sendTemplate(DATOS)).toMatchObject({ resultado: 'aceptado' })
    expect(provider.requests.length).toBe(outcome.tipo === 'cerrar_sin_leer' ? 1 : 2)
  })

  test('the provider fails on a connection that has served before', async () => {
    expect(await client.sendTemplate(DATOS)).toMatchObject({ resultado: 'aceptado' })
    for (const tipo of ['cerrar', 'cerrar_sin_leer', 'media_respuesta', 'colgar'] as const) {
      expect(await sendWith({ tipo })).toMatchObject({ resultado: 'dudoso' })
      expect(await client.sendTemplate(DATOS)).toMatchObject({ resultado: 'aceptado' })
    }
  })

  test('the provider sends only a 1xx answer', async () => {
    await using server = await raw((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'))
    const sendingResult = sendTo(server.url)
    await expect.poll(server.solicitudes).toBe(1)
    deadlines.expireAll()
    expect(await sendingResult).toMatchObject({ resultado: 'dudoso' })
  })

  test.each([
    ['no HTTP', '220 hola\r\n'],
    ['half a status line', 'HTTP/1.1 40'],
    ['half an error', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 500\r\n\r\n{"error":{"code":190'],
    ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('the answer is %s', async (_case, bytes) => {
    await using server = await raw((socket) => socket.end(bytes))
    expect(await sendTo(server.url)).toMatchObject({ resultado: 'dudoso' })
    expect(server.solicitudes()).toBe(1)
  })

  test('the client closes during the request', async () => {
    provider.defaultOutcome = { tipo: 'colgar' }
    const sendingResult = client.sendTemplate(DATOS)
    await expect.poll(() => provider.requests.length).toBe(1)
    await client.close()
    expect(await sendingResult).toEqual({ resultado: 'dudoso', motivo: expect.stringMatching(/cerrado/) })
    expect(await client.sendTemplate(DATOS)).toMatchObject({ resultado: 'pasajero', codigo: 'cerrado' })
    expect(provider.requests).toHaveLength(1)
  })
})

describe('a message is surely not sent when', () => {
  test('nobody listens', async () => {
    await using server = await raw(() => {})
    const { url } = server
    await server[Symbol.asyncDispose]()
    expect(await sendTo(url)).toEqual({
      resultado: 'pasajero',
      codigo: 'ECONNREFUSED',
      motivo: expect.stringContaining('No se llegó a enviar'),
      waitSeconds: null,
    })
  })

  test('the name is not known', async () => {
    const submission = await sendTo('https://no-existe.invalid')
    expect(submission).toMatchObject({
      resultado: 'pasajero',
      codigo: expect.stringMatching(/ENOTFOUND|EAI_AGAIN|plazo/),
    })
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes', (socket) => socket.destroy()],
    ['answers no TLS', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['hangs', () => {}],
  ])('the server %s in the TLS handshake', async (testCase, handle) => {
    await using server = await raw(handle)
    const sendingResult = sendTo(server.url.replace('http:', 'https:'))
    if (testCase === 'hangs') {
      await expect.poll(server.solicitudes).toBe(1)
      deadlines.expireAll()
    }
    expect(await sendingResult).toMatchObject({ resultado: 'pasajero' })
  })

  test('the certificate is not trusted, unlike a good one', async () => {
    const pair = createCertificate([encodeDnsName('localhost')])
    const recibidos: string[] = []
    const server = tls.createServer(pair, (socket) => {
      socket
        .on('error', () => {})
        .on('data', (datos) => {
          recibidos.push(String(datos))
          socket.end('HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n')
        })
    })
    server.on('tlsClientError', () => {})
    await once(server.listen(0, '127.0.0.1'), 'listening')
    const { port } = server.address() as net.AddressInfo
    expect(await sendTo(`https://localhost:${port}`)).toMatchObject({
      resultado: 'pasajero',
      codigo: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    expect(await sendTo(`https://127.0.0.1:${port}`, { ca: pair.cert })).toMatchObject({ resultado: 'pasajero' })
    expect(recibidos).toEqual([])
    expect(await sendTo(`https://localhost:${port}`, { ca: pair.cert })).toMatchObject({ codigo: 'http_400' })
    expect(recibidos).toHaveLength(1)
    server.close()
  })

  test('the deadline passes before a connection is free', async () => {
    const one = createWhatsappClient(provider.config, { connections: 1 })
    provider.siguientes.push({ tipo: 'aceptar' }, { tipo: 'colgar' })
    const [first, second, third] = ['primero', 'segundo', 'tercero'].map((id) => one.sendText({ ...PETICION, id }))
    expect(await first).toMatchObject({ resultado: 'aceptado' })
    await expect.poll(() => provider.requests.length).toBe(2)
    deadlines.expireAll()
    expect(await second).toMatchObject({ resultado: 'dudoso' })
    expect(await third).toMatchObject({ resultado: 'pasajero', codigo: 'plazo' })
    expect(await one.sendText({ ...PETICION, id: 'cuarto' })).toMatchObject({ resultado: 'aceptado' })
    expect(provider.acceptedMensajes.map(({ ownId }) => ownId)).toEqual(['primero', 'segundo', 'cuarto'])
    await one.close()
  })

  test('the token fits in no header, which is a fault of the configuration', async () => {
    const bad = createWhatsappClient({ ...provider.config, token: 'uno\r\nX: dos' })
    expect(await bad.sendText(PETICION)).toMatchObject({ resultado: 'rechazado', codigo: 'configuracion' })
    await bad.close()
    expect(provider.requests).toEqual([])
  })
})

/** A server that does what it likes with the socket at every request. */
async function raw(handle: (socket: net.Socket) => void) {
  let solicitudes = 0
  const openSockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    openSockets.add(socket)
    socket
      .on('error', () => {})
      .on('data', () => {
        solicitudes++
        handle(socket)
      })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    solicitudes: () => solicitudes,
    async [Symbol.asyncDispose]() {
      for (const socket of openSockets) socket.destroy()
      if (server.listening) await new Promise((listo) => server.close(listo))
    },
  }
}

async function sendTo(baseUrl: string, options: { ca?: string } = {}): Promise<WhatsappResult> {
  const other = createWhatsappClient({ ...provider.config, baseUrl }, options)
  const submission = checkNoSecretos(await other.sendText(PETICION))
  await other.close()
  return submission
}

test('every code that is known has a sentence of its own that names a remedy', () => {
  const seen = new Set<string>()
  for (let codigo = 0; codigo < 140_000; codigo++) {
    const verdict = judgeCode(String(codigo))
    if (!verdict || /^2\d\d$/.test(String(codigo))) continue
    expect(verdict.motivo).toMatch(/^[A-Z].*[:;] .+\.$/)
    seen.add(String(codigo))
  }
  expect(seen.size).toBeGreaterThanOrEqual(42)
  for (const oddValue of ['', 'constructor', '__proto__', 'toString', '-1']) expect(judgeCode(oddValue)).toBeNull()
})
