import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { createSender } from '../../../server/domain/webhooks/sending/sender.ts'
import type { HostResolver } from '../../../server/platform/outbound/destination.ts'
import { createCertificate, encodeDnsName, encodeIpName, type Par } from '../../certificate.ts'
import { EMPTY_RESPONSE, listenAsReceiver, openRawReceiver, responder, useSender } from './sender.ts'

const { send, expireAll } = useSender()

describe('TLS', () => {
  const NOMBRE = 'recibe.ejemplo.com'
  const good = createCertificate([encodeDnsName(NOMBRE), encodeIpName(8, 8, 8, 8)])

  /** Public addresses are all that https may go to, so the way there is bent here, at the last step, and nothing else. */
  function divert(port: number, onOpen = (_socket: tls.TLSSocket): unknown => null) {
    vi.restoreAllMocks()
    const original = tls.connect as (options: tls.ConnectionOptions) => tls.TLSSocket
    const destinos: unknown[] = []
    vi.spyOn(tls, 'connect').mockImplementation(((options: tls.ConnectionOptions) => {
      options.lookup!(options.host!, { all: true }, (_error, direcciones) => destinos.push(direcciones))
      const socket = original({ ...options, socket: net.connect(port, '127.0.0.1') })
      onOpen(socket)
      return socket
    }) as typeof tls.connect)
    return destinos
  }
  const publicVariant: HostResolver = async () => [{ address: '8.8.8.8', family: 4 }]

  async function probar(pair: Par, options: { url?: string; ca?: string | undefined } = {}) {
    const { url = `https://${NOMBRE}/hooks`, ca = good.cert } = options
    const seen: unknown[] = []
    const server = https.createServer(pair, (req, res) => {
      seen.push([(req.socket as tls.TLSSocket).servername, req.headers.host, req.url])
      // An answer before the final one comes through the same bytes, also encrypted.
      res.writeContinue()
      res.writeHead(204).end()
    })
    server.on('tlsClientError', () => {})
    await using receptor = await listenAsReceiver(server)
    const destinos = divert(receptor.port)
    const seguro = createSender({ resolver: publicVariant, ca })
    const responses = [await send(url, { loopback: false }, seguro), await send(url, { loopback: false }, seguro)]
    await seguro.close()
    return {
      respuesta: responses[0]!,
      second: responses[1]!,
      seen,
      destinations: destinos,
      connections: receptor.connections(),
    }
  }

  test('a good certificate, to the address that was checked', async () => {
    const { respuesta: response, second, seen, destinations: destinos, connections } = await probar(good)
    expect(response).toMatchObject({ status: 204, error: null, ip: '127.0.0.1' })
    expect(response.tls_ms).toBeGreaterThan(0)
    expect(second).toMatchObject({ status: 204, tls_ms: null })
    expect(seen[0]).toEqual([NOMBRE, NOMBRE, '/hooks'])
    expect(destinos).toEqual([[{ address: '8.8.8.8', family: 4 }]])
    expect(connections).toBe(1)
  })

  test('a name with its final dot and a port, and a literal with its own certificate', async () => {
    const point = await probar(good, { url: `https://${NOMBRE}.:8443/` })
    expect(point.respuesta.status).toBe(204)
    expect(point.seen[0]).toEqual([NOMBRE, `${NOMBRE}:8443`, '/'])
    const literal = await probar(good, { url: 'https://8.8.8.8/' })
    expect(literal.respuesta.status).toBe(204)
    expect(literal.seen[0]).toEqual([false, '8.8.8.8', '/'])
  })

  const foreign = createCertificate([encodeDnsName(NOMBRE)])
  const otherName = createCertificate([encodeDnsName('otro.ejemplo.com')])
  const expiredCase = createCertificate([encodeDnsName(NOMBRE)], ['2020', '2021'])
  const otherIpCertificate = createCertificate([encodeIpName(1, 1, 1, 1), encodeDnsName('8.8.8.8')])
  test.each<[string, Par, { url?: string; ca?: string }, string]>([
    ['that nobody vouches for', foreign, {}, 'autofirmado'],
    ['of another name', otherName, { ca: otherName.cert }, 'otro nombre'],
    ['of another address', otherIpCertificate, { ca: otherIpCertificate.cert, url: 'https://8.8.8.8/' }, 'otro nombre'],
    ['past its date', expiredCase, { ca: expiredCase.cert }, 'venció'],
  ])('a certificate %s', async (_case, pair, options, detalle) => {
    // Not even the usual way to turn verification off may do so here.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { respuesta: response, seen } = await probar(pair, options)
    expect(response).toMatchObject({ status: null, error: 'tls', cuerpo: null, tls_ms: null })
    expect(response.detalle).toContain(detalle)
    expect(seen).toEqual([])
  })

  test('without a `ca`, the well-known authorities alone are trusted', async () => {
    const seguro = createSender({ resolver: publicVariant })
    await using receptor = await listenAsReceiver(
      https.createServer(good, responder(204)).on('tlsClientError', () => {}),
    )
    divert(receptor.port)
    expect((await send(`https://${NOMBRE}/`, {}, seguro)).error).toBe('tls')
    await seguro.close()
  })

  test.each([
    ['talks', '220 listo\r\n'],
    ['answers', EMPTY_RESPONSE],
  ])('a receiver that %s before the request gets one connection and no request', async (_case, bytes) => {
    const server = tls.createServer(good, (socket) => socket.on('error', () => {}).resume())
    await using receptor = await listenAsReceiver(server)
    // As if it had come together with the end of the handshake.
    divert(receptor.port, (socket) => socket.once('secureConnect', () => socket.unshift(Buffer.from(bytes))))
    const seguro = createSender({ resolver: publicVariant, ca: good.cert })
    const response = await send(`https://${NOMBRE}/`, {}, seguro)
    await seguro.close()
    expect(response).toMatchObject({ status: null, error: 'respuesta_invalida' })
    expect(receptor.connections()).toBe(1)
  })

  test('a receiver that wants a certificate of ours, which TLS 1.3 tells after the handshake', async () => {
    // Node's own server closes without a word; others send this alert.
    const tlsAlert = Object.assign(new Error('alert 116'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })
    let clientSocket: tls.TLSSocket | undefined
    const server = tls.createServer(good, (socket) =>
      socket.on('error', () => {}).once('data', () => clientSocket!.destroy(tlsAlert)),
    )
    await using receptor = await listenAsReceiver(server)
    divert(receptor.port, (socket) => {
      clientSocket = socket
    })
    const seguro = createSender({ resolver: publicVariant, ca: good.cert })
    const response = await send(`https://${NOMBRE}/`, {}, seguro)
    await seguro.close()
    expect(response).toMatchObject({ status: null, error: 'tls', detalle: expect.stringContaining('certificado') })
  })

  test.each<[string, (socket: net.Socket) => void, string]>([
    ['plain HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), 'tls'],
    ['closing in the middle of the handshake', (socket) => socket.end(), 'tls'],
    ['hanging in the handshake', () => expireAll(), 'tiempo_agotado'],
  ])('%s on a port of https', async (_case, handle, error) => {
    const seguro = createSender({ resolver: publicVariant })
    await using receptor = await openRawReceiver(handle)
    divert(receptor.port)
    const response = await send(`https://${NOMBRE}/`, {}, seguro)
    expect(response).toMatchObject({ status: null, error, tls_ms: null })
    expect(response.detalle).toContain('TLS')
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    await seguro.close()
  })
})
