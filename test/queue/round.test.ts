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
  async function passTime(ms: number) {
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
    const sightings = { count: 0, fallas: 0 }
    const count = () => {
      sightings.count++
      return act()
    }
    return {
      sightings,
      round: new Rounds(count, { busyInterval: 5_000, calmInterval: 30_000 }, () => sightings.fallas++, timers),
    }
  }

  it('comes at once, and then ever more rarely, up to its bound', async () => {
    const { sightings, round } = rondas()
    const moment = []
    for (let s = 0; s <= 120; s += 5) {
      const before = sightings.count
      await passTime(s === 0 ? 0 : 5_000)
      if (s === 0 || sightings.count > before) moment.push(s)
    }
    expect(moment).toEqual([0, 10, 30, 60, 90, 120])
    await round.stop()
  })

  it('comes soon as long as somebody has work for it, although it had been long away', async () => {
    const { sightings, round } = rondas()
    await passTime(31_000)
    expect(sightings.count).toBe(3)
    round.hurry()
    await passTime(5_000)
    expect(sightings.count).toBe(4)
    round.hurry()
    await passTime(10_000)
    expect(sightings.count).toBe(5)
  })

  it('goes on where there is more, with a rest of three times as long as each took', async () => {
    const batches = [true, true, false]
    const { sightings, round } = rondas(async () => {
      await new Promise((resolve) => timers.after(100, () => resolve(null)))
      return batches.shift()
    })
    await passTime(100)
    await passTime(299)
    expect(sightings.count).toBe(1)
    await passTime(1 + 100 + 300)
    expect(sightings.count).toBe(3)
    await passTime(5_000)
    expect(sightings.count).toBe(3)
    await round.stop()
  })

  it('goes on after a failure, is never two at once, and its end waits for the one under way', async () => {
    let finish: (error?: Error) => void = () => {}
    const { sightings, round } = rondas(
      () => new Promise<void>((resolve, reject) => (finish = (error) => (error ? reject(error) : resolve()))),
    )
    await passTime(60_000)
    round.hurry()
    await passTime(60_000)
    expect(sightings.count).toBe(1)
    finish(new Error('no'))
    await passTime(5_000)
    expect(sightings).toEqual({ count: 2, fallas: 1 })
    let isDone = false
    const end = round.stop().then(() => (isDone = true))
    await passTime(1_000)
    expect(isDone).toBe(false)
    finish()
    await end
    await passTime(60_000)
    expect(sightings.count).toBe(2)
  })
})
