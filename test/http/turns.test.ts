import { describe, expect, it } from 'vitest'
import { createSharedTurns, createTurns } from '../../server/api/http/turns.ts'

describe('turns', () => {
  it('go in order, so many at once, and go on after a failure', async () => {
    const turno = createTurns(2)
    const pasos: string[] = []
    let enCurso = 0
    const hacer = (nombre: string, falla = false) =>
      turno(async () => {
        expect(++enCurso).toBeLessThanOrEqual(2)
        await new Promise(setImmediate)
        enCurso--
        pasos.push(nombre)
        if (falla) throw new Error(nombre)
      })
    const todos = await Promise.allSettled(
      ['a', 'b', 'c', 'd', 'e'].map((nombre) => hacer(nombre, ['a', 'c'].includes(nombre))),
    )
    expect(todos.map(({ status }) => status === 'fulfilled')).toEqual([false, true, false, true, true])
    expect(pasos).toEqual(['a', 'b', 'c', 'd', 'e'])
    await hacer('g')
    expect(pasos.at(-1)).toBe('g')
  })

  it('are shared evenly: an owner with many has one at a time, and all together few', async () => {
    const turno = createSharedTurns({ perOwner: 1, overall: 2 })
    const enCurso = new Map<string, number>()
    const visto = { ownItems: 0, todas: 0 }
    const hechas: string[] = []
    const pedir = (dueno: string) =>
      turno(dueno, async () => {
        enCurso.set(dueno, (enCurso.get(dueno) ?? 0) + 1)
        visto.ownItems = Math.max(visto.ownItems, ...enCurso.values())
        visto.todas = Math.max(
          visto.todas,
          [...enCurso.values()].reduce((suma, n) => suma + n, 0),
        )
        await new Promise(setImmediate)
        enCurso.set(dueno, enCurso.get(dueno)! - 1)
        hechas.push(dueno)
      })
    await Promise.all([...Array<string>(20).fill('muchas'), 'otro', 'tercero'].map(pedir))
    expect(visto).toEqual({ ownItems: 1, todas: 2 })
    // Who comes last waits for one of the flood's, not for all of it.
    expect(hechas.indexOf('otro')).toBeLessThan(4)
    expect(hechas.indexOf('tercero')).toBeLessThan(5)
  })
})
