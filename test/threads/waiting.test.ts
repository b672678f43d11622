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
      const espera = new WaitingList<string>(maximo)
      let dentro: string[] = []
      const largo = (dueno: string) => dentro.filter((quien) => quien[0] === dueno).length
      for (const [i, accion] of acciones.entries()) {
        if ('add' in accion) {
          dentro.push(`${accion.add}${i}`)
          const sobra = espera.add(accion.add, `${accion.add}${i}`)
          expect(sobra !== undefined).toBe(dentro.length > maximo)
          if (sobra) expect(largo(sobra[0]!)).toBe(Math.max(...['a', 'b', 'c', 'd'].map(largo)))
          dentro = dentro.filter((quien) => quien !== sobra)
        } else if ('remove' in accion) {
          const quien = espera.next()
          expect(quien === undefined).toBe(dentro.length === 0)
          if (quien) expect(dentro.find((otro) => otro[0] === quien[0])).toBe(quien)
          dentro = dentro.filter((otro) => otro !== quien)
        } else {
          const quien = dentro[accion.quitar] ?? 'z'
          espera.remove(quien[0]!, quien)
          dentro = dentro.filter((otro) => otro !== quien)
        }
      }
      const resto = dentro.map(() => espera.next())
      expect(resto.toSorted()).toEqual(dentro.toSorted())
      expect(espera.next()).toBeUndefined()
    }),
    { numRuns: 500 },
  )
})
