import { once } from 'node:events'
import net from 'node:net'
import tls from 'node:tls'
import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { juzgarCodigo } from '../../server/mensajeria/codigosDeWhatsapp.ts'
import {
  type ClienteDeWhatsapp,
  crearClienteDeWhatsapp,
  type Entrante,
  type Envio,
  firmaValida,
  leerEntrantes,
  responderReto,
} from '../../server/mensajeria/whatsapp.ts'
import { certificado, paraNombre } from '../certificado.ts'
import { abrirProveedor, aviso, type Desenlace, estado, firmar, mensaje, type Proveedor } from './proveedor.ts'

const PLAZO = 300
const TELEFONO = '+50255551234'
const DATOS = { id: 'men_GT1_1', telefono: TELEFONO, comercio: 'La Ceiba', municipio: 'Mixco', token: 'tok_abc' }
const PETICION = { id: 'men_GT1_2', telefono: TELEFONO, texto: 'Comparta su ubicación.' }
const pausa = (ms: number) => new Promise((listo) => setTimeout(listo, ms))

let proveedor: Proveedor
let cliente: ClienteDeWhatsapp
beforeEach(async () => {
  proveedor = await abrirProveedor()
  cliente = crearClienteDeWhatsapp(proveedor.config, { plazo: PLAZO })
})
afterEach(async () => {
  await cliente.cerrar()
  await proveedor.cerrar()
})

/** However it goes, neither phone nor secret may be told. */
function sinSecretos(envio: Envio): Envio {
  const texto = JSON.stringify(envio)
  expect(texto).not.toContain('55551234')
  expect(texto).not.toContain(proveedor.config.token)
  if ('motivo' in envio) expect(envio.motivo).toMatch(/^[A-ZÁÉÍÓÚ].*[.)»]$/s)
  return envio
}
async function con(desenlace: Desenlace): Promise<Envio> {
  proveedor.siguientes.push(desenlace)
  return sinSecretos(await cliente.enviarPlantilla(DATOS))
}

// --- What is sent ---

