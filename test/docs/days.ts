import { dayIn } from '../../server/platform/time/day.ts'
import { withRelativeDays } from '../../server/platform/time/relativeDays.ts'
import type { TestEnvironment } from '../environment.ts'

/** Returns true if the text contains relative days. */
export const hasRelativeDays = (texto: string): boolean => withRelativeDays(texto, '2030-01-01') !== texto

/** Returns a text of the documentation with the days that the service writes into it at present. */
export const fillRelativeDays = (texto: string, { clock }: Pick<TestEnvironment, 'clock'>): string =>
  withRelativeDays(texto, dayIn(clock(), 'America/Guatemala'))
