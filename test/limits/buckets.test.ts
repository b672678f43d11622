import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Buckets, MEMORY_FACTOR } from '../../server/api/limits/buckets.ts'

const RITMO = { perSecond: 2, burst: 10 }

function conReloj(processes = 1, maximo?: number) {
  const estado = { ms: 0, processes }
  const cubos = new Buckets({
    clock: () => estado.ms,
    processes: () => estado.processes,
    ...(maximo ? { max: maximo } : {}),
  })
  return { estado, cubos }
}

const times = (count: number, act: () => number) => Array.from({ length: count }, act)

describe('a token bucket', () => {
  it('lets a burst through, and then as many as come back', () => {
    const { cubos, estado } = conReloj()
    expect(times(12, () => cubos.take('a', RITMO))).toEqual([...Array(10).fill(0), 1, 1])
    estado.ms += 1_000
    expect(times(3, () => cubos.take('a', RITMO))).toEqual([0, 0, 1])
    estado.ms += 60_000
    expect(cubos.remaining('a', RITMO)).toEqual({ remaining: 10, fullIn: 0 })
  })

  it('lets a request through that costs more than is left, and delays its key for the whole cost', () => {
    const { cubos } = conReloj()
    expect(cubos.take('a', RITMO, 100)).toBe(0)
    expect(cubos.take('a', RITMO)).toBe(46)
    expect(cubos.remaining('a', RITMO)).toEqual({ remaining: 0, fullIn: 50 })
    cubos.giveBack('a', 95)
    expect(cubos.remaining('a', RITMO)).toEqual({ remaining: 5, fullIn: 3 })
  })

  it('is divided among the processes of this moment, and nobody is left without', () => {
    const { cubos, estado } = conReloj(2)
    expect(times(6, () => cubos.take('a', RITMO))).toEqual([...Array(5).fill(0), 1])
    estado.processes = 100
    expect(cubos.parte(RITMO)).toEqual({ perSecond: 0.02, burst: 1 })
    estado.processes = 1
    estado.ms += 5_000
    expect(cubos.remaining('a', RITMO).remaining).toBe(10)
  })

  it('gives no tokens to a key that has itself pushed out by others', () => {
    const { cubos, estado } = conReloj(1, 10)
    let tomadas = 0
    for (let time = 0; time < 100; time++) {
      while (cubos.take('a', RITMO, 3) === 0) tomadas += 3
      for (let other = 0; other < 40; other++) cubos.take(`${time} ${other}`, RITMO)
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
        const [poco, all] = [conReloj(1, 8), conReloj(1, Number.POSITIVE_INFINITY)]
        for (const [i, { ms, clave, cost: costo }] of steps.entries()) {
          poco.estado.ms += ms
          all.estado.ms += ms
          const [name, ritmo] =
            clave === null
              ? ([`other ${i}`, { perSecond: 1_000, burst: 2 }] as const)
              : ([`${clave}`, { perSecond: 1 + (clave % 3), burst: 10 }] as const)
          expect(poco.cubos.take(name, ritmo, costo)).toBe(all.cubos.take(name, ritmo, costo))
          expect(poco.cubos.remaining(name, ritmo)).toEqual(all.cubos.remaining(name, ritmo))
        }
      }),
    )
  })

  it('lets every newcomer through while another caller floods the buckets with keys, and bounds the number of keys', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(40), { minLength: 300, size: 'large' }), (esperas) => {
        const { cubos, estado } = conReloj(1, 10)
        for (const [i, ms] of esperas.entries()) {
          // Keys that spend all that they have, and more.
          while (cubos.take(`flood ${i}`, RITMO, 7) === 0);
          estado.ms += ms
          expect(cubos.take(`newcomer ${i}`, RITMO)).toBe(0)
          expect(cubos.take(`newcomer ${i}`, RITMO)).toBeLessThanOrEqual(1)
          expect(cubos.size).toBeLessThanOrEqual(10 * MEMORY_FACTOR)
        }
        // Once whatever was forgotten would be full again, whoever is new has a whole burst.
        estado.ms += 60_000
        expect(times(11, () => cubos.take('late', RITMO))).toEqual([...Array(10).fill(0), 1])
      }),
      { numRuns: 4 },
    )
  })

  it('starts with what the last one that was forgotten too early would have', () => {
    const { cubos, estado } = conReloj(1, 1)
    for (let i = 0; i <= MEMORY_FACTOR; i++) cubos.take(`${i}`, RITMO, 8)
    // Eight that two a second bring back: four seconds.
    expect(cubos.remaining('new', RITMO).remaining).toBe(2)
    estado.ms += 2_000
    expect(cubos.remaining('newer', RITMO).remaining).toBe(6)
  })

  it('forgets the keys that are full again, even behind a slow key', () => {
    const { cubos, estado } = conReloj(1, 10)
    const slow = { perSecond: 0.01, burst: 10 }
    cubos.take('slow', slow, 9)
    for (let i = 0; i < 800; i++) {
      estado.ms += 1_000
      cubos.take(`${i}`, RITMO)
    }
    expect([cubos.size, cubos.remaining('slow', slow).remaining]).toEqual([10, 9])
  })

  it('keeps the count of each key, in any order of use', () => {
    const usos = fc.array(fc.constantFrom(...'abcdefghijklmnop'), { maxLength: 80 })
    fc.assert(
      fc.property(usos, (keys) => {
        const { cubos } = conReloj(1, 4)
        const model = new Map<string, number>()
        for (const key of keys) {
          cubos.take(key, RITMO)
          model.set(key, Math.max(0, (model.get(key) ?? RITMO.burst) - 1))
        }
        for (const [key, quedan] of model) expect(cubos.remaining(key, RITMO).remaining).toBe(quedan)
      }),
    )
  })
})
