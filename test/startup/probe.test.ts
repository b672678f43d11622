import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Connections } from '../../server/data/connections.ts'
import { createLog } from '../../server/platform/log.ts'
import { Probe } from '../../server/startup/probe.ts'
import { useDeadlines } from '../deadlines.ts'
import { shareEnvironment } from '../environment.ts'
import { hasta } from '../factories.ts'
import { admin } from '../postgres.ts'

const entorno = shareEnvironment()
const plazos = useDeadlines(3_000)

/** A server in PostgreSQL's place. */
let falso: Server
let alConectar: (socket: Socket) => void
let conexiones: number
let sondas: Probe[]
let pool: Connections
beforeEach(async () => {
  conexiones = 0
  sondas = []
  alConectar = () => {}
  pool = new Connections(entorno.databaseUrl, 2, 'prueba', { role: 'guias_operacion' })
  falso = createServer((socket) => {
    conexiones++
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
const nueva = (url: string) => {
  const sonda = new Probe(url, [pool], createLog('silent'))
  sondas.push(sonda)
  return sonda
}
const enFalso = () => nueva(`postgres://x@127.0.0.1:${(falso.address() as AddressInfo).port}/x`)
/** PostgreSQL's way to refuse a connection. */
const negar = (codigo: string) => (socket: Socket) => {
  const texto = Buffer.from(`SFATAL\0VFATAL\0C${codigo}\0Mno\0\0`)
  const largo = Buffer.alloc(4)
  largo.writeInt32BE(texto.length + 4)
  socket.end(Buffer.concat([Buffer.from('E'), largo, texto]))
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
  const sonda = nueva(entorno.databaseUrl)
  const resultados = await Promise.all([sonda.look(), sonda.look(), sonda.look()])
  expect(resultados).toEqual(Array(3).fill({ base_de_datos: true, escritura: true }))
  expect(await sonda.look()).toBe(resultados[0])
})

it('connects again after its connection was cut', async () => {
  const sonda = nueva(entorno.databaseUrl)
  await sonda.look()
  const suyas = () =>
    admin(async (cliente) => {
      const { rows } = await cliente.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = $1 and application_name = $2`,
        [new URL(entorno.databaseUrl).pathname.slice(1), `guias salud pid=${process.pid}`],
      )
      return rows.length
    })
  expect(await suyas()).toBeGreaterThan(0)
  await hasta(async () => (await suyas()) === 0)
  pool.rejectedAt = performance.now()
  expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
})

it('checks again on a new connection when its session ends during a check', async () => {
  const sonda = enFalso()
  alConectar = cortarSegunda
  expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
  const ahora = performance.now()
  const reloj = vi.spyOn(performance, 'now').mockImplementation(() => ahora + 2_000)
  try {
    expect(await sonda.look()).toEqual({ base_de_datos: true, escritura: true })
    expect(conexiones).toBe(2)
    // Where the new connection ends, too, the server goes away.
    reloj.mockImplementation(() => ahora + 4_000)
    alConectar = negar('57P03')
    expect(await sonda.look()).toEqual({ base_de_datos: false, escritura: false })
    expect(conexiones).toBe(3)
  } finally {
    reloj.mockRestore()
  }
})

it('tries a connection of requests where the server has no connection or no disk for a new one', async () => {
  for (const codigo of ['53300', '53100']) {
    alConectar = negar(codigo)
    const antes = conexiones
    expect(await enFalso().look()).toEqual({ base_de_datos: true, escritura: true })
    expect(conexiones - antes).toBe(1)
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
  const resultado = enFalso().look()
  await hasta(async () => conexiones === 1)
  plazos.vencer()
  expect(await resultado).toEqual({ base_de_datos: false, escritura: false })
})
