import http from 'node:http'
import net from 'node:net'
import { describe, expect, test } from 'vitest'
import { createSender } from '../../../server/domain/webhooks/sending/sender.ts'
import type { HostResolver } from '../../../server/platform/outbound/destination.ts'
import {
  EMPTY_RESPONSE,
  listenAsReceiver,
  openHttp,
  openRawReceiver,
  resolverLocal,
  responder,
  useSender,
} from './sender.ts'

const { send, deadlines } = useSender()

describe('connections', () => {
  test('one is reused by its endpoint, and its phases are not told again', async () => {
    await using receptor = await openHttp(responder(204))
    const first = await send(receptor.url)
    expect(first.conexion_ms).not.toBeNull()
    for (let i = 0; i < 5; i++) {
      expect(await send(receptor.url)).toMatchObject({
        status: 204,
        ip: '127.0.0.1',
        dns_ms: null,
        conexion_ms: null,
      })
    }
    expect(receptor.connections()).toBe(1)
  })

  test('none is shared between endpoints, nor between origins of one endpoint', async () => {
    await using receptor = await openHttp(responder(204))
    await send(receptor.url, { canal: 'uno' })
    await send(receptor.url, { canal: 'dos' })
    expect(receptor.connections()).toBe(2)
    await send(receptor.url.replace('127.0.0.1', 'localhost'), { canal: 'uno' })
    expect(receptor.connections()).toBe(3)
    await send(receptor.url, { canal: 'dos' })
    expect(receptor.connections()).toBe(3)
  })

  test('the address is judged at every exchange, reused connection or not', async () => {
    await using receptor = await openHttp(responder(204))
    expect((await send(receptor.url)).status).toBe(204)
    expect((await send(receptor.url, { loopback: false })).error).toBe('destino_no_permitido')
  })

  test.each([
    ['64 at once on one endpoint', () => 'uno', 64],
    ['64 at once on many', (i: number) => `c${i}`, 64],
  ])('%s', async (_case, canal, expectedItems) => {
    const pendientes: http.ServerResponse[] = []
    await using receptor = await openHttp((req, res) => {
      req.resume().on('end', () => {
        if (pendientes.push(res) === 64) for (const [i, one] of pendientes.entries()) one.writeHead(200).end(`${i}`)
      })
    })
    const responses = await Promise.all(Array.from({ length: 64 }, (_, i) => send(receptor.url, { canal: canal(i) })))
    expect(new Set(responses.map(({ status, cuerpo: body }) => `${status} ${body}`)).size).toBe(64)
    expect(receptor.connections()).toBe(expectedItems)
  })

  test('a name with several addresses: the next one when the first does not answer', async () => {
    await using receptor = await openHttp(responder(204))
    const severalItems = createSender({
      resolver: async () => [
        { address: '::1', family: 6 },
        { address: '127.0.0.1', family: 4 },
      ],
    })
    const response = await send(`http://localhost:${receptor.port}/`, {}, severalItems)
    await severalItems.close()
    expect(response).toMatchObject({ status: 204, ip: '127.0.0.1' })
  })

  test('an exchange that has ended leaves no timer behind', async () => {
    await using receptor = await openHttp(responder(204))
    for (let i = 0; i < 50; i++) await send(receptor.url)
    expect(deadlines()).toBe(0)
  })

  test('an idle one that the receiver closed is replaced unnoticed', async () => {
    await using receptor = await openRawReceiver((socket) => socket.write(EMPTY_RESPONSE))
    for (let i = 1; i <= 3; i++) {
      const response = await send(receptor.url)
      expect(response).toMatchObject({ status: 204, error: null })
      expect(response.conexion_ms).not.toBeNull()
      expect(receptor.connections()).toBe(i)
      for (const socket of receptor.openSockets) socket.end()
      await expect.poll(() => receptor.openSockets.size).toBe(0)
    }
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['closed', (socket) => socket.end()],
    ['reset', (socket) => socket.resetAndDestroy()],
  ])('a reused one %s as the request arrives: once more on a fresh one', async (_case, cut) => {
    await using receptor = await openRawReceiver((socket, solicitudes) =>
      solicitudes === 1 ? socket.write(EMPTY_RESPONSE) : cut(socket),
    )
    await send(receptor.url)
    const response = await send(receptor.url)
    expect(response).toMatchObject({ status: 204, error: null })
    expect(response.conexion_ms).not.toBeNull()
    expect(receptor.connections()).toBe(2)
  })

  test('but not a third time, nor once an answer has begun', async () => {
    let modo = 'bien'
    await using receptor = await openRawReceiver((socket) => {
      if (modo === 'bien') socket.write(EMPTY_RESPONSE)
      else socket.end(modo === 'a medias' ? 'HTTP/1.1 20' : '')
    })
    await send(receptor.url)
    modo = 'cierra'
    expect(await send(receptor.url)).toMatchObject({ status: null, error: 'conexion' })
    expect(receptor.connections()).toBe(2)
    modo = 'bien'
    await send(receptor.url)
    modo = 'a medias'
    expect(await send(receptor.url)).toMatchObject({ status: null, error: 'conexion' })
    expect(receptor.connections()).toBe(3)
  })

  test.each([
    ['garbage', 'basura basura'],
    ['a second answer', 'HTTP/1.1 500 X\r\nContent-Length: 0\r\n\r\n'],
    ['half a second answer', 'HTTP/1.1 500 X\r\nContent-'],
  ])('%s after the answer does not reach the next exchange', async (_case, surplus) => {
    await using receptor = await openRawReceiver((socket) => socket.write(EMPTY_RESPONSE + surplus))
    for (let i = 1; i <= 3; i++) {
      expect(await send(receptor.url)).toMatchObject({ status: 204, error: null })
      await expect.poll(() => receptor.openSockets.size).toBe(0)
    }
    await using late = await openRawReceiver((socket) => socket.write(EMPTY_RESPONSE))
    for (let i = 1; i <= 3; i++) {
      expect(await send(late.url)).toMatchObject({ status: 204, error: null })
      for (const socket of late.openSockets) socket.write(surplus)
      await expect.poll(() => late.openSockets.size).toBe(0)
    }
    expect(late.connections()).toBe(3)
  })

  test('an idle one closes when the receiver says so, and nothing of it is kept', async () => {
    // Neither of them closes anything itself; one says that it will soon.
    const server = http.createServer(responder(204, '', { connection: 'keep-alive', 'keep-alive': 'timeout=2' }))
    const silentOne = http.createServer(responder(204, '', { connection: 'keep-alive' }))
    for (const target of [server, silentOne]) target.keepAliveTimeout = 0
    await using receptor = await listenAsReceiver(server)
    await using other = await listenAsReceiver(silentOne)
    await send(other.url)
    const { connect } = net
    const digests: WeakRef<net.Socket>[] = []
    net.connect = ((options: net.NetConnectOpts) => {
      const socket = connect(options)
      digests.push(new WeakRef(socket))
      return socket
    }) as typeof connect
    await Promise.all(Array.from({ length: 10 }, (_, i) => send(receptor.url, { canal: `c${i % 5}` })))
    net.connect = connect
    expect(receptor.openSockets.size).toBe(10)
    await expect.poll(() => receptor.openSockets.size).toBe(0)
    expect(other.openSockets.size).toBe(1)
    expect(digests).toHaveLength(10)
    globalThis.gc!()
    // The last one may still be referred to from the stack.
    expect(digests.filter((digest) => digest.deref()).length).toBeLessThanOrEqual(1)
  })
})

