import { expect, it } from 'vitest'
import { documentsWithDeadWorker } from './trials.ts'

it('proofs that a killed worker held are finished by another one', async () => {
  const { fallas: faults } = await documentsWithDeadWorker({ times: 1, size: 24 })
  expect(faults).toEqual([])
})
