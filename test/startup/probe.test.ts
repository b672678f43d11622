import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Connections } from '../../server/data/connections.ts'
import { createLog } from '../../server/platform/log.ts'
import { Probe } from '../../server/startup/probe.ts'
import { useDeadlines } from '../deadlines.ts'
import { shareEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { admin } from '../postgres.ts'

const environment = shareEnvironment()
const deadlines = useDeadlines(3_000)

/** A server in PostgreSQL's place. */
let fake: Server
let onConnect: (socket: Socket) => void
let connections: number
let probes: Probe[]
let pool: Connections
beforeEach(async () => {
  connections = 0
  probes = []
  onConnect = () => {}
  pool = new Connections(environment.databaseUrl, 2, 'prueba', { role: 'guias_operacion' })
  fake = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.once('data', () => onConnect(socket))
  })
  await new Promise<void>((resolve) => void fake.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await Promise.all(probes.map((probe) => probe.close()))
  await pool.end()
  fake.close()
})
const fresh = (url: string) => {
  const probe = new Probe(url, [pool], createLog('silent'))
  probes.push(probe)
  return probe
}
const probeFakeServer = () => fresh(`postgres://x@127.0.0.1:${(fake.address() as AddressInfo).port}/x`)
/** PostgreSQL's way to refuse a connection. */
const deny = (codigo: string) => (socket: Socket) => {
  const text = Buffer.from(`SFATAL\0VFATAL\0C${codigo}\0Mno\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(text.length + 4)
  socket.end(Buffer.concat([Buffer.from('E'), length, text]))
}
const LISTA = [0x5a, 0, 0, 0, 5, 0x49]
/** Accepts the connection, as PostgreSQL does. */
const aceptar = (socket: Socket) => socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, ...LISTA]))
/** Accepts the connection and refuses what is asked next. */
const denyPrueba = (codigo: string) => (socket: Socket) => {
  aceptar(socket)
  socket.once('data', () => deny(codigo)(socket))
}
/** Accepts the connection, answers the first check and ends the session in the second. */
const cutSecondCheck = (socket: Socket) => {
  aceptar(socket)
  socket.once('data', () => {
    socket.write(Buffer.from([0x43, 0, 0, 0, 11, ...Buffer.from('COMMIT\0'), ...LISTA]))
    socket.once('data', () => deny('57P01')(socket))
  })
}

it('gives everybody the same result for a second', async () => {
  const probe = fresh(environment.databaseUrl)
  const results = await Promise.all([probe.look(), probe.look(), probe.look()])
  expect(results).toEqual(Array(3).fill({ base_de_datos: true, escritura: true }))
  expect(await probe.look()).toBe(results[0])
})

it('connects again after its connection was cut', async () => {
  const probe = fresh(environment.databaseUrl)
  await probe.look()
  const endConnections = () =>
    admin(async (client) => {
      const { rows } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name = $2`,
        [new URL(environment.databaseUrl).pathname.slice(1), `guias salud pid=${process.pid}`],
      )
      return rows.length
    })
  expect(await endConnections()).toBeGreaterThan(0)
  await waitUntil(async () => (await endConnections()) === 0)
  pool.rejectedAt = performance.now()
  expect(await probe.look()).toEqual({ base_de_datos: true, escritura: true })
})

it('checks again on a new connection when its session ends during a check', async () => {
  const probe = probeFakeServer()
  onConnect = cutSecondCheck
  expect(await probe.look()).toEqual({ base_de_datos: true, escritura: true })
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 2_000)
  try {
    expect(await probe.look()).toEqual({ base_de_datos: true, escritura: true })
    expect(connections).toBe(2)
    // Where the new connection ends, too, the server goes away.
    clock.mockImplementation(() => now + 4_000)
    onConnect = deny('57P03')
    expect(await probe.look()).toEqual({ base_de_datos: false, escritura: false })
    expect(connections).toBe(3)
  } finally {
    clock.mockRestore()
  }
})

it('tries a connection of requests where the server has no connection or no disk for a new one', async () => {
  for (const codigo of ['53300', '53100']) {
    onConnect = deny(codigo)
    const before = connections
    expect(await probeFakeServer().look()).toEqual({ base_de_datos: true, escritura: true })
    expect(connections - before).toBe(1)
  }
  onConnect = deny('28P01')
  expect(await probeFakeServer().look()).toEqual({ base_de_datos: false, escritura: false })
})

it('takes a server that goes away during the check for no database', async () => {
  onConnect = denyPrueba('57P01')
  expect(await probeFakeServer().look()).toEqual({ base_de_datos: false, escritura: false })
  onConnect = denyPrueba('53100')
  expect(await probeFakeServer().look()).toEqual({ base_de_datos: true, escritura: false })
})

it('takes no answer within three seconds for no database', async () => {
  const result = probeFakeServer().look()
  await waitUntil(async () => connections === 1)
  deadlines.expireAll()
  expect(await result).toEqual({ base_de_datos: false, escritura: false })
})
