// The rehearsal of `npm run test:faults -- despliegue`: what compose.yaml starts, as processes behind the real proxy.

import { describe, expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'
import { REHEARSAL_SCENARIOS } from './rehearsal.ts'

describe('no request fails and no webhook is lost', FULL_RUN_ONLY, () => {
  for (const { titulo, missing, run, ci } of REHEARSAL_SCENARIOS) {
    it(titulo, async ({ skip }) => {
      const motivo = await missing?.()
      if (motivo) skip(motivo)
      const { lost: loss, duplicateCount, fallas: faults } = await run(ci)
      expect({ perdido: loss, duplicado: duplicateCount, fallas: faults }).toEqual({
        perdido: 0,
        duplicado: 0,
        fallas: [],
      })
    })
  }
})
