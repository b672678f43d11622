import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Rounds } from '../../server/data/queue/round.ts'

describe('a round', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  /** Rounds of 5 to 30 s, and how often they came. */
  function rondas(hacer: () => Promise<unknown> = async () => {}) {
    const vistas = { cuantas: 0, fallas: 0 }
    const contar = () => {
      vistas.cuantas++
      return hacer()
    }
    return { vistas, ronda: new Rounds(contar, { prisa: 5_000, calma: 30_000 }, () => vistas.fallas++) }
  }

  it('comes at once, and then ever more rarely, up to its bound', async () => {
    const { vistas, ronda } = rondas()
    const cuando = []
    for (let s = 0; s <= 120; s += 5) {
      const antes = vistas.cuantas
      await vi.advanceTimersByTimeAsync(s === 0 ? 0 : 5_000)
      if (s === 0 || vistas.cuantas > antes) cuando.push(s)
    }
    expect(cuando).toEqual([0, 10, 30, 60, 90, 120])
    await ronda.stop()
  })

  it('comes soon as long as somebody has work for it, although it had been long away', async () => {
    const { vistas, ronda } = rondas()
    await vi.advanceTimersByTimeAsync(31_000)
    expect(vistas.cuantas).toBe(3)
    ronda.hurry()
    await vi.advanceTimersByTimeAsync(5_000)
    expect(vistas.cuantas).toBe(4)
    ronda.hurry()
    await vi.advanceTimersByTimeAsync(10_000)
    expect(vistas.cuantas).toBe(5)
  })

  it('goes on where there is more, with a rest of three times as long as each took', async () => {
    const tandas = [true, true, false]
    const { vistas, ronda } = rondas(async () => {
      await new Promise((resolve) => setTimeout(resolve, 100))
      return tandas.shift()
    })
    await vi.advanceTimersByTimeAsync(100)
    await vi.advanceTimersByTimeAsync(299)
    expect(vistas.cuantas).toBe(1)
    await vi.advanceTimersByTimeAsync(1 + 100 + 300)
    expect(vistas.cuantas).toBe(3)
    await vi.advanceTimersByTimeAsync(5_000)
    expect(vistas.cuantas).toBe(3)
    await ronda.stop()
  })

  it('goes on after a failure, is never two at once, and its end waits for the one under way', async () => {
    let terminar: (error?: Error) => void = () => {}
    const { vistas, ronda } = rondas(
      () => new Promise<void>((resolve, reject) => (terminar = (error) => (error ? reject(error) : resolve()))),
    )
    await vi.advanceTimersByTimeAsync(60_000)
    ronda.hurry()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(vistas.cuantas).toBe(1)
    terminar(new Error('no'))
    await vi.advanceTimersByTimeAsync(5_000)
    expect(vistas).toEqual({ cuantas: 2, fallas: 1 })
    let acabada = false
    const fin = ronda.stop().then(() => (acabada = true))
    await vi.advanceTimersByTimeAsync(1_000)
    expect(acabada).toBe(false)
    terminar()
    await fin
    await vi.advanceTimersByTimeAsync(60_000)
    expect(vistas.cuantas).toBe(2)
  })
})
