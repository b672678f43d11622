import { dayIn } from '../../server/platform/time/day.ts'
import { withRelativeDays } from '../../server/platform/time/relativeDays.ts'
import type { TestEnvironment } from '../environment.ts'

/** Returns true if the text contains relative days. */
export const hasRelativeDays = (text: string): boolean => withRelativeDays(text, '2030-01-01') !== text

/** Returns a text of the documentation with the days that the service writes into it at present. */
export const fillRelativeDays = (text: string, { clock }: Pick<TestEnvironment, 'clock'>): string =>
  withRelativeDays(text, dayIn(clock(), 'America/Guatemala'))
