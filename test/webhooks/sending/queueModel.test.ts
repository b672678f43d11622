// The order of a guide's webhooks, in stories that fast-check chooses: reads in flight, slow receivers, deliveries that
// leave memory, retries, resends, pauses and leases that change hands.

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../../factories.ts'
import { play, type Story } from './queueModel.ts'

// Without bias: a story of one guide and no incident shows nothing.
const story: fc.Arbitrary<Story> = fc.noBias(
  fc.record({
    seed: fc.integer({ min: 0, max: 2 ** 31 - 1 }),
    processes: fc.constantFrom(1, 1, 2),
    endpoints: fc.constantFrom(1, 2, 3),
    guides: fc.integer({ min: 1, max: 14 }),
    events: fc.integer({ min: 2, max: 20 }),
    writing: fc.constantFrom(100, 4_000, 20_000),
    receiver: fc.constantFrom(5, 50, 430, 900, 3_000),
    statement: fc.constantFrom(2, 30, 300, 3_000),
    refused: fc.constantFrom(0, 0, 5, 40),
    broken: fc.constantFrom(0, 0, 3),
    incidents: fc.array(
      fc.record({
        kind: fc.constantFrom('pause', 'resume', 'resend', 'loseLease', 'loseLease', 'wake', 'stop'),
        at: fc.integer({ min: 0, max: 150 }),
      }),
      { maxLength: 8, size: 'max' },
    ),
  }),
)

const property = fc.asyncProperty(story, async (one) => {
  const { exchanges, ...faults } = await play(one)
  expect(faults).toEqual({ disordered: [], overlapping: [], repeated: [], undelivered: [] })
  expect(exchanges).toBeGreaterThanOrEqual(one.endpoints * one.guides * one.events)
})

describe('the webhooks of a guide', () => {
  it('go out in order and one at a time in 50 stories', async () => {
    await fc.assert(property, { numRuns: 50, endOnFailure: true })
  })

  it('go out in order and one at a time in 1,000 stories', FULL_RUN_ONLY, async () => {
    await fc.assert(property, { numRuns: 1_000 })
  })

  it('go out in order to a receiver that takes 430 ms, with 20 corrections of 12 guides', async () => {
    const quiet = {
      seed: 1,
      processes: 1,
      endpoints: 1,
      writing: 2_000,
      statement: 5,
      refused: 0,
      broken: 0,
      incidents: [],
    }
    const { disordered } = await play({ ...quiet, guides: 12, events: 20, receiver: 430 })
    expect(disordered).toEqual([])
  })
})
