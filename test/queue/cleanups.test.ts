import { expect, it } from 'vitest'
import { sweepUnknownFiles } from '../../server/domain/archivos/sweep.ts'
import { CLEANUPS } from '../../server/startup/jobs.ts'

it('each cleanup comes within an hour, so that nothing outlives its promise by more, and the sweep within a day', () => {
  for (const { intervalSeconds: interval, perform: act } of CLEANUPS) {
    expect([act.name, interval > 0]).toEqual([act.name, true])
    expect([act.name, interval <= (act === sweepUnknownFiles ? 86_400 : 3_600)]).toEqual([act.name, true])
  }
})
