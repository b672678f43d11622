// The faults of `npm run test:faults -- webhooks`, in a size that fits here: real processes, a PostgreSQL for each.

import { describe, it } from 'vitest'
import { FULL_RUN_ONLY } from '../../factories.ts'
import { SCENARIOS } from '../../resilience/webhooks.ts'

// A dead worker's claims take 40 s to lapse, and half of the scenarios do little but wait for that.
describe.concurrent('the sender survives', FULL_RUN_ONLY, () => {
  for (const { titulo, run, ci } of SCENARIOS) {
    it(titulo, async ({ expect: expectHere }) => {
      const { lost: loss, fallas: faults } = await run(ci)
      expectHere({ perdido: loss, fallas: faults }).toEqual({ perdido: 0, fallas: [] })
    })
  }
})
