import { describe, expect, it } from 'vitest'
import { type HostSend, Hosts } from '../../../server/domain/webhooks/sending/hosts.ts'
import {
  MAX_EXCHANGES_PER_HOST,
  MAX_EXCHANGES_PER_UNKNOWN_HOST,
  MAX_REQUESTS_PER_MINUTE,
} from '../../../server/domain/webhooks/sending/limits.ts'
import { shareEnvironment } from '../../environment.ts'
import { buildGuia, waitUntil } from '../../factories.ts'
import { answerWith, holdAnswers, useReceivers } from '../receiver.ts'

const environment = shareEnvironment()
const openReceiver = useReceivers()

/** Hosts on a clock of the test's own. */
function fresh() {
  let ms = 0
  const hosts = new Hosts<string>(() => ms)
  /** Begins as many of that as may begin. */
  const start = (submission: HostSend, count = 1_000, line = 'una') => {
    let hechos = 0
    for (; hechos < count && hosts.maySend(submission, line); hechos++) hosts.start(submission)
    return hechos
  }
  const passTime = (count: number) => {
    ms += count
  }
  return { hosts, start, passTime }
}
const submission = (cambios: Partial<HostSend> = {}): HostSend => ({
  host: 'tienda.ejemplo.com',
  comercio: 'tienda',
  verified: false,
  isTest: false,
  ...cambios,
})

describe('the traffic to one host', () => {
  it('is little at once while the host has taken nothing, and bounded per minute for all endpoints together', () => {
    const { hosts, start, passTime } = fresh()
    expect(start(submission())).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
    let enviados = MAX_EXCHANGES_PER_UNKNOWN_HOST
    for (let i = 0; i < 1_000; i++) {
      const de = submission({ comercio: `tienda ${i}` })
      hosts.finish(de, false)
      enviados += start(de, 1, `linea ${i}`)
    }
    expect(enviados).toBe(MAX_REQUESTS_PER_MINUTE)
    passTime(10_000)
    expect(start(submission())).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
    // Another host isn't touched.
    expect(start(submission({ host: 'otra.ejemplo.com' }))).toBe(MAX_EXCHANGES_PER_UNKNOWN_HOST)
  })

  it('is little for one merchant, under any names of the host', () => {
    const { hosts, start, passTime } = fresh()
    const count = (names: string[], comercio?: string) =>
      names
        .map((targetHost) => submission({ host: targetHost, ...(comercio ? { comercio } : {}) }))
        .reduce((sum, one) => {
          const hechos = start(one, 1)
          if (hechos > 0) hosts.finish(one, false)
          return sum + hechos
        }, 0)
    const comodin = Array.from({ length: 500 }, (_, i) => `n${i}.ejemplo.com`)
    expect(count(comodin)).toBe(MAX_REQUESTS_PER_MINUTE)
    // Another's have what is his, at the same names.
    expect(count(['n0.ejemplo.com'], 'otra')).toBe(1)
    passTime(10_000)
    expect(count(comodin)).toBe(10)
    // What is proved isn't bounded so.
    expect(start(submission({ verified: true }))).toBe(MAX_EXCHANGES_PER_HOST)
  })

  it('is much once the host has taken something, or an endpoint of it was proved, but for tests', () => {
    const { hosts, start } = fresh()
    expect(start(submission({ verified: true }))).toBe(MAX_EXCHANGES_PER_HOST)
    const other = { host: 'otra.ejemplo.com' }
    expect(start(submission(other), 1)).toBe(1)
    hosts.finish(submission(other), true)
    expect(start(submission(other))).toBe(MAX_EXCHANGES_PER_HOST)
    const third = submission({ host: 'tercera.ejemplo.com', comercio: 'otra', verified: true, isTest: true })
    expect(start(third)).toBe(MAX_REQUESTS_PER_MINUTE)
  })

  it('goes on with the lines that waited as soon as one exchange ends', () => {
    const { hosts, start } = fresh()
    start(submission())
    for (const line of ['una', 'otra', 'ida']) expect(hosts.maySend(submission(), line)).toBe(false)
    hosts.forget('ida')
    expect([...hosts.finish(submission(), true)]).toEqual(['una', 'otra'])
    expect([...hosts.finish(submission(), true)]).toEqual([])
  })
})

it('many merchants’ endpoints at a host that hangs send it little, and hold up nobody', async () => {
  const answerHolder = holdAnswers()
  const victim = await openReceiver(answerHolder.responder)
  const attackers = await Promise.all(Array.from({ length: 5 }, () => environment.createComercio()))
  for (const { api } of attackers)
    for (let i = 0; i < 4; i++) {
      const { webhook } = await api.webhooks.crear({ url: `${victim.url}/${i}` })
      await api.webhooks.probar(webhook)
    }
  await waitUntil(async () => victim.receivedWebhooks.length === MAX_EXCHANGES_PER_UNKNOWN_HOST)
  const { api } = await environment.createComercio()
  const receptor = await openReceiver(answerWith(204))
  await api.webhooks.crear({ url: receptor.url })
  for (let i = 1; i <= 10; i++) {
    await api.guias.crear(buildGuia())
    await waitUntil(async () => receptor.receivedWebhooks.length === i)
  }
  expect([victim.receivedWebhooks.length, answerHolder.abandonedCount]).toEqual([MAX_EXCHANGES_PER_UNKNOWN_HOST, 0])
  // It answers after all: what waited goes.
  answerHolder.release()
  await waitUntil(async () => victim.receivedWebhooks.length === 20)
})
