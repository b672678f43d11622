import { readFileSync } from 'node:fs'
import { compileFunction } from 'node:vm'
import type { Suceso } from '@guias/sdk'
import { afterEach, beforeEach, vi } from 'vitest'
import { useFakeServer } from './server.ts'

const CODIGO = readFileSync(new URL('../../sdk/dist/index.cjs', import.meta.url), 'utf8')
/** An answer with this header is the beginning of one that never ends. */
export const ENDLESS_HEADER = { 'X-Sin-Fin': '1' }

/** A clock that stands still until it is moved. */
class ManualClock {
  now = 0
  #lastTimerId = 0
  readonly #pending = new Map<number, { dueAt: number; perform: () => void }>()

  readonly add = (callback: () => void, ms: number) => {
    this.#pending.set(++this.#lastTimerId, { dueAt: this.now + ms, perform: callback })
    return this.#lastTimerId
  }

  readonly quitar = (timerId: number) => this.#pending.delete(timerId)

  /** To the next thing that is due, which is done. */
  readonly jumpToNext = () => {
    const [first] = [...this.#pending].sort(([, a], [, b]) => a.dueAt - b.dueAt)
    if (!first) throw new Error('nothing is due')
    const [timerId, { dueAt, perform: callback }] = first
    this.#pending.delete(timerId)
    this.now = Math.max(this.now, dueAt)
    callback()
  }

  /** By so much; what is due by then is done in its time. */
  avanzar(ms: number) {
    const end = this.now + ms
    while ([...this.#pending.values()].some(({ dueAt }) => dueAt <= end)) this.jumpToNext()
    this.now = end
  }
}

/**
 * The SDK with a clock of its own, so that nobody waits and a slow machine is late for nothing; its `fetch` jumps to the
 * deadline once an answer without end has begun. Its classes are its own: `instanceof` needs those of `sdk`.
 */
export function useSdkWithClock() {
  const clock = new ManualClock()
  const sdk = {} as typeof import('@guias/sdk')
  const { add: setTimer, quitar } = clock
  const performance = { now: () => clock.now }
  compileFunction(CODIGO, ['exports', 'setTimeout', 'clearTimeout', 'performance'])(sdk, setTimer, quitar, performance)
  const fetchWithClock = async (url: string, init: RequestInit) => {
    const response = await fetch(url, init)
    if (response.headers.has('X-Sin-Fin')) setImmediate(clock.jumpToNext)
    return response
  }
  return { sdk, clock, fetch: fetchWithClock }
}

/** The SDK with a clock over the fake server: the pauses before another try are of the least length, and pass at once. */
export function useRetries() {
  const { sdk, clock, fetch } = useSdkWithClock()
  const sucesos: Suceso[] = []
  const registro = (suceso: Suceso) => {
    sucesos.push(suceso)
    if (suceso.tipo === 'reintento') setImmediate(clock.jumpToNext)
  }
  const server = useFakeServer({ fetch, registro, tiempoLimite: 60_000, reintentos: undefined }, sdk)
  beforeEach(() => {
    sucesos.length = 0
    vi.spyOn(Math, 'random').mockReturnValue(0)
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })
  return { sdk, clock, server, sucesos }
}
