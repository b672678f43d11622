import { expect, it } from 'vitest'
import { barrerDesconocidos } from '../../server/domain/archivos/sweep.ts'
import { CLEANUPS } from '../../server/startup/jobs.ts'

it('each cleanup comes within an hour, so that nothing outlives its promise by more, and the sweep within a day', () => {
  for (const { cada, hacer } of CLEANUPS) {
    expect([hacer.name, cada > 0]).toEqual([hacer.name, true])
    expect([hacer.name, cada <= (hacer === barrerDesconocidos ? 86_400 : 3_600)]).toEqual([hacer.name, true])
  }
})
