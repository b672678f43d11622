import { expect, it } from 'vitest'
import { Memoria } from '../../server/data/queue/memory.ts'

it('what was fed lately is remembered for its time, the oldest forgotten first', () => {
  const memoria = new Memoria(1_000)
  memoria.anotar(['a', 'b'], 0)
  memoria.anotar(['c'], 500)
  const cuales = () => ['a', 'b', 'c'].filter((id) => memoria.tiene(id)).join('')
  memoria.olvidarViejos(999)
  expect(cuales()).toBe('abc')
  memoria.olvidarViejos(1_000)
  expect(cuales()).toBe('c')
  memoria.olvidarTodo()
  expect(cuales()).toBe('')
})
