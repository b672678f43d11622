import { createLog } from '../../server/platform/log.ts'
import type { TestEnvironment } from '../environment.ts'
import { readTestSettings } from '../factories.ts'

/** Longer than every retention, in milliseconds. */
const TEN_YEARS = 3_650 * 86_400_000

/** Dependencies of the jobs that erase data after its retention, with a clock that is beyond every retention. */
export const erasingDeps = (environment: TestEnvironment) => ({
  db: environment.db.asRole('guias_trabajos'),
  clock: () => new Date(environment.clock().getTime() + TEN_YEARS),
  log: createLog('silent'),
  settings: readTestSettings(),
})
