import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, it } from 'vitest'
import { puertoLibre } from '../puertos.ts'
import { SIN_FIN, sdkConReloj } from './reloj.ts'
import { aMedias, GUIA, json, usarServidor } from './servidor.ts'

const { sdk, reloj, fetch } = sdkConReloj()
const { ErrorConexion, ErrorTiempo } = sdk
const servidor = usarServidor({ fetch }, sdk)
const { cliente, contestar, fallaCon } = servidor

describe('connection and time', () => {
  it('cut before the answer', async () => {
    const error = await fallaCon(ErrorConexion, (res) => res.destroy())
    expect(error.name).toBe('ErrorConexion')
    expect(error.message).toContain(servidor.baseUrl)
    expect(error.message).toContain('external_ref')
    expect(error.cause).toBeInstanceOf(Error)
  })

  it.each([201, 404])('cut in the middle of a %i', async (status) => {
    const error = await fallaCon(ErrorConexion, aMedias(status))
    expect(error.name).toBe('ErrorConexion')
  })

  it('nobody listens: it says where and why', async () => {
    const port = await puertoLibre()
    const error = await fallaCon(ErrorConexion, () => {}, { baseUrl: `http://127.0.0.1:${port}` })
    expect(error.message).toMatch(new RegExp(`127\\.0\\.0\\.1:${port}.*ECONNREFUSED`))
  })

  it.each([
    ['no answer', () => reloj.saltar()],
    [
      'a body that never ends',
      (res: ServerResponse) => res.writeHead(200, { 'Content-Type': 'application/json', ...SIN_FIN }).write('{'),
    ],
    ['an error whose body never ends', (res: ServerResponse) => res.writeHead(500, SIN_FIN).write('{')],
  ])('gives up on %s, and hangs up', async (_, respuesta) => {
    let colgada: Promise<unknown> | undefined
    const inicio = reloj.ahora
    const error = await fallaCon(
      ErrorTiempo,
      (res) => {
        colgada = once(res, 'close')
        respuesta(res)
      },
      { tiempoLimite: 60 },
    )
    expect(error).toBeInstanceOf(ErrorConexion)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 60, message: expect.stringContaining('60 ms') })
    expect(reloj.ahora - inicio).toBe(60)
    expect(await colgada).toBeDefined()
  })

  it('gives up on a fetch that ignores the signal', async () => {
    const sorda = () => {
      setImmediate(reloj.saltar)
      return new Promise<never>(() => {})
    }
    await fallaCon(ErrorTiempo, () => {}, { tiempoLimite: 30, fetch: sorda })
  })

  it.each([5000, Infinity, 2 ** 40])('waits for a slow answer within the time: %s', async (tiempoLimite) => {
    contestar((res) => {
      reloj.avanzar(4_999)
      json(200, GUIA)(res)
    })
    expect(await cliente({ tiempoLimite }).guias.obtener('A')).toEqual(GUIA)
  })
})
