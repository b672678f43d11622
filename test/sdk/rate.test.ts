import { setImmediate as turno } from 'node:timers/promises'
import type { ErrorLimite } from '@guias/sdk'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, FULL_RUN_ONLY } from '../factories.ts'
import { useRetries, useSdkWithClock } from './clock.ts'
import { falla, GUIA, json, LLAVE, problema, respondProblema } from './server.ts'

const entorno = shareEnvironment()
const { server: servidor, sucesos } = useRetries()
const { client: cliente, respondWith: contestar, capturedRequests: recibidas } = servidor

const limite = respondProblema(429, 'demasiadas_solicitudes', { 'Retry-After': '1' })

beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  vi.restoreAllMocks()
})

describe('429 with Retry-After', () => {
  it('is waited for and leaves all retries to other failures', async () => {
    const caido = respondProblema(503, 'no_disponible')
    contestar(limite, limite, limite, caido, limite, caido, json(200, GUIA))
    expect(await cliente({ reintentos: 2 }).guias.obtener('A')).toEqual(GUIA)
    expect(sucesos.map(({ status, esperaMs }) => [status, esperaMs])).toEqual([
      ...Array(3).fill([429, 1000]),
      [503, 0],
      [429, 1000],
      [503, 0],
      [200, null],
    ])
  })

  it('ends at plazoTotal, and after 60 answers without one', async () => {
    contestar(limite)
    const error = await falla<ErrorLimite>(cliente({ plazoTotal: 4500 }).guias.obtener('A'))
    expect([error.name, error.intentos]).toEqual(['ErrorLimite', 5])
    expect((await falla<ErrorLimite>(cliente().guias.obtener('A'))).intentos).toBe(63)
  })

  it('is not waited for with reintentos: 0', async () => {
    contestar(limite)
    expect((await falla(cliente({ reintentos: 0 }).guias.obtener('A'))).intentos).toBe(1)
    expect(recibidas).toHaveLength(1)
  })
})

/** A service of 50 requests per second and 200 in a row, on the clock of the SDK, which jumps to what is due. */
function conCubo() {
  const { sdk, clock: reloj } = useSdkWithClock()
  const visto = { rechazos: 0, quedan: 200, a: 0 }
  const fetch = async () => {
    visto.quedan = Math.min(200, visto.quedan + (reloj.ahora - visto.a) / 20)
    visto.a = reloj.ahora
    const admitida = visto.quedan >= 1
    if (admitida) visto.quedan--
    else visto.rechazos++
    const quedan = Math.floor(visto.quedan)
    const headers = {
      RateLimit: `"solicitudes";r=${quedan};t=4, "guias";r=2000;t=0`,
      'RateLimit-Policy': '"solicitudes";q=200;w=4, "guias";q=2000;w=20',
      'Retry-After': '1',
    }
    return new Response(JSON.stringify(admitida ? GUIA : problema(429, 'demasiadas_solicitudes')), {
      status: admitida ? 200 : 429,
      headers,
    })
  }
  const api = new sdk.Guias({ llave: LLAVE, baseUrl: 'http://servicio.test', fetch })
  return { api, clock: reloj, seen: visto }
}

/** Calls `hacer` as often as said, `ala` at a time. */
const enParalelo = async (cuantas: number, ala: number, hacer: () => PromiseLike<unknown>) => {
  let quedan = cuantas
  await Promise.all(
    Array.from({ length: ala }, async () => {
      while (quedan-- > 0) await hacer()
    }),
  )
}

describe('RateLimit', () => {
  it('paces 600 requests, 40 at a time, so that none is refused', async () => {
    const { api, clock: suyo, seen: visto } = conCubo()
    let listo = false
    const todas = enParalelo(600, 40, () => api.guias.obtener('A')).finally(() => {
      listo = true
    })
    for (;;) {
      for (let i = 0; i < 10 && !listo; i++) await turno()
      if (listo) break
      suyo.jumpToNext()
    }
    await todas
    expect(visto.rechazos).toBe(0)
    expect(suyo.ahora).toBeGreaterThan(7_000)
    expect(suyo.ahora).toBeLessThan(9_500)
  })

  it('leaves requests alone while a quarter is left, or where nothing is said', async () => {
    for (const RateLimit of ['"solicitudes";r=50;t=3', '"solicitudes"', '']) {
      contestar(json(200, GUIA, { RateLimit, 'RateLimit-Policy': '"solicitudes";q=200;w=4' }))
      const api = cliente()
      for (let i = 0; i < 3; i++) await api.guias.obtener('A')
    }
    // A pause would never end here, because nothing moves the clock.
    expect(recibidas).toHaveLength(9)
  })

  it('loses none of 600 requests to the service, 40 at a time', FULL_RUN_ONLY, async () => {
    const { api } = await entorno.nuevoComercio('test', { solicitudes: 50, guias: 100 })
    const { guia } = await api.guias.crear(buildGuia())
    await enParalelo(600, 40, () => api.guias.obtener(guia))
  })
})
