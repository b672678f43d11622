import { describe, expect, it } from 'vitest'
import { createSharedTurns, createTurns } from '../../server/api/http/turns.ts'

describe('turns', () => {
  it('go in order, so many at once, and go on after a failure', async () => {
    const turno = createTurns(2)
    const steps: string[] = []
    let running = 0
    const act = (name: string, fault = false) =>
      turno(async () => {
        expect(++running).toBeLessThanOrEqual(2)
        await new Promise(setImmediate)
        running--
        steps.push(name)
        if (fault) throw new Error(name)
      })
    const all = await Promise.allSettled(['a', 'b', 'c', 'd', 'e'].map((name) => act(name, ['a', 'c'].includes(name))))
    expect(all.map(({ status }) => status === 'fulfilled')).toEqual([false, true, false, true, true])
    expect(steps).toEqual(['a', 'b', 'c', 'd', 'e'])
    await act('g')
    expect(steps.at(-1)).toBe('g')
  })

  it('are shared evenly: an owner with many has one at a time, and all together few', async () => {
    const turno = createSharedTurns({ perOwner: 1, overall: 2 })
    const running = new Map<string, number>()
    const seen = { ownItems: 0, todas: 0 }
    const hechas: string[] = []
    const request = (owner: string) =>
      turno(owner, async () => {
        running.set(owner, (running.get(owner) ?? 0) + 1)
        seen.ownItems = Math.max(seen.ownItems, ...running.values())
        seen.todas = Math.max(
          seen.todas,
          [...running.values()].reduce((sum, n) => sum + n, 0),
        )
        await new Promise(setImmediate)
        running.set(owner, running.get(owner)! - 1)
        hechas.push(owner)
      })
    await Promise.all([...Array<string>(20).fill('muchas'), 'otro', 'tercero'].map(request))
    expect(seen).toEqual({ ownItems: 1, todas: 2 })
    // Who comes last waits for one of the flood's, not for all of it.
    expect(hechas.indexOf('otro')).toBeLessThan(4)
    expect(hechas.indexOf('tercero')).toBeLessThan(5)
  })
})
