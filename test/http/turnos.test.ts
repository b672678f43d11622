import { describe, expect, it } from 'vitest'
import { crearTurnos } from '../../server/http/turnos.ts'

describe('turns', () => {
  it('go in order, so many at once, and go on after a failure', async () => {
    const turno = crearTurnos(2)
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
})
