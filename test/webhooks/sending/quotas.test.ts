import { describe, expect, it } from 'vitest'
import {
  Admission,
  type AdmissionTurn,
  DeliveryLine,
  type Waiting,
} from '../../../server/domain/webhooks/sending/admission.ts'
import {
  MAX_EXCHANGES,
  MAX_EXCHANGES_PER_MERCHANT,
  MAX_EXCHANGES_PER_WEBHOOK,
  MAX_FAST_EXCHANGES,
  MAX_WAITING,
  MAX_WAITING_PER_MERCHANT,
  MAX_WAITING_PER_WEBHOOK,
  SLOW_AFTER_MS,
} from '../../../server/domain/webhooks/sending/limits.ts'

type DeliveryTurn = AdmissionTurn<Waiting, DeliveryLine>

/** Quotas on a clock of the test's own. */
function nuevo() {
  const quotas = new Admission<Waiting, DeliveryLine>()
  let seriesId = 0
  const pendiente = (guia_id = `guia ${++seriesId}`, secuencia = 1): Waiting => ({
    evento: `${guia_id} ${secuencia}`,
    guia_id,
    secuencia,
    desde: 0,
  })
  const line = (comercio: string, count = 0) => {
    const ownLine = new DeliveryLine(quotas.open(comercio))
    for (let i = 0; i < count; i++) quotas.add(ownLine, pendiente())
    return ownLine
  }
  /** All that may begin at that instant. */
  const start = (now: number, puede: (line: DeliveryLine) => boolean = () => true): DeliveryTurn[] => {
    const startedTurns: DeliveryTurn[] = []
    for (let turno = quotas.take(now, puede); turno; turno = quotas.take(now, puede)) startedTurns.push(turno)
    return startedTurns
  }
  return { quotas, pendiente, line, start }
}

const de = (line: DeliveryLine) => (turno: DeliveryTurn) => turno.line === line

describe('admission to send', () => {
  it('an endpoint has four exchanges under way, and begins another when one ends', () => {
    const { quotas, line, start } = nuevo()
    const one = line('a', 10)
    const turnos = start(0)
    expect(turnos).toHaveLength(MAX_EXCHANGES_PER_WEBHOOK)
    expect([one.inFlight, one.waiting.length, quotas.inFlightCount, quotas.waitingCount]).toEqual([4, 6, 4, 6])
    quotas.finish(turnos[2]!, 5)
    expect(start(5)).toHaveLength(1)
    // The end of the same exchange counts once.
    quotas.finish(turnos[2]!, 6)
    expect(start(6)).toEqual([])
  })

  it('endpoints take turns, one delivery each', () => {
    const { line, start } = nuevo()
    const [one, other, third] = [line('a', 4), line('a', 1), line('b', 2)]
    expect(start(0).map((turno) => [one, other, third].indexOf(turno.line))).toEqual([0, 1, 2, 0, 2, 0, 0])
  })

  it('a merchant has half of the places, and what he may not begin goes on when one of his ends', () => {
    const { quotas, line, start } = nuevo()
    const ownLines = Array.from({ length: 20 }, () => line('a', 10))
    const turnos = start(0)
    expect(turnos).toHaveLength(MAX_EXCHANGES_PER_MERCHANT)
    const neighbour = line('b', 3)
    expect(start(1).every(de(neighbour))).toBe(true)
    expect(neighbour.inFlight).toBe(3)
    for (const turno of turnos.slice(0, 5)) quotas.finish(turno, 2)
    expect(start(2).map((turno) => ownLines.includes(turno.line))).toEqual(Array(5).fill(true))
  })

  it('64 quick exchanges are under way; slow ones aren’t counted, up to 512', () => {
    const { line, start } = nuevo()
    for (let i = 0; i < 300; i++) line(`comercio ${i}`, 10)
    let total = 0
    for (let time = 0; total < MAX_EXCHANGES; time++) {
      const startedTurns = start(time * (SLOW_AFTER_MS + 1)).length
      expect(startedTurns).toBe(MAX_FAST_EXCHANGES)
      total += startedTurns
    }
    expect(start(1e9)).toEqual([])
  })

  it('the fuller it is the less a merchant may have under way, but never fewer than an endpoint', () => {
    const { line, start } = nuevo()
    for (let i = 0; i < 110; i++) line(`comercio ${i}`, MAX_EXCHANGES_PER_WEBHOOK)
    for (let time = 0; time < 7; time++) start(time * (SLOW_AFTER_MS + 1))
    const filledText = Array.from({ length: 20 }, () => line('tarde', 10))
    start(1e9)
    const inFlightCount = filledText.reduce((sum, one) => sum + one.inFlight, 0)
    expect(inFlightCount).toBeGreaterThanOrEqual(MAX_EXCHANGES_PER_WEBHOOK)
    expect(inFlightCount).toBeLessThan(MAX_EXCHANGES_PER_MERCHANT)
  })

  it('a failing endpoint has one under way, its probe', () => {
    const { quotas, line, start } = nuevo()
    const one = line('a')
    one.limit = 1
    expect(quotas.roomFor(one)).toBe(1)
    quotas.add(one, { evento: 'e', guia_id: 'g', secuencia: 1, desde: 0 })
    expect(quotas.roomFor(one)).toBe(0)
    const [probe, ...more] = start(0)
    expect(more).toEqual([])
    expect(quotas.roomFor(one)).toBe(0)
    quotas.finish(probe!, 1)
    expect(quotas.roomFor(one)).toBe(1)
  })

  it('one that may not be sent to just now loses its place until it is summoned, and keeps what waits', () => {
    const { quotas, line, start } = nuevo()
    const [one, other] = [line('a', 2), line('a', 1)]
    const startedTurns = start(0, (caller) => caller !== one)
    expect(startedTurns.map(({ line }) => [one, other].indexOf(line))).toEqual([1])
    expect(start(1)).toEqual([])
    quotas.queueLine(one)
    expect(start(2)).toHaveLength(2)
  })

  it('two events of a guide, in any order of arrival, are sent one after another in their own order', () => {
    const { quotas, line, pendiente, start } = nuevo()
    const one = line('a')
    for (const secuencia of [2, 3, 1]) quotas.add(one, pendiente('suya', secuencia))
    quotas.add(one, pendiente('otra'))
    const seen: string[] = []
    for (let now = 0; quotas.inFlightCount + quotas.waitingCount > 0; now++) {
      const turnos = start(now)
      seen.push(turnos.map(({ aviso: entrega }) => entrega.evento).join(' + '))
      for (const turno of turnos) quotas.finish(turno, now)
    }
    expect(seen).toEqual(['suya 1 + otra 1', 'suya 2', 'suya 3'])
  })
})

