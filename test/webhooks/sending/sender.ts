import { once } from 'node:events'
import http from 'node:http'
import net from 'node:net'
import { afterEach, beforeEach, vi } from 'vitest'
import type { ExchangeResult } from '../../../server/domain/webhooks/attempt.ts'
import { createSender, type Sender, type SendRequest } from '../../../server/domain/webhooks/sending/sender.ts'
import type { HostResolver } from '../../../server/platform/outbound/destination.ts'
import { useDeadlines } from '../../deadlines.ts'

export const resolverLocal: HostResolver = async () => [{ address: '127.0.0.1', family: 4 }]

interface Receptor extends AsyncDisposable {
  url: string
  port: number
  /** Connections so far. */
  connections(): number
  openSockets: Set<net.Socket>
}
export async function listenAsReceiver(server: net.Server): Promise<Receptor> {
  const openSockets = new Set<net.Socket>()
  let connectionCount = 0
  server.on('connection', (socket) => {
    connectionCount++
    openSockets.add(socket)
    socket.on('error', () => {}).on('close', () => openSockets.delete(socket))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const { port } = server.address() as net.AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    port,
    connections: () => connectionCount,
    openSockets,
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of openSockets) socket.destroy()
      await closed
    },
  }
}
/** A receiver that does what it likes with the socket at every request (each fits in one segment), counted from 1. */
export const openRawReceiver = (handleSocket: (socket: net.Socket, solicitudes: number) => void): Promise<Receptor> =>
  listenAsReceiver(
    net.createServer((socket) => {
      let solicitudes = 0
      socket.on('data', () => handleSocket(socket, ++solicitudes))
    }),
  )
export const openHttp = (handleRequest: http.RequestListener): Promise<Receptor> =>
  listenAsReceiver(http.createServer(handleRequest))
export const responder =
  (status: number, body: string | Buffer = '', headers: http.OutgoingHttpHeaders = {}): http.RequestListener =>
  (_req, res) =>
    res.writeHead(status, headers).end(body)
/** @param onDrop called at every drop, with how many there were */
export function dripText(socket: net.Socket, text: string, prefix: string, onDrop: (dropCount: number) => void): void {
  if (prefix) socket.write(prefix)
  let dropCount = 0
  const timer = setInterval(() => {
    socket.write(text)
    onDrop(++dropCount)
  }, 5)
  socket.on('close', () => clearInterval(timer))
}
export const EMPTY_RESPONSE = 'HTTP/1.1 204 No Content\r\n\r\n'

/** The deadline that a sender gives an exchange unless it is told, in ms. */
const DEADLINE_MS = 15_000

/** A sender for each test. Its deadlines pass when they are told to, and never by themselves. */
export function useSender() {
  const { countPending: deadlines, expireAll } = useDeadlines(DEADLINE_MS)
  let sender: Sender
  beforeEach(() => {
    sender = createSender({ resolver: resolverLocal })
  })
  afterEach(async () => {
    vi.restoreAllMocks()
    vi.unstubAllEnvs()
    await sender.close()
  })
  const send = (url: string, cambios: Partial<SendRequest> = {}, por = sender): Promise<ExchangeResult> =>
    por.send({ canal: 'uno', url, cabeceras: {}, cuerpo: '{"a":1}', loopback: true, ...cambios })
  return { send, deadlines, expireAll }
}
