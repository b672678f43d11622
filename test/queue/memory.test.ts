import { expect, it } from 'vitest'
import { RecentIds } from '../../server/data/queue/memory.ts'

it('recent ids are remembered for a bounded time, and the oldest are forgotten first', () => {
  const memoria = new RecentIds(1_000)
  memoria.add(['a', 'b'], 0)
  memoria.add(['c'], 500)
  const cuales = () => ['a', 'b', 'c'].filter((id) => memoria.has(id)).join('')
  memoria.forgetOld(999)
  expect(cuales()).toBe('abc')
  memoria.forgetOld(1_000)
  expect(cuales()).toBe('c')
  memoria.clear()
  expect(cuales()).toBe('')
})
