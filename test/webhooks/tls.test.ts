import https from 'node:https'
import net from 'node:net'
import tls from 'node:tls'
import { describe, expect, test, vi } from 'vitest'
import { createSender } from '../../server/domain/webhooks/sending/sender.ts'
import type { HostResolver } from '../../server/platform/outbound/destination.ts'
import { createCertificate, encodeDnsName, encodeIpName, type Par } from '../certificate.ts'
import { EMPTY_RESPONSE, listenAsReceiver, openRawReceiver, responder, useSender } from './sender.ts'

const { send: enviar, vencer } = useSender()

describe('TLS', () => {
  const NOMBRE = 'recibe.ejemplo.com'
  const bueno = createCertificate([encodeDnsName(NOMBRE), encodeIpName(8, 8, 8, 8)])

  /** Public addresses are all that https may go to, so the way there is bent here, at the last step, and nothing else. */
  function desviar(port: number, alAbrir = (_socket: tls.TLSSocket): unknown => null) {
    vi.restoreAllMocks()
    const original = tls.connect as (opciones: tls.ConnectionOptions) => tls.TLSSocket
    const destinos: unknown[] = []
    vi.spyOn(tls, 'connect').mockImplementation(((opciones: tls.ConnectionOptions) => {
      opciones.lookup!(opciones.host!, { all: true }, (_error, direcciones) => destinos.push(direcciones))
      const socket = original({ ...opciones, socket: net.connect(port, '127.0.0.1') })
      alAbrir(socket)
      return socket
    }) as typeof tls.connect)
    return destinos
  }
  const publico: HostResolver = async () => [{ address: '8.8.8.8', family: 4 }]

  async function probar(par: Par, opciones: { url?: string; ca?: string | undefined } = {}) {
    const { url = `https://${NOMBRE}/hooks`, ca = bueno.cert } = opciones
    const vistos: unknown[] = []
    const servidor = https.createServer(par, (req, res) => {
      vistos.push([(req.socket as tls.TLSSocket).servername, req.headers.host, req.url])
      // An answer before the final one comes through the same bytes, also encrypted.
      res.writeContinue()
      res.writeHead(204).end()
    })
    servidor.on('tlsClientError', () => {})
    await using receptor = await listenAsReceiver(servidor)
    const destinos = desviar(receptor.port)
    const seguro = createSender({ resolver: publico, ca })
    const respuestas = [await enviar(url, { loopback: false }, seguro), await enviar(url, { loopback: false }, seguro)]
    await seguro.close()
    return {
      respuesta: respuestas[0]!,
      second: respuestas[1]!,
      seen: vistos,
      destinations: destinos,
      connections: receptor.connections(),
    }
  }

  test('a good certificate, to the address that was checked', async () => {
    const {
      respuesta,
      second: segunda,
      seen: vistos,
      destinations: destinos,
      connections: conexiones,
    } = await probar(bueno)
    expect(respuesta).toMatchObject({ status: 204, error: null, ip: '127.0.0.1' })
    expect(respuesta.tls_ms).toBeGreaterThan(0)
    expect(segunda).toMatchObject({ status: 204, tls_ms: null })
    expect(vistos[0]).toEqual([NOMBRE, NOMBRE, '/hooks'])
    expect(destinos).toEqual([[{ address: '8.8.8.8', family: 4 }]])
    expect(conexiones).toBe(1)
  })

  test('a name with its final dot and a port, and a literal with its own certificate', async () => {
    const punto = await probar(bueno, { url: `https://${NOMBRE}.:8443/` })
    expect(punto.respuesta.status).toBe(204)
    expect(punto.seen[0]).toEqual([NOMBRE, `${NOMBRE}:8443`, '/'])
    const literal = await probar(bueno, { url: 'https://8.8.8.8/' })
    expect(literal.respuesta.status).toBe(204)
    expect(literal.seen[0]).toEqual([false, '8.8.8.8', '/'])
  })

  const ajeno = createCertificate([encodeDnsName(NOMBRE)])
  const otroNombre = createCertificate([encodeDnsName('otro.ejemplo.com')])
  const vencido = createCertificate([encodeDnsName(NOMBRE)], ['2020', '2021'])
  const otraIp = createCertificate([encodeIpName(1, 1, 1, 1), encodeDnsName('8.8.8.8')])
  test.each<[string, Par, { url?: string; ca?: string }, string]>([
    ['that nobody vouches for', ajeno, {}, 'autofirmado'],
    ['of another name', otroNombre, { ca: otroNombre.cert }, 'otro nombre'],
    ['of another address', otraIp, { ca: otraIp.cert, url: 'https://8.8.8.8/' }, 'otro nombre'],
    ['past its date', vencido, { ca: vencido.cert }, 'venció'],
  ])('a certificate %s', async (_caso, par, opciones, detalle) => {
    // Not even the usual way to turn verification off may do so here.
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0')
    const { respuesta, seen: vistos } = await probar(par, opciones)
    expect(respuesta).toMatchObject({ status: null, error: 'tls', cuerpo: null, tls_ms: null })
    expect(respuesta.detalle).toContain(detalle)
    expect(vistos).toEqual([])
  })

  test('without a `ca`, the well-known authorities alone are trusted', async () => {
    const seguro = createSender({ resolver: publico })
    await using receptor = await listenAsReceiver(
      https.createServer(bueno, responder(204)).on('tlsClientError', () => {}),
    )
    desviar(receptor.port)
    expect((await enviar(`https://${NOMBRE}/`, {}, seguro)).error).toBe('tls')
    await seguro.close()
  })

  test.each([
    ['talks', '220 listo\r\n'],
    ['answers', EMPTY_RESPONSE],
  ])('a receiver that %s before the request gets one connection and no request', async (_caso, bytes) => {
    const servidor = tls.createServer(bueno, (socket) => socket.on('error', () => {}).resume())
    await using receptor = await listenAsReceiver(servidor)
    // As if it had come together with the end of the handshake.
    desviar(receptor.port, (socket) => socket.once('secureConnect', () => socket.unshift(Buffer.from(bytes))))
    const seguro = createSender({ resolver: publico, ca: bueno.cert })
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    await seguro.close()
    expect(respuesta).toMatchObject({ status: null, error: 'respuesta_invalida' })
    expect(receptor.connections()).toBe(1)
  })

  test('a receiver that wants a certificate of ours, which TLS 1.3 tells after the handshake', async () => {
    // Node's own server closes without a word; others send this alert.
    const alerta = Object.assign(new Error('alert 116'), { code: 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED' })
    let suyo: tls.TLSSocket | undefined
    const servidor = tls.createServer(bueno, (socket) =>
      socket.on('error', () => {}).once('data', () => suyo!.destroy(alerta)),
    )
    await using receptor = await listenAsReceiver(servidor)
    desviar(receptor.port, (socket) => {
      suyo = socket
    })
    const seguro = createSender({ resolver: publico, ca: bueno.cert })
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    await seguro.close()
    expect(respuesta).toMatchObject({ status: null, error: 'tls', detalle: expect.stringContaining('certificado') })
  })

  test.each<[string, (socket: net.Socket) => void, string]>([
    ['plain HTTP', (socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'), 'tls'],
    ['closing in the middle of the handshake', (socket) => socket.end(), 'tls'],
    ['hanging in the handshake', () => vencer(), 'tiempo_agotado'],
  ])('%s on a port of https', async (_caso, atender, error) => {
    const seguro = createSender({ resolver: publico })
    await using receptor = await openRawReceiver(atender)
    desviar(receptor.port)
    const respuesta = await enviar(`https://${NOMBRE}/`, {}, seguro)
    expect(respuesta).toMatchObject({ status: null, error, tls_ms: null })
    expect(respuesta.detalle).toContain('TLS')
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    await seguro.close()
  })
})
