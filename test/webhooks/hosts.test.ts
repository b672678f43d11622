import { describe, expect, it } from 'vitest'
import { type HostSend, Hosts } from '../../server/domain/webhooks/sending/hosts.ts'
import {
  MAX_EXCHANGES_PER_HOST,
  MAX_EXCHANGES_PER_UNKNOWN_HOST,
  MAX_REQUESTS_PER_MINUTE,
} from '../../server/domain/webhooks/sending/limits.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, waitUntil } from '../factories.ts'
import { answerWith, holdAnswers, useReceivers } from './receiver.ts'

const environment = shareEnvironment()
const nuevoReceptor = useReceivers()

/** Hosts on a clock of the test's own. */
function nuevos() {
  let ms = 0
  const anfitriones = new Hosts<string>(() => ms)
  /** Begins as many of that as may begin. */
  const start = (envio: HostSend, count = 1_000, line = 'una') => {
    let hechos = 0
    for (; hechos < count && anfitriones.maySend(envio, line); hechos++) anfitriones.start(envio)
    return hechos
  }
  const pasar = (count: number) => {
    ms += count
  }
  return { anfitriones, start, pasar }
}
const envio = (cambios: Partial<HostSend> = {}): HostSend => ({
  host: 'tienda.ejemplo.com',
  comercio: 'tienda',
  verified: false,
  isTest: false,
  ...cambios,
})

describe('the traffic to one host', () => {
  it('is little at once while the host has taken nothing, and bounded per minute for all endpoints together', () => {
    const { anfitriones, start, pasar } = nuevos()
    expect(start(envio())).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
    let enviados = MAX_EXCHANGES_PER_UNKNOWN_HOST
    for (let i = 0; i < 1_000; i++) {
      const de = envio({ comercio: `tienda ${i}` })
      anfitriones.finish(de, false)
      enviados += start(de, 1, `linea ${i}`)
    }
    expect(enviados).toBe(MAX_REQUESTS_PER_MINUTE)
    pasar(10_000)
    expect(start(envio())).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
    // Another host isn't touched.
    expect(start(envio({ host: 'otra.ejemplo.com' }))).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
  })

  it('is little for one merchant, under any names of the host', () => {
    const { anfitriones, start, pasar } = nuevos()
    const count = (names: string[], comercio?: string) =>
      names
        .map((anfitrion) => envio({ host: anfitrion, ...(comercio ? { comercio } : {}) }))
        .reduce((sum, one) => {
          const hechos = start(one, 1)
          if (hechos > 0) anfitriones.finish(one, false)
          return sum + hechos
        }, 0)
    const comodin = Array.from({ length: 500 }, (_, i) => `n${i}.ejemplo.com`)
    expect(count(comodin)).toBe(MAX_REQUESTS_PER_MINUTE)
    // Another's have what is his, at the same names.
    expect(count(['n0.ejemplo.com'], 'otra')).toBe(1)
    pasar(10_000)
    expect(count(comodin)).toBe(10)
    // What is proved isn't bounded so.
    expect(start(envio({ verified: true }))).toBe(MAX_EXCHANGES_PER_HOST)
  })

  it('is much once the host has taken something, or an endpoint of it was proved, but for tests', () => {
    const { anfitriones, start } = nuevos()
    expect(start(envio({ verified: true }))).toBe(MAX_EXCHANGES_PER_HOST)
    const other = { host: 'otra.ejemplo.com' }
    expect(start(envio(other), 1)).toBe(1)
    anfitriones.finish(envio(other), true)
    expect(start(envio(other))).toBe(MAX_EXCHANGES_PER_HOST)
    const third = envio({ host: 'tercera.ejemplo.com', comercio: 'otra', verified: true, isTest: true })
    expect(start(third)).toBe(MAX_REQUESTS_PER_MINUTE)
  })

  it('goes on with the lines that waited as soon as one exchange ends', () => {
    const { anfitriones, start } = nuevos()
    start(envio())
    for (const line of ['una', 'otra', 'ida']) expect(anfitriones.maySend(envio(), line)).toBe(false)
    anfitriones.forget('ida')
    expect([...anfitriones.finish(envio(), true)]).toEqual(['una', 'otra'])
    expect([...anfitriones.finish(envio(), true)]).toEqual([])
  })
})

it('many merchants’ endpoints at a host that hangs send it little, and hold up nobody', async () => {
  const retenedor = holdAnswers()
  const victima = await nuevoReceptor(retenedor.responder)
  const atacantes = await Promise.all(Array.from({ length: 5 }, () => environment.createComercio()))
  for (const { api } of atacantes)
    for (let i = 0; i < 4; i++) {
      const { webhook } = await api.webhooks.crear({ url: `${victima.url}/${i}` })
      await api.webhooks.probar(webhook)
    }
  await waitUntil(async () => victima.receivedWebhooks.length === MAX_EXCHANGES_PER_UNKNOWN_HOST)
  const { api } = await environment.createComercio()
  const receptor = await nuevoReceptor(answerWith(204))
  await api.webhooks.crear({ url: receptor.url })
  for (let i = 1; i <= 10; i++) {
    await api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === i)
  }
  expect([victima.receivedWebhooks.length, retenedor.abandonedCount]).toEqual([MAX_EXCHANGES_PER_UNKNOWN_HOST, 0])
  // It answers after all: what waited goes.
  retenedor.release()
  await waitUntil(async () => victima.receivedWebhooks.length === 20)
})
