import { ErrorAbortado, ErrorNoAutenticado, type Evento } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useRetries } from './clock.ts'
import { cutConnection, falla, json, type Responder, respondProblema, useFakeServer } from './server.ts'

const entorno = shareEnvironment()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = useFakeServer()
const pagina = (cursor_siguiente: string, ...ids: string[]) =>
  json(200, { datos: ids.map((id) => ({ id })), cursor_siguiente })
const YA = { intervalo: 1 }

/** Takes events until `ultimo`, and leaves the loop. */
async function hasta(eventos: AsyncIterable<Evento>, ultimo: string, atender: (id: string) => unknown = () => {}) {
  const vistos: string[] = []
  for await (const { id } of eventos) {
    await atender(id)
    vistos.push(id)
    if (id === ultimo) break
  }
  return vistos
}

describe('eventos.seguir', () => {
  it('gives each event in order, asks again when it is up to date, and stores what was attended', async () => {
    contestar(
      pagina('c1', 'a', 'b'),
      pagina('c2', 'c'),
      pagina('c2'),
      pagina('c2'),
      pagina('c3', 'd'),
      pagina('c4', 'e'),
    )
    const hechos: string[] = []
    const seguidos = cliente().eventos.seguir({
      ...YA,
      cursor: 'c0',
      tipo: ['guia.*'],
      guardar: async (cursor) => void hechos.push(cursor),
    })
    expect(await hasta(seguidos, 'e', (id) => hechos.push(id))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(hechos).toEqual(['a', 'b', 'c1', 'c', 'c2', 'd', 'c3', 'e'])
    expect(recibidas.map(({ path: ruta }) => ruta)).toEqual(
      ['c0', 'c1', 'c2', 'c2', 'c2', 'c3'].map((cursor) => `/api/v1/eventos?limite=100&cursor=${cursor}&tipo=guia.*`),
    )
  })

  it('stores the place where it began even if nothing happens there', async () => {
    const guardados: string[] = []
    contestar(pagina('ahora-1'), pagina('ahora-1'), pagina('ahora-2', 'a'))
    await hasta(cliente().eventos.seguir({ ...YA, desde: 'ahora', guardar: (uno) => guardados.push(uno) }), 'a')
    expect(guardados).toEqual(['ahora-1'])
  })

  it('fails where guardar fails, or where waiting does not help, and stops when it is told to', async () => {
    contestar(pagina('c1', 'a'), pagina('c1'))
    const guardar = () => Promise.reject(new Error('disco lleno'))
    expect((await falla<Error>(hasta(cliente().eventos.seguir({ ...YA, guardar }), 'z'))).message).toBe('disco lleno')
    contestar(respondProblema(401, 'no_autenticado'))
    expect(await falla(cliente().eventos.seguir(YA).next())).toBeInstanceOf(ErrorNoAutenticado)
    for (const intervalo of [0, -1, Number.NaN])
      expect((await falla(cliente().eventos.seguir({ intervalo }).next())).message).toContain('intervalo')
    contestar(pagina('c1', 'a'), pagina('c1'))
    const corte = new AbortController()
    const seguidos = cliente().eventos.seguir({ intervalo: 60_000 }, { signal: corte.signal })
    await seguidos.next()
    const siguiente = falla(seguidos.next())
    corte.abort()
    expect(await siguiente).toBeInstanceOf(ErrorAbortado)
  })

  it('loses nothing of the service’s feed to a process that stops in the middle', async () => {
    const { api } = await entorno.nuevoComercio()
    const guias: string[] = []
    for (let i = 0; i < 3; i++) guias.push((await api.guias.crear(buildGuia())).guia)
    for (const guia of guias) await api.simulador.avanzar(guia, { estado: 'recolectado' })
    let guardado: string | undefined
    const seguir = () => api.eventos.seguir({ ...YA, limite: 2, cursor: guardado, guardar: (uno) => (guardado = uno) })
    const tomar = async (cuantos: number) => {
      const vistos: string[] = []
      for await (const { id } of seguir()) if (vistos.push(id) === cuantos) break
      return vistos
    }
    const todos = await tomar(6)
    guardado = undefined
    const antes = await tomar(3)
    // The event at which the first run stopped comes again.
    expect([antes, await tomar(4)]).toEqual([todos.slice(0, 3), todos.slice(2)])
  })
})

describe('eventos.seguir, while the service is down', () => {
  const { server: servidor } = useRetries()

  it('asks until it is back', async () => {
    const caido: Responder = respondProblema(503, 'no_disponible')
    servidor.respondWith(...Array<Responder>(12).fill(caido), cutConnection, pagina('c1', 'a'))
    expect(await hasta(servidor.client().eventos.seguir(YA), 'a')).toEqual(['a'])
    expect(servidor.capturedRequests).toHaveLength(14)
  })
})
