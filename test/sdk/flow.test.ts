import { ErrorAbortado, ErrorNoAutenticado, type Evento } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia } from '../factories.ts'
import { useRetries } from './clock.ts'
import { cutConnection, fault, json, type Responder, respondProblema, useFakeServer } from './server.ts'

const environment = shareEnvironment()
const { client, respondWith: answer, capturedRequests: received } = useFakeServer()
const page = (cursor_siguiente: string, ...ids: string[]) =>
  json(200, { datos: ids.map((id) => ({ id })), cursor_siguiente })
const SHORT_INTERVAL = { intervalo: 1 }

/** Takes events until `ultimo`, and leaves the loop. */
async function hasta(eventos: AsyncIterable<Evento>, last: string, handle: (id: string) => unknown = () => {}) {
  const seen: string[] = []
  for await (const { id } of eventos) {
    await handle(id)
    seen.push(id)
    if (id === last) break
  }
  return seen
}

describe('eventos.seguir', () => {
  it('gives each event in order, asks again when it is up to date, and stores what was attended', async () => {
    answer(page('c1', 'a', 'b'), page('c2', 'c'), page('c2'), page('c2'), page('c3', 'd'), page('c4', 'e'))
    const hechos: string[] = []
    const followedEventos = client().eventos.seguir({
      ...SHORT_INTERVAL,
      cursor: 'c0',
      tipo: ['guia.*'],
      guardar: async (cursor) => void hechos.push(cursor),
    })
    expect(await hasta(followedEventos, 'e', (id) => hechos.push(id))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(hechos).toEqual(['a', 'b', 'c1', 'c', 'c2', 'd', 'c3', 'e'])
    expect(received.map(({ path }) => path)).toEqual(
      ['c0', 'c1', 'c2', 'c2', 'c2', 'c3'].map((cursor) => `/api/v1/eventos?limite=100&cursor=${cursor}&tipo=guia.*`),
    )
  })

  it('stores the place where it began even if nothing happens there', async () => {
    const guardados: string[] = []
    answer(page('ahora-1'), page('ahora-1'), page('ahora-2', 'a'))
    await hasta(
      client().eventos.seguir({ ...SHORT_INTERVAL, desde: 'ahora', guardar: (one) => guardados.push(one) }),
      'a',
    )
    expect(guardados).toEqual(['ahora-1'])
  })

  it('fails where guardar fails, or where waiting does not help, and stops when it is told to', async () => {
    answer(page('c1', 'a'), page('c1'))
    const save = () => Promise.reject(new Error('disco lleno'))
    expect(
      (await fault<Error>(hasta(client().eventos.seguir({ ...SHORT_INTERVAL, guardar: save }), 'z'))).message,
    ).toBe('disco lleno')
    answer(respondProblema(401, 'no_autenticado'))
    expect(await fault(client().eventos.seguir(SHORT_INTERVAL).next())).toBeInstanceOf(ErrorNoAutenticado)
    for (const intervalo of [0, -1, Number.NaN])
      expect((await fault(client().eventos.seguir({ intervalo }).next())).message).toContain('intervalo')
    answer(page('c1', 'a'), page('c1'))
    const cut = new AbortController()
    const followedEventos = client().eventos.seguir({ intervalo: 60_000 }, { signal: cut.signal })
    await followedEventos.next()
    const next = fault(followedEventos.next())
    cut.abort()
    expect(await next).toBeInstanceOf(ErrorAbortado)
  })

  it('loses nothing of the service’s feed to a process that stops in the middle', async () => {
    const { api } = await environment.createComercio()
    const guias: string[] = []
    for (let i = 0; i < 3; i++) guias.push((await api.guias.crear(buildGuia())).guia)
    for (const guia of guias) await api.simulador.avanzar(guia, { estado: 'recolectado' })
    let saved: string | undefined
    const follow = () =>
      api.eventos.seguir({ ...SHORT_INTERVAL, limite: 2, cursor: saved, guardar: (one) => (saved = one) })
    const tomar = async (count: number) => {
      const seen: string[] = []
      for await (const { id } of follow()) if (seen.push(id) === count) break
      return seen
    }
    const all = await tomar(6)
    saved = undefined
    const before = await tomar(3)
    // The event at which the first run stopped comes again.
    expect([before, await tomar(4)]).toEqual([all.slice(0, 3), all.slice(2)])
  })
})

describe('eventos.seguir, while the service is down', () => {
  const { server } = useRetries()

  it('asks until it is back', async () => {
    const failingServer: Responder = respondProblema(503, 'no_disponible')
    server.respondWith(...Array<Responder>(12).fill(failingServer), cutConnection, page('c1', 'a'))
    expect(await hasta(server.client().eventos.seguir(SHORT_INTERVAL), 'a')).toEqual(['a'])
    expect(server.capturedRequests).toHaveLength(14)
  })
})