describe('what is sent', () => {
  test('a template, byte by byte', async () => {
    const envio = await cliente.enviarPlantilla(DATOS)
    expect(envio).toEqual({ resultado: 'aceptado', proveedorId: proveedor.aceptados[0]!.wamid })
    const [pedido] = proveedor.pedidos
    expect(pedido!.ruta).toBe('/v23.0/106540352242922/messages')
    expect(pedido!.cabeceras).toEqual({
      host: new URL(proveedor.url).host,
      connection: 'keep-alive',
      authorization: `Bearer ${proveedor.config.token}`,
      'content-type': 'application/json',
      accept: 'application/json',
      'accept-encoding': 'identity',
      'content-length': String(pedido!.cuerpo.length),
    })
    expect(pedido!.json).toEqual({
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
    await cliente.pedirUbicacion({ ...PETICION, enRespuestaA: 'wamid.X' })
    expect(proveedor.pedidos[0]!.json).toEqual({
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
    await cliente.enviarTexto(PETICION)
    const { json } = proveedor.pedidos[0]!
    expect(json).toMatchObject({ type: 'text', text: { preview_url: false, body: 'Comparta su ubicación.' } })
    expect(json).not.toHaveProperty('context')
  })

  test('what WhatsApp would refuse for its form is put into form', async () => {
    const raro = { ...DATOS, comercio: ' La\n\tCeiba,      S. A. ', municipio: '' }
    expect(await cliente.enviarPlantilla(raro)).toMatchObject({ resultado: 'aceptado' })
    const [cuerpo] = proveedor.pedidos[0]!.json.template.components
    expect(cuerpo.parameters.map(({ text }: { text: string }) => text)).toEqual(['La Ceiba, S. A.', '—'])
    for (const texto of ['ñ'.repeat(5000), '\u{1f69a}'.repeat(3000), '\ud800'.repeat(3)]) {
      expect(await cliente.pedirUbicacion({ ...PETICION, texto })).toMatchObject({ resultado: 'aceptado' })
      expect(await cliente.enviarTexto({ ...PETICION, texto })).toMatchObject({ resultado: 'aceptado' })
    }
    for (const { json } of proveedor.pedidos.slice(1)) {
      expect((json.text?.body ?? json.interactive.body.text).isWellFormed()).toBe(true)
    }
  })

  test('a base with a path, and configuration that needs escaping', async () => {
    const otro = crearClienteDeWhatsapp({
      ...proveedor.config,
      baseUrl: `${proveedor.url}/meta/`,
      phoneNumberId: 'a/b',
    })
    await otro.enviarTexto(PETICION)
    expect(proveedor.pedidos[0]!.ruta).toBe('/meta/v23.0/a%2Fb/messages')
    await otro.cerrar()
  })

  test('a hundred at a time, each its own answer, over a few connections', async () => {
    const pocas = crearClienteDeWhatsapp(proveedor.config, { conexiones: 4 })
    const ids = Array.from({ length: 100 }, (_, i) => `men_${i}`)
    const envios = await Promise.all(ids.map((id) => pocas.enviarTexto({ ...PETICION, id })))
    const porId = new Map(proveedor.aceptados.map(({ nuestroId, wamid }) => [nuestroId, wamid]))
    expect(envios).toEqual(ids.map((id) => ({ resultado: 'aceptado', proveedorId: porId.get(id) })))
    expect(proveedor.conexiones()).toBeLessThanOrEqual(4)
    await pocas.cerrar()
  })
})

// --- What is answered ---

describe('what Meta refuses', () => {
  const RECHAZADOS = [
    0, 3, 10, 33, 100, 190, 200, 250, 299, 368, 130472, 130497, 131005, 131008, 131009, 131021, 131026, 131030, 131031,
    131042, 131045, 131047, 131050, 131051, 131052, 131053, 132000, 132001, 132005, 132007, 132012, 132015, 132016,
    133010,
  ]
  test.each(RECHAZADOS)('%d: rejected, whatever the status', async (code) => {
    for (const status of [400, 500]) {
      const envio = await con({ tipo: 'error', status, error: { code, detalles: 'Some details' } })
      expect(envio).toMatchObject({ resultado: 'rechazado', codigo: String(code) })
      expect((envio as { motivo: string }).motivo).toMatch(/: .+\. \(Meta: «Some details»\)$/)
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
    const envio = await con({ tipo: 'error', status: 400, error: { code } })
    expect(envio).toMatchObject({ resultado: 'pasajero', codigo: String(code), esperar_s })
    const avisado = await con({ tipo: 'error', status: 429, error: { code }, cabeceras: { 'retry-after': '33' } })
    expect(avisado).toMatchObject({ resultado: 'pasajero', esperar_s: 33 })
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
  ])('an unknown code with %d (is_transient %s): %s', async (status, transitorio, resultado) => {
    const error = { code: 999_999, ...(transitorio !== undefined && { transitorio }) }
    const envio = await con({ tipo: 'error', status, error })
    expect(envio).toMatchObject({ resultado, codigo: '999999', motivo: expect.stringContaining('999999') })
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
    for (const cuerpo of [
      '',
      '<html><h1>Error</h1></html>',
      '{"error":"otro"}',
      '{"error":{"code":"x"}}',
      'null',
      '[]',
    ]) {
      expect(await con({ tipo: 'respuesta', status, cuerpo })).toMatchObject({ resultado, codigo: `http_${status}` })
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
  ])('how long to wait: %s', async (_caso, cabeceras, esperar_s) => {
    expect(await con({ tipo: 'respuesta', status: 503, cuerpo: '', cabeceras })).toMatchObject({ esperar_s })
  })

  test('a date to wait for', async () => {
    const fecha = new Date(Date.now() + 90_000).toUTCString()
    const envio = await con({ tipo: 'respuesta', status: 429, cuerpo: '', cabeceras: { 'retry-after': fecha } })
    expect((envio as { esperar_s: number }).esperar_s).toBeGreaterThan(85)
    expect((envio as { esperar_s: number }).esperar_s).toBeLessThanOrEqual(90)
  })

  test('details never carry phones, tokens or control characters', async () => {
    const detalles = `Recipient +502 5555-1234 (50255551234) token ${proveedor.config.token}\u0007 ${'x'.repeat(500)}`
    const envio = await con({ tipo: 'error', status: 400, error: { code: 131030, detalles } })
    expect((envio as { motivo: string }).motivo).toContain('Recipient ***34 (***34) token *** xxx')
    expect((envio as { motivo: string }).motivo.length).toBeLessThan(400)
  })

  test('the stand-in checks as Meta does: a wrong token, number, template', async () => {
    for (const [cambio, codigo] of [
      [{ token: 'otro' }, '190'],
      [{ phoneNumberId: '1' }, '100'],
      [{ plantilla: 'otra' }, '132001'],
      [{ idioma: 'en' }, '132001'],
    ] as const) {
      const otro = crearClienteDeWhatsapp({ ...proveedor.config, ...cambio })
      expect(await otro.enviarPlantilla(DATOS)).toMatchObject({ resultado: 'rechazado', codigo })
      await otro.cerrar()
    }
    expect(await cliente.enviarTexto({ ...PETICION, telefono: '+1' })).toMatchObject({ codigo: '131009' })
    expect(proveedor.aceptados).toEqual([])
  })
})

// --- What remains in doubt ---

describe('it may have been sent', () => {
  test.each<[string, Desenlace, RegExp]>([
    ['hangs after reading', { tipo: 'colgar' }, /plazo/],
    ['closes after reading', { tipo: 'cerrar' }, /UND_ERR_SOCKET|ECONNRESET/],
    ['closes before reading', { tipo: 'cerrar_sin_leer' }, /UND_ERR_SOCKET|ECONNRESET|EPIPE/],
    ['gives half an answer', { tipo: 'media_respuesta' }, /UND_ERR_SOCKET|ECONNRESET/],
    ['answers too late', { tipo: 'aceptar', demora: PLAZO * 2 }, /plazo/],
    ['answers no JSON', { tipo: 'respuesta', status: 200, cuerpo: '<html>' }, /sin dar el id/],
    ['answers without an id', { tipo: 'respuesta', status: 200, cuerpo: '{"messages":[{}]}' }, /sin dar el id/],
    ['answers nothing', { tipo: 'respuesta', status: 204, cuerpo: '' }, /sin dar el id/],
    ['answers without end', { tipo: 'respuesta', status: 200, cuerpo: 'x'.repeat(100_000) }, /respuesta_larga/],
    ['stands behind a gateway that gave up', { tipo: 'respuesta', status: 504, cuerpo: '<h1>504</h1>' }, /504/],
    ['stands behind a gateway that lost it', { tipo: 'respuesta', status: 502, cuerpo: '' }, /502/],
  ])('who %s', async (_caso, desenlace, motivo) => {
    expect(await con(desenlace)).toEqual({ resultado: 'dudoso', motivo: expect.stringMatching(motivo) })
    // Nothing is repeated behind our back.
    await pausa(50)
    expect(proveedor.pedidos.length).toBe(desenlace.tipo === 'cerrar_sin_leer' ? 0 : 1)
    expect(await cliente.enviarPlantilla(DATOS)).toMatchObject({ resultado: 'aceptado' })
  })

  test('the same on a connection that has served before', async () => {
    expect(await cliente.enviarPlantilla(DATOS)).toMatchObject({ resultado: 'aceptado' })
    for (const tipo of ['cerrar', 'cerrar_sin_leer', 'media_respuesta', 'colgar'] as const) {
      expect(await con({ tipo })).toMatchObject({ resultado: 'dudoso' })
      expect(await cliente.enviarPlantilla(DATOS)).toMatchObject({ resultado: 'aceptado' })
    }
  })

  test('a 1xx answer is none', async () => {
    await using servidor = await crudo((socket) => socket.write('HTTP/1.1 103 Early Hints\r\n\r\n'))
    expect(await enviarA(servidor.url)).toMatchObject({ resultado: 'dudoso' })
  })

  test.each([
    ['no HTTP', '220 hola\r\n'],
    ['half a status line', 'HTTP/1.1 40'],
    ['half an error', 'HTTP/1.1 400 Bad Request\r\nContent-Length: 500\r\n\r\n{"error":{"code":190'],
    ['endless headers', `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(20_000)}\r\n\r\n`],
  ])('an answer that is %s', async (_caso, bytes) => {
    await using servidor = await crudo((socket) => socket.end(bytes))
    expect(await enviarA(servidor.url)).toMatchObject({ resultado: 'dudoso' })
    expect(servidor.solicitudes()).toBe(1)
  })

  test('closing the client ends what is under way', async () => {
    proveedor.siempre = { tipo: 'colgar' }
    const enviando = cliente.enviarPlantilla(DATOS)
    await vi.waitFor(() => expect(proveedor.pedidos).toHaveLength(1))
    await cliente.cerrar()
    expect(await enviando).toEqual({ resultado: 'dudoso', motivo: expect.stringMatching(/cerrado/) })
    expect(await cliente.enviarPlantilla(DATOS)).toMatchObject({ resultado: 'pasajero', codigo: 'cerrado' })
    expect(proveedor.pedidos).toHaveLength(1)
  })
})

describe('it was surely not sent', () => {
  test('nobody listens', async () => {
    await using servidor = await crudo(() => {})
    const { url } = servidor
    await servidor[Symbol.asyncDispose]()
    expect(await enviarA(url)).toEqual({
      resultado: 'pasajero',
      codigo: 'ECONNREFUSED',
      motivo: expect.stringContaining('No se llegó a enviar'),
      esperar_s: null,
    })
  })

  test('the name is not known', async () => {
    const envio = await enviarA('https://no-existe.invalid')
    expect(envio).toMatchObject({ resultado: 'pasajero', codigo: expect.stringMatching(/ENOTFOUND|EAI_AGAIN|plazo/) })
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closes', (socket) => socket.destroy()],
    ['answers no TLS', (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')],
    ['hangs', () => {}],
  ])('who %s in the TLS handshake', async (_caso, atender) => {
    await using servidor = await crudo(atender)
    expect(await enviarA(servidor.url.replace('http:', 'https:'))).toMatchObject({ resultado: 'pasajero' })
  })

  test('a certificate that is not to be trusted; a good one is', async () => {
    const par = certificado([paraNombre('localhost')])
    const recibidos: string[] = []
    const servidor = tls.createServer(par, (socket) => {
      socket
        .on('error', () => {})
        .on('data', (datos) => {
          recibidos.push(String(datos))
          socket.end('HTTP/1.1 400 X\r\nContent-Length: 0\r\n\r\n')
        })
    })
    servidor.on('tlsClientError', () => {})
    await once(servidor.listen(0, '127.0.0.1'), 'listening')
    const { port } = servidor.address() as net.AddressInfo
    expect(await enviarA(`https://localhost:${port}`)).toMatchObject({
      resultado: 'pasajero',
      codigo: 'DEPTH_ZERO_SELF_SIGNED_CERT',
    })
    expect(await enviarA(`https://127.0.0.1:${port}`, { ca: par.cert })).toMatchObject({ resultado: 'pasajero' })
    expect(recibidos).toEqual([])
    expect(await enviarA(`https://localhost:${port}`, { ca: par.cert })).toMatchObject({ codigo: 'http_400' })
    expect(recibidos).toHaveLength(1)
    servidor.close()
  })

  test('who waits for a connection past the deadline never leaves after it', async () => {
    const una = crearClienteDeWhatsapp(proveedor.config, { plazo: PLAZO, conexiones: 1 })
    proveedor.siguientes.push({ tipo: 'aceptar', demora: PLAZO - 60 })
    const primero = una.enviarTexto({ ...PETICION, id: 'primero' })
    await vi.waitFor(() => expect(proveedor.pedidos).toHaveLength(1))
    proveedor.siguientes.push({ tipo: 'colgar' })
    const segundo = una.enviarTexto({ ...PETICION, id: 'segundo' })
    const tercero = una.enviarTexto({ ...PETICION, id: 'tercero' })
    expect(await primero).toMatchObject({ resultado: 'aceptado' })
    expect(await segundo).toMatchObject({ resultado: 'dudoso' })
    expect(await tercero).toMatchObject({ resultado: 'pasajero', codigo: 'plazo' })
    await pausa(100)
    expect(proveedor.aceptados.map(({ nuestroId }) => nuestroId)).toEqual(['primero', 'segundo'])
    expect(await una.enviarTexto(PETICION)).toMatchObject({ resultado: 'aceptado' })
    await una.cerrar()
  })

  test('a token that fits in no header is a fault of the configuration', async () => {
    const malo = crearClienteDeWhatsapp({ ...proveedor.config, token: 'uno\r\nX: dos' })
    expect(await malo.enviarTexto(PETICION)).toMatchObject({ resultado: 'rechazado', codigo: 'configuracion' })
    await malo.cerrar()
    expect(proveedor.pedidos).toEqual([])
  })
})

/** A server that does what it likes with the socket at every request. */
async function crudo(atender: (socket: net.Socket) => void) {
  let solicitudes = 0
  const abiertas = new Set<net.Socket>()
  const servidor = net.createServer((socket) => {
    abiertas.add(socket)
    socket
      .on('error', () => {})
      .on('data', () => {
        solicitudes++
        atender(socket)
      })
  })
  await once(servidor.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(servidor.address() as net.AddressInfo).port}`,
    solicitudes: () => solicitudes,
    async [Symbol.asyncDispose]() {
      for (const socket of abiertas) socket.destroy()
      if (servidor.listening) await new Promise((listo) => servidor.close(listo))
    },
  }
}

async function enviarA(baseUrl: string, opciones: { ca?: string } = {}): Promise<Envio> {
  const otro = crearClienteDeWhatsapp({ ...proveedor.config, baseUrl }, { plazo: PLAZO, ...opciones })
  const envio = sinSecretos(await otro.enviarTexto(PETICION))
  await otro.cerrar()
  return envio
}

// --- Signatures and the challenge ---

describe('signatures', () => {
  const crudo = Buffer.from('{"object":"whatsapp_business_account","ñ":"\\u00f1"}')
  const SECRETO = 'secreto'
  const buena = firmar(crudo, SECRETO)

  test('a known one', () => {
    // printf '{}' | openssl dgst -sha256 -hmac secreto
    const conocida = 'sha256=9b09d74c60be8d716f80e3db365e4e4f49b2b1a55a3d1d5931e96eb98dde17e9'
    expect(firmaValida(Buffer.from('{}'), conocida, SECRETO)).toBe(true)
  })

  test('good, in either case of its digits', () => {
    expect(firmaValida(crudo, buena, SECRETO)).toBe(true)
    expect(firmaValida(crudo, `sha256=${buena.slice(7).toUpperCase()}`, SECRETO)).toBe(true)
  })

  test.each<[string, string | undefined]>([
    ['missing', undefined],
    ['empty', ''],
    ['without its algorithm', buena.slice(7)],
    ['of another algorithm', buena.replace('sha256', 'sha1')],
    ['short', buena.slice(0, -1)],
    ['long', `${buena}0`],
    ['no hexadecimal', `sha256=${'z'.repeat(64)}`],
    ['two of them', `${buena}, ${buena}`],
    ['with a line break', `${buena}\n`],
    ["another secret's", firmar(crudo, 'otro')],
    ["another body's", firmar(`${crudo} `, SECRETO)],
  ])('%s', (_caso, cabecera) => {
    expect(firmaValida(crudo, cabecera, SECRETO)).toBe(false)
  })

  test('any altered byte of the body or digit of the signature', () => {
    for (let i = 0; i < crudo.length; i++) {
      const otro = Buffer.from(crudo)
      otro[i]! ^= 1
      expect(firmaValida(otro, buena, SECRETO)).toBe(false)
    }
    for (let i = 7; i < buena.length; i++) {
      const otra = buena.slice(0, i) + (buena[i] === '0' ? '1' : '0') + buena.slice(i + 1)
      expect(firmaValida(crudo, otra, SECRETO)).toBe(false)
    }
  })

  test('an empty secret admits nobody', () => {
    expect(firmaValida(crudo, firmar(crudo, ''), '')).toBe(false)
  })
})

describe('the challenge', () => {
  const BUENA = { 'hub.mode': 'subscribe', 'hub.verify_token': 'reto', 'hub.challenge': '1158201444' }
  test('is echoed to who knows the token', () => {
    expect(responderReto(BUENA, 'reto')).toBe('1158201444')
  })
  test.each<[string, Record<string, unknown>]>([
    ['another token', { ...BUENA, 'hub.verify_token': 'Reto' }],
    ['no token', { ...BUENA, 'hub.verify_token': undefined }],
    ['a repeated token', { ...BUENA, 'hub.verify_token': ['reto', 'reto'] }],
    ['another mode', { ...BUENA, 'hub.mode': 'unsubscribe' }],
    ['no mode', { ...BUENA, 'hub.mode': undefined }],
    ['no challenge', { ...BUENA, 'hub.challenge': undefined }],
    ['an empty challenge', { ...BUENA, 'hub.challenge': '' }],
    ['a repeated challenge', { ...BUENA, 'hub.challenge': ['1', '2'] }],
    ['a challenge with markup', { ...BUENA, 'hub.challenge': '<script>' }],
    ['an endless challenge', { ...BUENA, 'hub.challenge': '1'.repeat(257) }],
    ['nothing', {}],
  ])('%s', (_caso, consulta) => {
    expect(responderReto(consulta, 'reto')).toBeUndefined()
  })
  test('an empty token admits nobody', () => {
    expect(responderReto({ ...BUENA, 'hub.verify_token': '' }, '')).toBeUndefined()
  })
})

// --- Webhooks ---

describe('webhooks', () => {
  const NUMERO = '106540352242922'
  const EN = new Date('2026-11-20T18:30:05Z')
  const leer = (cuerpo: unknown) => leerEntrantes(JSON.parse(JSON.stringify(cuerpo)), NUMERO)
  const leerUno = (crudo: object) => leer(aviso({ messages: [crudo] }))
  const comun = { telefono: TELEFONO, enRespuestaA: null, en: EN }

  test.each([
    ['sent', 'enviado'],
    ['delivered', 'entregado'],
    ['read', 'leido'],
  ])('a status: %s', (status, leido) => {
    const crudo = estado(status, { wamid: 'wamid.1', para: '50255551234', nuestroId: 'men_1', en: EN })
    expect(leer(aviso({ statuses: [crudo] }))).toEqual([
      {
        tipo: 'estado',
        proveedorId: 'wamid.1',
        nuestroId: 'men_1',
        estado: leido,
        en: EN,
        codigo: null,
        motivo: null,
        telefono: TELEFONO,
      },
    ])
  })

  test('a failure, with its reason', () => {
    const error = { code: 131026, title: 'Message undeliverable', detalles: 'Message Undeliverable to +50255551234.' }
    const crudo = estado('failed', { wamid: 'wamid.1', para: '50255551234', en: EN, error })
    const [leido] = leer(aviso({ statuses: [crudo] }))
    expect(leido).toMatchObject({ estado: 'fallido', nuestroId: null, codigo: '131026' })
    expect((leido as { motivo: string }).motivo).toMatch(
      /no usa WhatsApp.*\(Meta: «Message Undeliverable to \*\*\*34\.»\)/,
    )
  })

  test.each<[string, unknown, string | null, RegExp]>([
    ['none', undefined, null, /desconocido/],
    ['empty', [], null, /desconocido/],
    ['no list', { code: 1 }, null, /desconocido/],
    ['a code as text', [{ code: '131047' }], '131047', /24 horas/],
    ['unknown', [{ code: 777, title: 'Rare' }], '777', /777.*«Rare»/],
  ])('a failure with odd errors: %s', (_caso, errors, codigo, motivo) => {
    const crudo = { ...estado('failed', { wamid: 'w', para: '50255551234', en: EN }), errors }
    expect(leer(aviso({ statuses: [crudo] }))).toMatchObject([{ codigo, motivo: expect.stringMatching(motivo) }])
  })

  test('a location, in answer to ours', () => {
    const lugar = { latitude: 14.6349, longitude: -90.5069, name: 'Casa', address: 'Zona 1', url: 'https://x' }
    expect(leerUno(mensaje('location', lugar, { en: EN, wamid: 'wamid.2', enRespuestaA: 'wamid.1' }))).toEqual([
      {
        tipo: 'ubicacion',
        proveedorId: 'wamid.2',
        ...comun,
        enRespuestaA: 'wamid.1',
        lat: 14.6349,
        lng: -90.5069,
        nombre: 'Casa',
        direccion: 'Zona 1',
      },
    ])
    expect(leerUno(mensaje('location', { latitude: 0, longitude: -90 }, { en: EN }))).toMatchObject([
      { tipo: 'ubicacion', lat: 0, lng: -90, nombre: null, direccion: null, enRespuestaA: null },
    ])
  })

  test.each([
    [91, 0],
    [0, 181],
    ['14.6', '-90.5'],
    [null, -90],
    [undefined, undefined],
  ])('no location at all: %s, %s', (latitude, longitude) => {
    expect(leerUno(mensaje('location', { latitude, longitude }))).toEqual([])
  })

  test.each<[string, unknown, string]>([
    ['text', { body: 'Vivo en zona 1' }, 'Vivo en zona 1'],
    ['button', { text: 'Compartir', payload: 'p' }, 'Compartir'],
    ['interactive', { type: 'button_reply', button_reply: { id: '1', title: 'Sí' } }, 'Sí'],
    ['interactive', { type: 'list_reply', list_reply: { id: '1', title: 'Casa', description: 'x' } }, 'Casa'],
    ['interactive', { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{}' } }, 'Sent'],
    ['image', { caption: 'mi casa', mime_type: 'image/jpeg', sha256: 'x', id: '1' }, 'mi casa'],
    ['video', { mime_type: 'video/mp4', id: '1' }, ''],
    ['audio', { mime_type: 'audio/ogg; codecs=opus', id: '1', voice: true }, ''],
    ['document', { filename: 'a.pdf', caption: 'croquis', id: '1' }, 'croquis'],
    ['sticker', { mime_type: 'image/webp', id: '1', animated: false }, ''],
    ['contacts', [{ name: { formatted_name: 'Ana' } }], ''],
    ['order', { catalog_id: '1', text: 'quiero', product_items: [] }, 'quiero'],
    ['system', { body: 'User A changed from 1 to 2', type: 'user_changed_number' }, 'User A changed from 1 to 2'],
    ['unsupported', undefined, ''],
    ['de_otro_siglo', { body: 'hola' }, 'hola'],
    ['__proto__', undefined, ''],
    ['constructor', undefined, ''],
    ['from', '50255551234', ''],
  ])('a message of type %s counts as text', (type, contenido, texto) => {
    expect(
      leerUno({ ...mensaje('x', 1, { en: EN, wamid: 'w' }), [type]: contenido, from: '50255551234', type }),
    ).toEqual([{ tipo: 'texto', proveedorId: 'w', ...comun, texto }])
  })

  test('a reaction answers what it reacts to', () => {
    expect(leerUno(mensaje('reaction', { message_id: 'wamid.1', emoji: '👍' }))).toMatchObject([
      { tipo: 'texto', texto: '👍', enRespuestaA: 'wamid.1' },
    ])
  })

  test('what PostgreSQL cannot store is left out, what is endless is cut', () => {
    const [leido] = leerEntrantes(
      aviso({ messages: [mensaje('text', { body: `a\0b\ud800${'ñ'.repeat(9000)}` })] }),
      NUMERO,
    )
    expect((leido as { texto: string }).texto).toMatch(/^ab\ufffdñ+$/)
    expect((leido as { texto: string }).texto.length).toBeLessThanOrEqual(4096)
  })

  test.each([
    ['50255551234', '+50255551234'],
    ['+50255551234', '+50255551234'],
    ['5215512345678', '+525512345678'],
    ['525512345678', '+525512345678'],
    ['52155123456', '+52155123456'],
    ['5491123456789', '+5491123456789'],
  ])('a phone: %s', (de, telefono) => {
    expect(leerUno(mensaje('text', { body: 'x' }, { de }))).toMatchObject([{ telefono }])
  })

  test('everything in its order, and what is not understood is skipped', () => {
    const de = (n: string) => mensaje('text', { body: n }, { wamid: n })
    const con = (n: string) => estado('sent', { wamid: n, para: '50255551234' })
    const [uno, dos] = [
      aviso({ messages: [de('1'), null!, de('2')], statuses: [con('3')] }),
      aviso({ statuses: [con('4'), { id: 'x' }, con('5')] }),
    ]
    const ajeno = aviso({ messages: [de('no')] }, '999')
    const otroCampo = aviso({ messages: [de('no')] }, NUMERO, 'message_template_status_update')
    const cuerpo = {
      object: 'whatsapp_business_account',
      entry: [...uno.entry, null, 7, ...ajeno.entry, { changes: 'x' }, ...otroCampo.entry, ...dos.entry],
    }
    expect(leer(cuerpo).map(({ proveedorId }) => proveedorId)).toEqual(['1', '2', '3', '4', '5'])
  })

  test.each<[string, object]>([
    ['no id', { id: undefined }],
    ['an empty id', { id: '' }],
    ['no phone', { from: undefined }],
    ['a phone that is none', { from: 'GT.abc' }],
    ['no time', { timestamp: undefined }],
    ['a time that is none', { timestamp: '2026-11-20' }],
    ['a time past all time', { timestamp: '99999999999999' }],
  ])('a message with %s is skipped', (_caso, cambio) => {
    expect(leerUno({ ...mensaje('text', { body: 'x' }), ...cambio })).toEqual([])
  })

  test.each(['deleted', 'warning', 'played', 'toString', '__proto__', ''])(
    'a status that means nothing to us: %s',
    (status) => {
      expect(leer(aviso({ statuses: [estado(status, { wamid: 'w', para: '50255551234' })] }))).toEqual([])
    },
  )

  test.each([
    null,
    undefined,
    0,
    '',
    'x',
    [],
    {},
    { object: 'page', entry: [] },
    { object: 'whatsapp_business_account' },
  ])('garbage: %j', (cuerpo) => expect(leerEntrantes(cuerpo, NUMERO)).toEqual([]))

  // --- Properties ---

  // One assertion for all: there are hundreds of thousands of values.
  const esSano = (leido: Entrante) =>
    leido.proveedorId !== '' &&
    /^\+[1-9]\d{5,14}$/.test(leido.telefono) &&
    !Number.isNaN(leido.en.getTime()) &&
    Object.values(leido).every((valor) => typeof valor !== 'string' || (valor.isWellFormed() && !valor.includes('\0')))
  function sano(leidos: Entrante[]) {
    expect(leidos.filter((leido) => !esSano(leido))).toEqual([])
  }

  test('never throws on any JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (cuerpo) => sano(leerEntrantes(cuerpo, NUMERO))),
      { numRuns: 1000 },
    )
  })

  test('never throws on a real body with anything in place of any of its parts', () => {
    const cuerpo = aviso({
      messages: [
        mensaje('location', { latitude: 14.6, longitude: -90.5, name: 'x', address: 'y' }, { enRespuestaA: 'w' }),
        mensaje('text', { body: 'hola' }),
        mensaje('interactive', { button_reply: { title: 'Sí' } }),
      ],
      statuses: [estado('failed', { wamid: 'w', para: '50255551234', error: { code: 131026, detalles: 'x' } })],
    })
    const caminos: (string | number)[][] = []
    const recorrer = (valor: unknown, camino: (string | number)[]) => {
      caminos.push(camino)
      if (typeof valor === 'object' && valor) {
        for (const [clave, hijo] of Object.entries(valor)) recorrer(hijo, [...camino, clave])
      }
    }
    recorrer(cuerpo, [])
    fc.assert(
      fc.property(
        fc.constantFrom(...caminos),
        fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.string({ unit: 'binary' })),
        (camino, nuevo) => {
          const copia = { raiz: structuredClone(cuerpo) as unknown }
          const hasta = ['raiz', ...camino]
          // biome-ignore lint/suspicious/noExplicitAny: it walks whatever there is
          const padre = hasta.slice(0, -1).reduce((valor: any, clave) => valor[clave], copia)
          padre[hasta.at(-1)!] = nuevo
          sano(leerEntrantes(copia.raiz, NUMERO))
        },
      ),
      { numRuns: 3000 },
    )
  })
})

describe('the stand-in', () => {
  test('sends webhooks that are signed, or not', async () => {
    const vistos: boolean[] = []
    const { createServer } = await import('node:http')
    const servidor = createServer(async (req, res) => {
      const crudo = Buffer.concat(await req.toArray())
      const buena = firmaValida(crudo, String(req.headers['x-hub-signature-256']), proveedor.config.appSecret)
      vistos.push(buena)
      res.writeHead(buena ? 200 : 401).end()
    })
    await once(servidor.listen(0, '127.0.0.1'), 'listening')
    const url = `http://127.0.0.1:${(servidor.address() as net.AddressInfo).port}/`
    const cuerpo = aviso({ messages: [mensaje('text', { body: 'ñ' })] })
    expect(await proveedor.avisar(url, cuerpo)).toBe(200)
    expect(await proveedor.avisar(url, cuerpo, null)).toBe(401)
    expect(await proveedor.avisar(url, cuerpo, 'sha256=00')).toBe(401)
    expect(vistos).toEqual([true, false, false])
    servidor.closeAllConnections()
    servidor.close()
  })

  test('its outcomes by phone', async () => {
    proveedor.porTelefono.set('50255550000', { tipo: 'error', status: 400, error: { code: 131026 } })
    expect(await cliente.enviarTexto({ ...PETICION, telefono: '+50255550000' })).toMatchObject({ codigo: '131026' })
    expect(await cliente.enviarTexto(PETICION)).toMatchObject({ resultado: 'aceptado' })
  })
})

test('every code that is known has a sentence of its own that names a remedy', () => {
  const vistos = new Set<string>()
  for (let codigo = 0; codigo < 140_000; codigo++) {
    const veredicto = juzgarCodigo(String(codigo))
    if (!veredicto || /^2\d\d$/.test(String(codigo))) continue
    expect(veredicto.motivo).toMatch(/^[A-Z].*[:;] .+\.$/)
    vistos.add(String(codigo))
  }
  expect(vistos.size).toBeGreaterThanOrEqual(42)
  for (const raro of ['', 'constructor', '__proto__', 'toString', '-1']) expect(juzgarCodigo(raro)).toBeNull()
})
