import { getEventListeners, once } from 'node:events'
import type { ErrorTiempo, Suceso } from '@guias/sdk'
import { describe, expect, it, vi } from 'vitest'
import { useRetries } from './clock.ts'
import { fault, GUIA, json, NEW_GUIA, type Responder, respondHtml, respondProblema } from './server.ts'

const { sdk, clock, server } = useRetries()
const { client, respondWith: answer, capturedRequests: received } = server
const success = json(200, GUIA)
const hang: Responder = () => clock.jumpToNext()

describe('time', () => {
  it('limits each attempt, by an option of the client or of the call', async () => {
    answer(hang)
    const error = await fault<ErrorTiempo>(client().guias.obtener('A', { tiempoLimite: 40 }))
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 40, intentos: 3 })
    expect(error.message).toContain('40 ms')
  })

  it('limits the whole call: it cuts the attempt that runs, and begins none that would end later', async () => {
    answer(respondHtml, respondHtml, hang)
    const start = clock.now
    const error = await fault<ErrorTiempo>(client({ tiempoLimite: 5_000 }).guias.obtener('A', { plazoTotal: 120 }))
    expect(clock.now - start).toBe(120)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 120, intentos: 3 })
    expect(error.message).toContain('plazoTotal')

    answer(respondProblema(503, 'no_disponible', { 'Retry-After': '5' }))
    expect(await fault(client({ plazoTotal: 2_000 }).guias.obtener('A'))).toMatchObject({
      estadoHttp: 503,
      intentos: 1,
    })
  })

  it.each([
    ['tiempoLimite', 0],
    ['plazoTotal', Number.NaN],
    ['reintentos', -1],
    ['reintentos', 'dos'],
  ])('refuses %s: %s, by the client and by the call', async (name, value) => {
    const bad = { [name]: value } as never
    expect(() => client(bad)).toThrow(name)
    expect((await fault(client().guias.obtener('A', bad))).message).toContain(name)
    expect(received).toEqual([])
  })
})

describe('signal', () => {
  it('aborted before: nothing is sent', async () => {
    const error = await fault(client().guias.obtener('A', { signal: AbortSignal.abort('ya no') }))
    expect(error).toBeInstanceOf(sdk.ErrorAbortado)
    expect([error.name, error.cause, error.intentos, received.length]).toEqual(['ErrorAbortado', 'ya no', 0, 0])
  })

  it('aborts the request that runs, and hangs up', async () => {
    const cut = new AbortController()
    let hangingRequest: Promise<unknown> | undefined
    answer((res) => {
      hangingRequest = once(res, 'close')
      cut.abort()
    })
    const error = await fault(client({ tiempoLimite: 5_000 }).guias.crear(NEW_GUIA, { signal: cut.signal }))
    expect([error.name, error.intentos, (error.cause as Error).name]).toEqual(['ErrorAbortado', 1, 'AbortError'])
    expect(await hangingRequest).toBeDefined()
  })

  it('aborts the wait between two', async () => {
    const cut = new AbortController()
    answer(respondProblema(503, 'no_disponible', { 'Retry-After': '30' }))
    const api = client({ registro: ({ tipo }) => tipo === 'reintento' && setImmediate(() => cut.abort()) })
    const error = await fault(api.guias.obtener('A', { signal: cut.signal }))
    expect([error.name, error.intentos]).toEqual(['ErrorAbortado', 1])
  })

  it('leaves nothing behind on a signal that lives long', async () => {
    const cut = new AbortController()
    const derivedSignals: AbortSignal[] = []
    const any = AbortSignal.any.bind(AbortSignal)
    vi.spyOn(AbortSignal, 'any').mockImplementation((unas) => {
      const derivedSignal = any(unas)
      derivedSignals.push(derivedSignal)
      return derivedSignal
    })
    answer(respondHtml, success)
    await client().guias.obtener('A', { signal: cut.signal })
    expect(derivedSignals.length).toBeGreaterThan(0)
    for (const one of [cut.signal, ...derivedSignals]) expect(getEventListeners(one, 'abort')).toEqual([])
  })

  // Node 20 warns of a leak when a signal has more than ten listeners.
  it('shared by 25 calls has no listener while they run or wait, and aborts all of them', async () => {
    const cut = new AbortController()
    const listenerCounts = new Set<number>()
    const count = () => listenerCounts.add(getEventListeners(cut.signal, 'abort').length)
    const rechazar = respondProblema(503, 'no_disponible', { 'Retry-After': '30' })
    answer((res) => {
      count()
      rechazar(res)
    })
    let waiters = 0
    const registro = ({ tipo }: Suceso) => {
      if (tipo !== 'reintento' || ++waiters < 25) return
      setImmediate(() => {
        count()
        cut.abort()
      })
    }
    const api = client({ registro })
    const calls = Array.from({ length: 25 }, () => fault(api.guias.obtener('A', { signal: cut.signal })))
    expect(new Set((await Promise.all(calls)).map(({ name }) => name))).toEqual(new Set(['ErrorAbortado']))
    expect([...listenerCounts]).toEqual([0])
  })

  it('ends a walk over pages', async () => {
    const cut = new AbortController()
    answer(json(200, { datos: [1, 2], cursor_siguiente: 'x' }))
    const seen: unknown[] = []
    const error = await fault(
      (async () => {
        for await (const one of client().guias.listar({}, { signal: cut.signal })) {
          seen.push(one)
          cut.abort()
        }
      })(),
    )
    expect([error.name, seen]).toEqual(['ErrorAbortado', [1, 2]])
  })
})
