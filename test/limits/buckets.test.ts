import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Buckets, MEMORY_FACTOR } from '../../server/api/limits/buckets.ts'

const RITMO = { perSecond: 2, burst: 10 }

function withClock(processes = 1, maximo?: number) {
  const estado = { ms: 0, processes }
  const buckets = new Buckets({
    clock: () => estado.ms,
    processes: () => estado.processes,
    ...(maximo ? { max: maximo } : {}),
  })
  return { estado, buckets }
}

const times = (count: number, act: () => number) => Array.from({ length: count }, act)

describe('a token bucket', () => {
  it('lets a burst through, and then as many as come back', () => {
    const { buckets, estado } = withClock()
    expect(times(12, () => buckets.take('a', RITMO))).toEqual([...Array(10).fill(0), 1, 1])
    estado.ms += 1_000
    expect(times(3, () => buckets.take('a', RITMO))).toEqual([0, 0, 1])
    estado.ms += 60_000
    expect(buckets.remaining('a', RITMO)).toEqual({ remaining: 10, fullIn: 0 })
  })

  it('lets a request through that costs more than is left, and delays its key for the whole cost', () => {
    const { buckets } = withClock()
    expect(buckets.take('a', RITMO, 100)).toBe(0)
    expect(buckets.take('a', RITMO)).toBe(46)
    expect(buckets.remaining('a', RITMO)).toEqual({ remaining: 0, fullIn: 50 })
    buckets.giveBack('a', 95)
    expect(buckets.remaining('a', RITMO)).toEqual({ remaining: 5, fullIn: 3 })
  })

  it('is divided among the processes of this moment, and nobody is left without', () => {
    const { buckets, estado } = withClock(2)
    expect(times(6, () => buckets.take('a', RITMO))).toEqual([...Array(5).fill(0), 1])
    estado.processes = 100
    expect(buckets.parte(RITMO)).toEqual({ perSecond: 0.02, burst: 1 })
    estado.processes = 1
    estado.ms += 5_000
    expect(buckets.remaining('a', RITMO).remaining).toBe(10)
  })

  it('gives no tokens to a key that has itself pushed out by others', () => {
    const { buckets, estado } = withClock(1, 10)
    let tomadas = 0
    for (let time = 0; time < 100; time++) {
      while (buckets.take('a', RITMO, 3) === 0) tomadas += 3
      for (let other = 0; other < 40; other++) buckets.take(`${time} ${other}`, RITMO)
      estado.ms += 10
    }
    // Its burst, two a second, and what it owes at the end.
    expect(tomadas).toBeLessThanOrEqual(10 + 2 + 3)
  })

  it('does the same as if none were ever forgotten, while few enough are not full', () => {
    const PASO = fc.record({
      ms: fc.oneof(fc.nat(30), fc.nat(8_000)),
      // Twenty come again and again, any number of others once.
      clave: fc.option(fc.nat(19)),
      cost: fc.integer({ min: 1, max: 4 }),
    })
    fc.assert(
      fc.property(fc.array(PASO, { size: 'large' }), (steps) => {
        const [poco, all] = [withClock(1, 8), withClock(1, Number.POSITIVE_INFINITY)]
        for (const [i, { ms, clave: key, cost }] of steps.entries()) {
          poco.estado.ms += ms
          all.estado.ms += ms
          const [name, ritmo] =
            key === null
              ? ([`other ${i}`, { perSecond: 1_000, burst: 2 }] as const)
              : ([`${key}`, { perSecond: 1 + (key % 3), burst: 10 }] as const)
          expect(poco.buckets.take(name, ritmo, cost)).toBe(all.buckets.take(name, ritmo, cost))
          expect(poco.buckets.remaining(name, ritmo)).toEqual(all.buckets.remaining(name, ritmo))
        }
      }),
    )
  })

  it('lets every newcomer through while another caller floods the buckets with keys, and bounds the number of keys', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { minLength: 300, size: 'large' }), (esperas) => {
        const { buckets, estado } = withClock(1, 10)
        for (const [i, ms] of esperas.entries()) {
          // Keys that spend all that they have, and more.
          while (buckets.take(`flood ${i}`, RITMO, 7) === 0);
          estado.ms += ms
          expect(buckets.take(`newcomer ${i}`, RITMO)).toBe(0)
          expect(buckets.take(`newcomer ${i}`, RITMO)).toBeLessThanOrEqual(1)
          expect(buckets.size).toBeLessThanOrEqual(10 * MEMORY_FACTOR)
        }
        // Once whatever was forgotten would be full again, whoever is new has a whole burst.
        estado.ms += 60_000
        expect(times(11, () => buckets.take('late', RITMO))).toEqual([...Array(10).fill(0), 1])
      }),
      { numRuns: 4 },
    )
  })

  it('starts with what the last one that was forgotten too early would have', () => {
    const { buckets, estado } = withClock(1, 1)
    for (let i = 0; i <= MEMORY_FACTOR; i++) buckets.take(`${i}`, RITMO, 8)
    // Eight that two a second bring back: four seconds.
    expect(buckets.remaining('new', RITMO).remaining).toBe(2)
    estado.ms += 2_000
    expect(buckets.remaining('newer', RITMO).remaining).toBe(6)
  })

  it('forgets the keys that are full again, even behind a slow key', () => {
    const { buckets, estado } = withClock(1, 10)
    const slow = { perSecond: 0.01, burst: 10 }
    buckets.take('slow', slow, 9)
    for (let i = 0; i < 800; i++) {
      estado.ms += 1_000
      buckets.take(`${i}`, RITMO)
    }
    expect([buckets.size, buckets.remaining('slow', slow).remaining]).toEqual([10, 9])
  })

  it('keeps the count of each key, in any order of use', () => {
    const usages = fc.array(fc.constantFrom(...'abcdefghijklmnop'), { maxLength: 80 })
    fc.assert(
      fc.property(usages, (keys) => {
        const { buckets } = withClock(1, 4)
        const model = new Map<string, number>()
        for (const key of keys) {
          buckets.take(key, RITMO)
          model.set(key, Math.max(0, (model.get(key) ?? RITMO.burst) - 1))
        }
        for (const [key, remaining] of model) expect(buckets.remaining(key, RITMO).remaining).toBe(remaining)
      }),
    )
  })
})
