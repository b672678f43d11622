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
const plazos = useDeadlines(3_000)

/** A server in PostgreSQL's place. */
let falso: Server
let alConectar: (socket: Socket) => void
let connections: number
let sondas: Probe[]
let pool: Connections
beforeEach(async () => {
  connections = 0
  sondas = []
  alConectar = () => {}
  pool = new Connections(environment.databaseUrl, 2, 'prueba', { role: 'guias_operacion' })
  falso = createServer((socket) => {
    connections++
    socket.on('error', () => {})
    socket.once('data', () => alConectar(socket))
  })
  await new Promise<void>((resolve) => void falso.listen(0, '127.0.0.1', resolve))
})
afterEach(async () => {
  await Promise.all(sondas.map((sonda) => sonda.close()))
  await pool.end()
  falso.close()
})
const fresh = (url: string) => {
  const sonda = new Probe(url, [pool], createLog('silent'))
  sondas.push(sonda)
  return sonda
}
const enFalso = () => fresh(`postgres://x@127.0.0.1:${(falso.address() as AddressInfo).port}/x`)
/** PostgreSQL's way to refuse a connection. */
const negar = (codigo: string) => (socket: Socket) => {
  const text = Buffer.from(`SFATAL\0VFATAL\0C${codigo}\0Mno\0\0`)
  const length = Buffer.alloc(4)
  length.writeInt32BE(text.length + 4)
  socket.end(Buffer.concat([Buffer.from('E'), length, text]))
}
const LISTA = [0x5a, 0, 0, 0, 5, 0x49]
/** Accepts the connection, as PostgreSQL does. */
const aceptar = (socket: Socket) => socket.write(Buffer.from([0x52, 0, 0, 0, 8, 0, 0, 0, 0, ...LISTA]))
/** Accepts the connection and refuses what is asked next. */
const negarPrueba = (codigo: string) => (socket: Socket) => {
  aceptar(socket)
  socket.once('data', () => negar(codigo)(socket))
}
/** Accepts the connection, answers the first check and ends the session in the second. */
const cortarSegunda = (socket: Socket) => {
  aceptar(socket)
  socket.once('data', () => {
    socket.write(Buffer.from([0x43, 0, 0, 0, 11, ...Buffer.from('COMMIT\0'), ...LISTA]))
    socket.once('data', () => negar('57P01')(socket))
  })
}

it('gives everybody the same result for a second', async () => {
  const sonda = fresh(environment.databaseUrl)
  const results = await Promise.all([sonda.look(), sonda.look(), sonda.look()])
  expect(results).toEqual(Array(3).fill({ base_de_datos: true, escritura: true }))
  expect(await sonda.look()).toBe(results[0])
})

it('connects again after its connection was cut', async () => {
  const sonda = fresh(environment.databaseUrl)
  await sonda.look()
  const suyas = () =>
    admin(async (client) => {
      const { rows } = await client.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name = $2`,
        [new URL(environment.databaseUrl).pathname.slice(1), `guias salud pid=${process.pid}`],
      )
      return rows.length
    })
  expect(await suyas()).toBeGreaterThan(0)
  await waitUntil(async () => (await suyas()) === 0)
  pool.rejectedAt = performance.now()
  expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
})

it('checks again on a new connection when its session ends during a check', async () => {
  const sonda = enFalso()
  alConectar = cortarSegunda
  expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
  const now = performance.now()
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now + 2_000)
  try {
    expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
    expect(connections).toBe(2)
    // Where the new connection ends, too, the server goes away.
    clock.mockImplementation(() => now + 4_000)
    alConectar = negar('57P03')
    expect(await sonda.look()).toEqual({ base_de_datos: false, escritura: false })
    expect(connections).toBe(3)
  } finally {
    clock.mockRestore()
  }
})

it('tries a connection of requests where the server has no connection or no disk for a new one', async () => {
  for (const codigo of ['53300', '53100']) {
    alConectar = negar(codigo)
    const before = connections
    expect(await enFalso().look()).toEqual({ base_de_datos: true, escritura: true })
    expect(connections - before).toBe(1)
  }
  alConectar = negar('28P01')
  expect(await enFalso().look()).toEqual({ base_de_datos: false, escritura: false })
})

it('takes a server that goes away during the check for no database', async () => {
  alConectar = negarPrueba('57P01')
  expect(await enFalso().look()).toEqual({ base_de_datos: false, escritura: false })
  alConectar = negarPrueba('53100')
  expect(await enFalso().look()).toEqual({ base_de_datos: true, escritura: false })
})

it('takes no answer within three seconds for no database', async () => {
  const result = enFalso().look()
  await waitUntil(async () => connections === 1)
  plazos.vencer()
  expect(await result).toEqual({ base_de_datos: false, escritura: false })
})
