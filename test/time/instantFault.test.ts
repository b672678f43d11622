import { describe, expect, it } from 'vitest'
import { readInstant } from '../../server/platform/time/instant.ts'
import { faultOfDay, faultOfInstant } from '../../server/platform/time/instantFault.ts'

/** Instants that a message proposes, decoded as from a query string. */
const proposals = (message = '') =>
  [...message.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+(?:Z|-\d\d:\d\d|\+\d\d:\d\d|%2B\d\d:\d\d)/g)].map(([one]) =>
    one.replace('%2B', '+'),
  )

describe('the fault of an instant', () => {
  it.each([
    ['2026-11-20', 'le faltan la hora y la zona', ['2026-11-20T00:00:00-06:00', '2026-11-20T00:00:00Z']],
    ['2026-11-20T10:30:00', 'le falta la zona', ['2026-11-20T10:30:00-06:00', '2026-11-20T10:30:00Z']],
    ['2026-11-20 10:30', 'le falta la zona', ['2026-11-20T10:30:00-06:00', '2026-11-20T10:30:00Z']],
    ['2026-11-20T10:30:00.5', 'le falta la zona', ['2026-11-20T10:30:00.5-06:00', '2026-11-20T10:30:00.5Z']],
    ['2026-11-20T10:30:00 02:00', 'el + de la zona llegó como un espacio', ['2026-11-20T10:30:00+02:00']],
    ['2026-11-20T10:30:00-0600', 'RFC 3339: escriba', ['2026-11-20T10:30:00-06:00']],
    ['2026-11-20T10:30+02', 'RFC 3339: escriba', ['2026-11-20T10:30:00+02:00']],
    ['2026-11-20 10:30:00Z', 'RFC 3339: escriba', ['2026-11-20T10:30:00Z']],
    ['2026-9-5T8:30:00Z', 'RFC 3339: escriba', ['2026-09-05T08:30:00Z']],
    ['1795185000', 'desde 1970', ['2026-11-20T14:30:00.000Z']],
    ['1795185000123', 'desde 1970', ['2026-11-20T14:30:00.123Z']],
    ['2026-02-30T10:30:00Z', '2026-02-30 no es un día', []],
    ['2026-11-20T25:00:00Z', '25:00:00 no es una hora', []],
  ])('%s has its own message, and proposes what can be read', (written, said, forms) => {
    expect(readInstant(written)).toBeUndefined()
    const message = faultOfInstant(written, true)
    expect(message).toContain(said)
    expect(proposals(message)).toEqual(forms)
    for (const form of forms) expect(readInstant(form), form).toBeDefined()
  })

  it('proposes an escaped plus sign in a query string, and the sign itself in a body', () => {
    const written = '2026-11-20T10:30:00 02:00'
    expect(faultOfInstant(written, true)).toContain('%2B, 2026-11-20T10:30:00%2B02:00')
    expect(faultOfInstant(written)).toBe('lleva un espacio donde va el + de la zona: escriba 2026-11-20T10:30:00+02:00')
    expect(faultOfInstant('2026-11-20T10:30+02')).toContain('2026-11-20T10:30:00+02:00')
  })

  it.each(['', 'ayer', '20/11/2026', '20261120T103000Z', '2026-11-20T10:30:00 06:99', '2026-11-20'.repeat(9_000)])(
    'has no message of its own for %.40s',
    (written) => expect(faultOfInstant(written)).toBeUndefined(),
  )
})

describe('the fault of a day', () => {
  it('names the day of an instant, and a day that the calendar does not have', () => {
    expect(faultOfDay('2026-11-20T10:30:00Z')).toBe('lleva una hora: escriba solo el día, 2026-11-20')
    expect(faultOfDay('2026-02-30')).toContain('2026-02-30 no es un día')
    for (const written of ['20/11/2026', '2026-11-20x', '']) expect(faultOfDay(written)).toBeUndefined()
  })
})
