// Behind real reverse proxies of this machine: each adds whom it forwards to X-Forwarded-For, as nginx and others do.
import { once } from 'node:events'
import { Agent, createServer, type IncomingMessage, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'

const BURST = 50
const DE_CONEXIONES = 3
const variables = (proxies: number) => ({
  TRUST_PROXY: String(proxies),
  REQUESTS_PER_NETWORK: String(BURST / 10),
  CONNECTIONS_PER_NETWORK: String(DE_CONEXIONES),
})

const openResources: Server[] = []
afterAll(() => {
  for (const proxy of openResources) proxy.close().closeAllConnections()
})

/** A proxy that has a connection of its own to the service for each one that it takes. */
async function startProxy(destino: string): Promise<string> {
  const proxy = createServer((req, res) => {
    const { socket, headers, method, url } = req
    const chain = [headers['x-forwarded-for'], socket.remoteAddress].filter(Boolean).join(', ')
    const inwardRequest = request(destino + url, {
      method,
      agent: clientAgents.get(socket)!,
      headers: { ...headers, 'x-forwarded-for': chain },
    })
    inwardRequest.once('response', (inside) => inside.pipe(res.writeHead(inside.statusCode!, inside.headers)))
    inwardRequest.once('error', () => res.destroy())
    req.pipe(inwardRequest)
  })
  const clientAgents = new WeakMap<object, Agent>()
  proxy.on('connection', (socket) => {
    const clientAgent = new Agent({ keepAlive: true, maxSockets: 1 })
    clientAgents.set(socket, clientAgent)
    socket.once('close', () => clientAgent.destroy())
  })
  openResources.push(proxy)
  await once(proxy.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}

/** Asks from one of this machine's own addresses, saying to come from others. */
async function requestThrough(url: string, from: string, dice?: string, agent?: Agent): Promise<number> {
  const headers = dice === undefined ? {} : { 'X-Forwarded-For': dice }
  const requestData = request(`${url}/healthz`, { localAddress: from, headers, ...(agent && { agent }) })
  const [response] = (await once(requestData.end(), 'response')) as [IncomingMessage]
  response.resume()
  await once(response, 'end')
  return response.statusCode!
}

describe.each([1, 2])('behind %i proxies', (count) => {
  const environment = useEnvironment({ limitsClock: () => 0 }, () => variables(count))
  let url: string
  beforeAll(async () => {
    url = environment.url
    for (let i = 0; i < count; i++) url = await startProxy(url)
  })

  it('the limit counts the address that the outermost proxy saw, and ignores the headers of the caller', async () => {
    const messages = (i: number) => [
      `203.0.113.${i}`,
      `203.0.113.${i}, 198.51.100.${i}, 127.0.0.3`,
      '127.0.0.3',
      'unknown, ,::',
    ]
    const estados: number[] = []
    for (let i = 0; i < BURST; i++) estados.push(await requestThrough(url, '127.0.0.2', messages(i)[i % 4]))
    expect(new Set(estados)).toEqual(new Set([200]))
    for (const message of [...messages(99), undefined])
      expect(await requestThrough(url, '127.0.0.2', message)).toBe(429)
    // Whom it named has all that is his.
    expect(await requestThrough(url, '127.0.0.3')).toBe(200)
  })

  it('a connection of the proxy goes on after refusals, for all other clients', async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const ports = new Set<number | undefined>()
    const networkOf = async (client: string) => {
      const chain = [client, '198.51.100.1'].slice(0, count).join(', ')
      const requestData = request(`${environment.url}/healthz`, { headers: { 'X-Forwarded-For': chain }, agent })
      const [response] = (await once(requestData.end(), 'response')) as [IncomingMessage]
      ports.add(response.socket.localPort)
      await once(response.resume(), 'end')
      return response.statusCode
    }
    for (let i = 0; i < BURST; i++) expect(await networkOf('203.0.113.200')).toBe(200)
    for (let i = 0; i < 5; i++) expect(await networkOf('203.0.113.200')).toBe(429)
    expect([await networkOf('203.0.113.201'), ports.size]).toEqual([200, 1])
    agent.destroy()
  })

  it('the proxy’s connections have no maximum', async () => {
    const clientAgents = Array.from({ length: 4 * DE_CONEXIONES }, () => new Agent({ keepAlive: true, maxSockets: 1 }))
    try {
      // All of them stay open, and so do those behind them.
      for (const clientAgent of clientAgents)
        expect(await requestThrough(url, '127.0.0.4', undefined, clientAgent)).toBe(200)
      expect(await requestThrough(url, '127.0.0.4', undefined, clientAgents[0])).toBe(200)
    } finally {
      for (const clientAgent of clientAgents) clientAgent.destroy()
    }
  })
})
