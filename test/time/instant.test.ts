import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { iso, readInstant } from '../../server/platform/time/instant.ts'

describe('instants', () => {
  it('are shown as they are, from a Date and from any text of PostgreSQL', () => {
    const moments = fc.date({ min: new Date(0), max: new Date('9999-12-31T23:59:59.999Z'), noInvalidDate: true })
    fc.assert(
      fc.property(moments, (moment) => {
        const written = moment.toISOString()
        const shortForm = written.slice(0, -1).replace(/\.?0+$/, '')
        // Zeros at the end of a second that has no fraction belong to it.
        const exactFit = shortForm.length < 19 ? written.slice(0, 19) : shortForm
        const texts = [`${exactFit.replace('T', ' ')}+00`, `${exactFit}+00:00`, written]
        expect([iso(moment), ...texts.map(iso)]).toEqual(Array(4).fill(written))
      }),
    )
    expect(iso('2026-11-20 09:04:05.5-06')).toBe('2026-11-20T15:04:05.500Z')
  })

  it.each([
    ['2026-11-20T15:04:05Z', '2026-11-20T15:04:05.000Z'],
    ['2026-11-20t15:04:05.5z', '2026-11-20T15:04:05.500Z'],
    ['2026-11-20T15:04:05.123456789-06:00', '2026-11-20T21:04:05.123Z'],
    ['2024-02-29T00:00:00+00:00', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ])('reads %s', (text, iso) => expect(readInstant(text)?.toISOString()).toBe(iso))

  it.each([
    '2026-02-30T00:00:00Z',
    '2025-02-29T00:00:00Z',
    '2026-11-20',
    '2026-11-20 15:04:05Z',
    '2026-11-20T15:04:05',
    '2026-13-01T00:00:00Z',
    '1969-12-31T23:59:59Z',
    '2026-11-20T24:00:00Z',
    '20261120T150405Z',
    '',
  ])('refuses %s', (text) => expect(readInstant(text)).toBeUndefined())
})
