import { getEventListeners, once } from 'node:events'
import type { ErrorTiempo, Suceso } from '@guias/sdk'
import { describe, expect, it, vi } from 'vitest'
import { useRetries } from './clock.ts'
import { falla, GUIA, json, NEW_GUIA, type Responder, respondHtml, respondProblema } from './server.ts'

const { sdk, clock: reloj, server: servidor } = useRetries()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = servidor
const bien = json(200, GUIA)
const colgar: Responder = () => reloj.jumpToNext()

describe('time', () => {
  it('limits each attempt, by an option of the client or of the call', async () => {
    contestar(colgar)
    const error = await falla<ErrorTiempo>(cliente().guias.obtener('A', { tiempoLimite: 40 }))
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 40, intentos: 3 })
    expect(error.message).toContain('40 ms')
  })

  it('limits the whole call: it cuts the attempt that runs, and begins none that would end later', async () => {
    contestar(respondHtml, respondHtml, colgar)
    const inicio = reloj.ahora
    const error = await falla<ErrorTiempo>(cliente({ tiempoLimite: 5_000 }).guias.obtener('A', { plazoTotal: 120 }))
    expect(reloj.ahora - inicio).toBe(120)
    expect(error).toMatchObject({ name: 'ErrorTiempo', tiempoLimite: 120, intentos: 3 })
    expect(error.message).toContain('plazoTotal')

    contestar(respondProblema(503, 'no_disponible', { 'Retry-After': '5' }))
    expect(await falla(cliente({ plazoTotal: 2_000 }).guias.obtener('A'))).toMatchObject({ status: 503, intentos: 1 })
  })

  it.each([
    ['tiempoLimite', 0],
    ['plazoTotal', Number.NaN],
    ['reintentos', -1],
    ['reintentos', 'dos'],
  ])('refuses %s: %s, by the client and by the call', async (nombre, valor) => {
    const mala = { [nombre]: valor } as never
    expect(() => cliente(mala)).toThrow(nombre)
    expect((await falla(cliente().guias.obtener('A', mala))).message).toContain(nombre)
    expect(recibidas).toEqual([])
  })
})

describe('signal', () => {
  it('aborted before: nothing is sent', async () => {
    const error = await falla(cliente().guias.obtener('A', { signal: AbortSignal.abort('ya no') }))
    expect(error).toBeInstanceOf(sdk.ErrorAbortado)
    expect([error.name, error.cause, error.intentos, recibidas.length]).toEqual(['ErrorAbortado', 'ya no', 0, 0])
  })

  it('aborts the request that runs, and hangs up', async () => {
    const corte = new AbortController()
    let colgada: Promise<unknown> | undefined
    contestar((res) => {
      colgada = once(res, 'close')
      corte.abort()
    })
    const error = await falla(cliente({ tiempoLimite: 5_000 }).guias.crear(NEW_GUIA, { signal: corte.signal }))
    expect([error.name, error.intentos, (error.cause as Error).name]).toEqual(['ErrorAbortado', 1, 'AbortError'])
    expect(await colgada).toBeDefined()
  })

  it('aborts the wait between two', async () => {
    const corte = new AbortController()
    contestar(respondProblema(503, 'no_disponible', { 'Retry-After': '30' }))
    const api = cliente({ registro: ({ tipo }) => tipo === 'reintento' && setImmediate(() => corte.abort()) })
    const error = await falla(api.guias.obtener('A', { signal: corte.signal }))
    expect([error.name, error.intentos]).toEqual(['ErrorAbortado', 1])
  })

  it('leaves nothing behind on a signal that lives long', async () => {
    const corte = new AbortController()
    const derivadas: AbortSignal[] = []
    const any = AbortSignal.any.bind(AbortSignal)
    vi.spyOn(AbortSignal, 'any').mockImplementation((unas) => {
      const derivada = any(unas)
      derivadas.push(derivada)
      return derivada
    })
    contestar(respondHtml, bien)
    await cliente().guias.obtener('A', { signal: corte.signal })
    expect(derivadas.length).toBeGreaterThan(0)
    for (const una of [corte.signal, ...derivadas]) expect(getEventListeners(una, 'abort')).toEqual([])
  })

  // Node 20 warns of a leak when a signal has more than ten listeners.
  it('shared by 25 calls has no listener while they run or wait, and aborts all of them', async () => {
    const corte = new AbortController()
    const escuchan = new Set<number>()
    const contar = () => escuchan.add(getEventListeners(corte.signal, 'abort').length)
    const rechazar = respondProblema(503, 'no_disponible', { 'Retry-After': '30' })
    contestar((res) => {
      contar()
      rechazar(res)
    })
    let esperan = 0
    const registro = ({ tipo }: Suceso) => {
      if (tipo !== 'reintento' || ++esperan < 25) return
      setImmediate(() => {
        contar()
        corte.abort()
      })
    }
    const api = cliente({ registro })
    const llamadas = Array.from({ length: 25 }, () => falla(api.guias.obtener('A', { signal: corte.signal })))
    expect(new Set((await Promise.all(llamadas)).map(({ name }) => name))).toEqual(new Set(['ErrorAbortado']))
    expect([...escuchan]).toEqual([0])
  })

  it('ends a walk over pages', async () => {
    const corte = new AbortController()
    contestar(json(200, { datos: [1, 2], cursor_siguiente: 'x' }))
    const vistos: unknown[] = []
    const error = await falla(
      (async () => {
        for await (const uno of cliente().guias.listar({}, { signal: corte.signal })) {
          vistos.push(uno)
          corte.abort()
        }
      })(),
    )
    expect([error.name, vistos]).toEqual(['ErrorAbortado', [1, 2]])
  })
})