test('the latest idle connections of many endpoints stay open, and so do all connections in use', async () => {
  const releaseGate = Promise.withResolvers<void>()
  await using receptor = await openHttp(async (req, res) => {
    if (req.url === '/lenta') await releaseGate.promise
    res.writeHead(204).end()
  })
  // As many as stay are few here: they would be closed for their age before thousands are made on a slow machine.
  const patientClient = createSender({ resolver: resolverLocal, maxIdle: 20 })
  await send(receptor.url, { canal: 'lenta' }, patientClient)
  const slowOne = send(new URL('/lenta', receptor.url).href, { canal: 'lenta' }, patientClient)
  const all = Array.from({ length: 30 }, (_, i) => send(receptor.url, { canal: `c${i}` }, patientClient))
  expect((await Promise.all(all)).every(({ status }) => status === 204)).toBe(true)
  await expect.poll(() => receptor.openSockets.size).toBe(21)
  expect(receptor.connections()).toBe(31)
  expect(await send(receptor.url, { canal: 'c29' }, patientClient)).toMatchObject({ status: 204, conexion_ms: null })
  expect(receptor.connections()).toBe(31)
  await send(receptor.url, { canal: 'c0' }, patientClient)
  expect(receptor.connections()).toBe(32)
  releaseGate.resolve()
  expect(await slowOne).toMatchObject({ status: 204, conexion_ms: null })
  await patientClient.close()
})

describe('closing', () => {
  test('ends the requests under way, and leaves no socket', async () => {
    const other = createSender({ resolver: resolverLocal })
    await using hangingReceiver = await openRawReceiver((socket) => socket.write('HTTP/1.1 '))
    await using fastServer = await openHttp(responder(204))
    for (let i = 0; i < 20; i++) await send(fastServer.url, { canal: `r${i}` }, other)
    const hangingExchanges = Array.from({ length: 20 }, () => send(hangingReceiver.url, {}, other))
    await expect.poll(() => hangingReceiver.openSockets.size).toBe(20)
    expect(fastServer.openSockets.size).toBe(20)
    await other.close()
    for (const response of await Promise.all(hangingExchanges)) {
      expect(response).toMatchObject({ status: null, error: 'conexion' })
      expect(response.detalle).toContain('se repetirá')
    }
    await expect.poll(() => hangingReceiver.openSockets.size + fastServer.openSockets.size).toBe(0)
  })

  test('ends a request that still looks up a name, too, and nothing starts afterwards', async () => {
    await using receptor = await openHttp(responder(204))
    const { promise, resolve } = Promise.withResolvers<Awaited<ReturnType<HostResolver>>>()
    const other = createSender({ resolver: () => promise })
    const pending = send(`http://localhost:${receptor.port}/`, {}, other)
    await other.close()
    expect(await pending).toMatchObject({ status: null, error: 'conexion' })
    resolve(await resolverLocal('localhost'))
    expect(await send(receptor.url, {}, other)).toMatchObject({ status: null, error: 'conexion', ip: null })
    await other.close()
    // Whatever had been on its way would have come before this one.
    await send(receptor.url)
    expect(receptor.connections()).toBe(1)
  })
})