describe('the number of deliveries in memory', () => {
  it('is bounded for an endpoint, a merchant and all together, and leaves room for newcomers', () => {
    const { quotas, line, pendiente } = nuevo()
    const fill = (one: DeliveryLine) => {
      const count = quotas.reserve(one, MAX_WAITING_PER_WEBHOOK)
      for (let i = 0; i < count; i++) quotas.add(one, pendiente())
      quotas.unreserve(one, count)
      return count
    }
    const linesOfOne = Array.from({ length: 10 }, () => line('a'))
    expect(linesOfOne.map(fill)).toEqual([
      MAX_WAITING_PER_WEBHOOK,
      MAX_WAITING_PER_WEBHOOK,
      MAX_WAITING_PER_MERCHANT - 2 * MAX_WAITING_PER_WEBHOOK,
      0,
      0,
      0,
      0,
      0,
      0,
      0,
    ])
    for (let i = 0; i < 200; i++) fill(line(`comercio ${i}`))
    expect(quotas.waitingCount).toBeLessThan(MAX_WAITING + 200 * MAX_EXCHANGES_PER_WEBHOOK)
    expect(fill(line('el último'))).toBe(MAX_EXCHANGES_PER_WEBHOOK)
  })

  it('counts what is being read', () => {
    const { quotas, line } = nuevo()
    const unas = Array.from({ length: 3 }, () => line('a'))
    const other = line('a')
    expect(quotas.reserve(other, 3)).toBe(3)
    quotas.unreserve(other, 3)
    for (const one of unas) expect(quotas.reserve(one, MAX_WAITING_PER_WEBHOOK)).toBe(MAX_WAITING_PER_WEBHOOK)
    expect(quotas.reserve(other, MAX_WAITING_PER_WEBHOOK)).toBe(0)
    for (const one of unas) quotas.unreserve(one, MAX_WAITING_PER_WEBHOOK)
    expect(quotas.roomFor(other)).toBe(MAX_WAITING_PER_WEBHOOK)
  })

  it('falls when a delivery is taken out, or when its line closes', () => {
    const { quotas, line, start } = nuevo()
    const one = line('a', 6)
    const other = line('a', 2)
    expect(quotas.remove(one, ({ evento }) => evento < 'guia 3')).toHaveLength(2)
    quotas.close(other)
    expect([quotas.waitingCount, one.share.waitingCount]).toEqual([4, 4])
    expect(start(0).every(de(one))).toBe(true)
    quotas.close(one)
    expect(quotas.waitingCount).toBe(0)
    expect(quotas.open('a')).not.toBe(one.share)
  })

  it('an endpoint hangs when all its exchanges wait for too long', () => {
    const { quotas, line, start } = nuevo()
    const one = line('a', 4)
    const [first] = start(100)
    expect([one.isHung(1_100, 1_000), one.isHung(1_101, 1_000)]).toEqual([false, true])
    quotas.finish(first!, 2_000)
    expect(one.isHung(9_000, 1_000)).toBe(false)
  })
})
