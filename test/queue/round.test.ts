import { beforeEach, describe, expect, it } from 'vitest'
import { Rounds } from '../../server/data/queue/round.ts'
import type { Timers } from '../../server/platform/time/timers.ts'

describe('a round', () => {
  // Faked timers of the whole process would also hold those of the service that the files of a worker share.
  let now = 0
  let calls: { at: number; act: () => void }[] = []
  beforeEach(() => {
    calls = []
  })
  const timers: Timers = {
    now: () => now,
    after(ms, act) {
      const call = { at: now + ms, act }
      calls.push(call)
      return () => {
        calls = calls.filter((one) => one !== call)
      }
    },
  }
  /** Lets that many milliseconds pass, and everything that is due in them happen in its order. */
  async function pasar(ms: number) {
    const end = now + ms
    await new Promise(setImmediate)
    for (;;) {
      const [call] = calls.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!call) break
      now = call.at
      calls = calls.filter((one) => one !== call)
      call.act()
      await new Promise(setImmediate)
    }
    now = end
  }

  /** Rounds of 5 to 30 s, and how often they came. */
  function rondas(act: () => Promise<unknown> = async () => {}) {
    const vistas = { count: 0, fallas: 0 }
    const count = () => {
      vistas.count++
      return act()
    }
    return {
      vistas,
      ronda: new Rounds(count, { busyInterval: 5_000, calmInterval: 30_000 }, () => vistas.fallas++, timers),
    }
  }

  it('comes at once, and then ever more rarely, up to its bound', async () => {
    const { vistas, ronda } = rondas()
    const cuando = []
    for (let s = 0; s <= 120; s += 5) {
      const before = vistas.count
      await pasar(s === 0 ? 0 : 5_000)
      if (s === 0 || vistas.count > before) cuando.push(s)
    }
    expect(cuando).toEqual([0, 10, 30, 60, 90, 120])
    await ronda.stop()
  })

  it('comes soon as long as somebody has work for it, although it had been long away', async () => {
    const { vistas, ronda } = rondas()
    await pasar(31_000)
    expect(vistas.count).toBe(3)
    ronda.hurry()
    await pasar(5_000)
    expect(vistas.count).toBe(4)
    ronda.hurry()
    await pasar(10_000)
    expect(vistas.count).toBe(5)
  })

  it('goes on where there is more, with a rest of three times as long as each took', async () => {
    const tandas = [true, true, false]
    const { vistas, ronda } = rondas(async () => {
      await new Promise((resolve) => timers.after(100, () => resolve(null)))
      return tandas.shift()
    })
    await pasar(100)
    await pasar(299)
    expect(vistas.count).toBe(1)
    await pasar(1 + 100 + 300)
    expect(vistas.count).toBe(3)
    await pasar(5_000)
    expect(vistas.count).toBe(3)
    await ronda.stop()
  })

  it('goes on after a failure, is never two at once, and its end waits for the one under way', async () => {
    let terminar: (error?: Error) => void = () => {}
    const { vistas, ronda } = rondas(
      () => new Promise<void>((resolve, reject) => (terminar = (error) => (error ? reject(error) : resolve()))),
    )
    await pasar(60_000)
    ronda.hurry()
    await pasar(60_000)
    expect(vistas.count).toBe(1)
    terminar(new Error('no'))
    await pasar(5_000)
    expect(vistas).toEqual({ count: 2, fallas: 1 })
    let acabada = false
    const end = ronda.stop().then(() => (acabada = true))
    await pasar(1_000)
    expect(acabada).toBe(false)
    terminar()
    await end
    await pasar(60_000)
    expect(vistas.count).toBe(2)
  })
})
