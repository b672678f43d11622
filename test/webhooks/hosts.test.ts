import { describe, expect, it } from 'vitest'
import {
  type HostSend,
  Hosts,
  PER_HOST,
  PER_UNKNOWN_HOST,
  SENDS_PER_MINUTE,
} from '../../server/domain/webhooks/sending/hosts.ts'
import { shareEnvironment } from '../environment.ts'
import { buildGuia, hasta } from '../factories.ts'
import { answerWith, holdAnswers, useReceivers } from './receiver.ts'

const entorno = shareEnvironment()
const nuevoReceptor = useReceivers()

/** Hosts on a clock of the test's own. */
function nuevos() {
  let ms = 0
  const anfitriones = new Hosts<string>(() => ms)
  /** Begins as many of that as may begin. */
  const empezar = (envio: HostSend, cuantos = 1_000, linea = 'una') => {
    let hechos = 0
    for (; hechos < cuantos && anfitriones.maySend(envio, linea); hechos++) anfitriones.start(envio)
    return hechos
  }
  const pasar = (cuantos: number) => {
    ms += cuantos
  }
  return { anfitriones, start: empezar, pasar }
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
    const { anfitriones, start: empezar, pasar } = nuevos()
    expect(empezar(envio())).toBe(PER_UNKNOWN_HOST)
    let enviados = PER_UNKNOWN_HOST
    for (let i = 0; i < 1_000; i++) {
      const de = envio({ comercio: `tienda ${i}` })
      anfitriones.finish(de, false)
      enviados += empezar(de, 1, `linea ${i}`)
    }
    expect(enviados).toBe(SENDS_PER_MINUTE)
    pasar(10_000)
    expect(empezar(envio())).toBe(PER_UNKNOWN_HOST)
    // Another host isn't touched.
    expect(empezar(envio({ host: 'otra.ejemplo.com' }))).toBe(PER_UNKNOWN_HOST)
  })

  it('is little for one merchant, under any names of the host', () => {
    const { anfitriones, start: empezar, pasar } = nuevos()
    const cuantos = (nombres: string[], comercio?: string) =>
      nombres
        .map((anfitrion) => envio({ host: anfitrion, ...(comercio ? { comercio } : {}) }))
        .reduce((suma, uno) => {
          const hechos = empezar(uno, 1)
          if (hechos > 0) anfitriones.finish(uno, false)
          return suma + hechos
        }, 0)
    const comodin = Array.from({ length: 500 }, (_, i) => `n${i}.ejemplo.com`)
    expect(cuantos(comodin)).toBe(SENDS_PER_MINUTE)
    // Another's have what is his, at the same names.
    expect(cuantos(['n0.ejemplo.com'], 'otra')).toBe(1)
    pasar(10_000)
    expect(cuantos(comodin)).toBe(10)
    // What is proved isn't bounded so.
    expect(empezar(envio({ verified: true }))).toBe(PER_HOST)
  })

  it('is much once the host has taken something, or an endpoint of it was proved, but for tests', () => {
    const { anfitriones, start: empezar } = nuevos()
    expect(empezar(envio({ verified: true }))).toBe(PER_HOST)
    const otra = { host: 'otra.ejemplo.com' }
    expect(empezar(envio(otra), 1)).toBe(1)
    anfitriones.finish(envio(otra), true)
    expect(empezar(envio(otra))).toBe(PER_HOST)
    const tercera = envio({ host: 'tercera.ejemplo.com', comercio: 'otra', verified: true, isTest: true })
    expect(empezar(tercera)).toBe(SENDS_PER_MINUTE)
  })

  it('goes on with the lines that waited as soon as one exchange ends', () => {
    const { anfitriones, start: empezar } = nuevos()
    empezar(envio())
    for (const linea of ['una', 'otra', 'ida']) expect(anfitriones.maySend(envio(), linea)).toBe(false)
    anfitriones.forget('ida')
    expect([...anfitriones.finish(envio(), true)]).toEqual(['una', 'otra'])
    expect([...anfitriones.finish(envio(), true)]).toEqual([])
  })
})

it('many merchants’ endpoints at a host that hangs send it little, and hold up nobody', async () => {
  const retenedor = holdAnswers()
  const victima = await nuevoReceptor(retenedor.responder)
  const atacantes = await Promise.all(Array.from({ length: 5 }, () => entorno.nuevoComercio()))
  for (const { api } of atacantes)
    for (let i = 0; i < 4; i++) {
      const { webhook } = await api.webhooks.crear({ url: `${victima.url}/${i}` })
      await api.webhooks.probar(webhook)
    }
  await hasta(async () => victima.receivedWebhooks.length === PER_UNKNOWN_HOST)
  const { api } = await entorno.nuevoComercio()
  const receptor = await nuevoReceptor(answerWith(204))
  await api.webhooks.crear({ url: receptor.url })
  for (let i = 1; i <= 10; i++) {
    await api.guias.crear(buildGuia())
    await hasta(async () => receptor.receivedWebhooks.length === i)
  }
  expect([victima.receivedWebhooks.length, retenedor.abandonedCount]).toEqual([PER_UNKNOWN_HOST, 0])
  // It answers after all: what waited goes.
  retenedor.release()
  await hasta(async () => victima.receivedWebhooks.length === 20)
})
