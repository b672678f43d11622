import fc from 'fast-check'
import { expect, test } from 'vitest'
import { WaitingList } from '../../server/platform/threads/waiting.ts'

test('the waiting list is never too long, loses nobody, and drops only from the longest line, in any order of changes', () => {
  const accion = fc.oneof(
    { weight: 3, arbitrary: fc.record({ add: fc.constantFrom('a', 'b', 'c', 'd') }) },
    fc.record({ remove: fc.constant(true) }),
    fc.record({ quitar: fc.nat(40) }),
  )
  fc.assert(
    fc.property(fc.array(accion, { maxLength: 60 }), fc.integer({ min: 1, max: 6 }), (acciones, maximo) => {
      const wait = new WaitingList<string>(maximo)
      let inside: string[] = []
      const length = (owner: string) => inside.filter((caller) => caller[0] === owner).length
      for (const [i, accion] of acciones.entries()) {
        if ('add' in accion) {
          inside.push(`${accion.add}${i}`)
          const surplus = wait.add(accion.add, `${accion.add}${i}`)
          expect(surplus !== undefined).toBe(inside.length > maximo)
          if (surplus) expect(length(surplus[0]!)).toBe(Math.max(...['a', 'b', 'c', 'd'].map(length)))
          inside = inside.filter((caller) => caller !== surplus)
        } else if ('remove' in accion) {
          const caller = wait.next()
          expect(caller === undefined).toBe(inside.length === 0)
          if (caller) expect(inside.find((other) => other[0] === caller[0])).toBe(caller)
          inside = inside.filter((other) => other !== caller)
        } else {
          const caller = inside[accion.quitar] ?? 'z'
          wait.remove(caller[0]!, caller)
          inside = inside.filter((other) => other !== caller)
        }
      }
      const rest = inside.map(() => wait.next())
      expect(rest.toSorted()).toEqual(inside.toSorted())
      expect(wait.next()).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})
