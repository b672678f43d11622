import { describe, expect, it } from 'vitest'
import { leerInstante } from '../../server/tiempo/instante.ts'

describe('instants', () => {
  it.each([
    ['2026-11-20T15:04:05Z', '2026-11-20T15:04:05.000Z'],
    ['2026-11-20t15:04:05.5z', '2026-11-20T15:04:05.500Z'],
    ['2026-11-20T15:04:05.123456789-06:00', '2026-11-20T21:04:05.123Z'],
    ['2024-02-29T00:00:00+00:00', '2024-02-29T00:00:00.000Z'],
    ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ])('reads %s', (texto, iso) => expect(leerInstante(texto)?.toISOString()).toBe(iso))

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
  ])('refuses %s', (texto) => expect(leerInstante(texto)).toBeUndefined())
})
