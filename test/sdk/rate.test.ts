import { setImmediate as turno } from 'node:timers/promises'
import type { ErrorLimite } from '@guias/sdk'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY } from '../factories.ts'
import { useRetries, useSdkWithClock } from './clock.ts'
import { fault, GUIA, json, LLAVE, problema, respondProblema } from './server.ts'

const environment = shareEnvironment()
const { server, sucesos } = useRetries()
const { client, respondWith: answer, capturedRequests: received } = server

const limite = respondProblema(429, 'demasiadas_solicitudes', { 'Retry-After': '1' })

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('429 with Retry-After', () => {
  it('is waited for and leaves all retries to other failures', async () => {
    const failingServer = respondProblema(503, 'no_disponible')
    answer(limite, limite, limite, failingServer, limite, failingServer, json(200, GUIA))
    expect(await client({ reintentos: 2 }).guias.obtener('A')).toEqual(GUIA)
    expect(sucesos.map(({ estadoHttp, esperaMs }) => [estadoHttp, esperaMs])).toEqual([
      ...Array(3).fill([429, 1000]),
      [503, 0],
      [429, 1000],
      [503, 0],
      [200, null],
    ])
  })

  it('ends at plazoTotal, and after 60 answers without one', async () => {
    answer(limite)
    const error = await fault<ErrorLimite>(client({ plazoTotal: 4500 }).guias.obtener('A'))
    expect([error.name, error.intentos]).toEqual(['ErrorLimite', 5])
    expect((await fault<ErrorLimite>(client().guias.obtener('A'))).intentos).toBe(63)
  })

  it('is not waited for with reintentos: 0', async () => {
    answer(limite)
    expect((await fault(client({ reintentos: 0 }).guias.obtener('A'))).intentos).toBe(1)
    expect(received).toHaveLength(1)
  })
})

/** A service of 50 requests per second and 200 in a row, on the clock of the SDK, which jumps to what is due. */
function createWithBucket() {
  const { sdk, clock } = useSdkWithClock()
  const seen = { rechazos: 0, remaining: 200, a: 0 }
  const fetch = async () => {
    seen.remaining = Math.min(200, seen.remaining + (clock.now - seen.a) / 20)
    seen.a = clock.now
    const isAdmitted = seen.remaining >= 1
    if (isAdmitted) seen.remaining--
    else seen.rechazos++
    const remaining = Math.floor(seen.remaining)
    const headers = {
      RateLimit: `"solicitudes";r=${remaining};t=4, "guias";r=2000;t=0`,
      'RateLimit-Policy': '"solicitudes";q=200;w=4, "guias";q=2000;w=20',
      'Retry-After': '1',
    }
    return new Response(JSON.stringify(isAdmitted ? GUIA : problema(429, 'demasiadas_solicitudes')), {
      status: isAdmitted ? 200 : 429,
      headers,
    })
  }
  const api = new sdk.Guias({ llave: LLAVE, baseUrl: 'http://servicio.test', fetch })
  return { api, clock, seen }
}

/** Calls `hacer` as often as said, `ala` at a time. */
const runInParallel = async (count: number, ala: number, act: () => PromiseLike<unknown>) => {
  let remaining = count
  await Promise.all(
    Array.from({ length: ala }, async () => {
      while (remaining-- > 0) await act()
    }),
  )
}

describe('RateLimit', () => {
  it.each([
    ['40 at a time', 40],
    ['all at once', 600],
  ])('paces 600 requests, %s, so that none is refused', async (_how, count) => {
    const { api, clock, seen } = createWithBucket()
    let listo = false
    const all = runInParallel(600, count, () => api.guias.obtener('A')).finally(() => {
      listo = true
    })
    for (;;) {
      for (let i = 0; i < 10 && !listo; i++) await turno()
      if (listo) break
      clock.jumpToNext()
    }
    await all
    expect(seen.rechazos).toBe(0)
    expect(clock.now).toBeGreaterThan(7_000)
    expect(clock.now).toBeLessThan(11_000)
  })

  it('leaves requests alone while a quarter is left, or where nothing is said', async () => {
    for (const RateLimit of ['"solicitudes";r=50;t=3', '"solicitudes"', '']) {
      answer(json(200, GUIA, { RateLimit, 'RateLimit-Policy': '"solicitudes";q=200;w=4' }))
      const api = client()
      for (let i = 0; i < 3; i++) await api.guias.obtener('A')
    }
    // A pause would never end here, because nothing moves the clock.
    expect(received).toHaveLength(9)
  })

  it('loses none of 600 requests to the service, 40 at a time', FULL_RUN_ONLY, async () => {
    const { api } = await environment.createComercio('test', { solicitudes: 50, guias: 100 })
    const { guia } = await api.guias.crear(buildGuia())
    await runInParallel(600, 40, () => api.guias.obtener(guia))
  })
})
