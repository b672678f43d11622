import { expect, test } from 'vitest'
import { createClock } from '../../server/platform/time/clock.ts'

test('tells times by the zone as it is at that instant; what is no instant or no zone breaks nothing', () => {
  const madrid = createClock('Europe/Madrid')
  expect(madrid.zona('2026-07-01T12:00:00Z')).toBe('hora de Madrid (UTC+2)')
  expect(madrid.zona('2026-12-01T12:00:00Z')).toBe('hora de Madrid (UTC+1)')
  expect(createClock('Asia/Kolkata').zona('2026-12-01T12:00:00Z')).toBe('hora de Kolkata (UTC+5:30)')
  expect(createClock('America/Guatemala').formatShort('2026-01-01T05:59:59Z')).toBe('31 dic 2025, 23:59')
  expect(createClock('Marte/Olimpo').formatLong('2026-01-01T05:59:59Z')).toBe('1 de enero de 2026, 05:59')
  expect(createClock('UTC').formatLong('ayer')).toBe('—')
})

test('names the zone as people do', () => {
  const names = [
    'America/Guatemala',
    'America/El_Salvador',
    'America/Mexico_City',
    'America/Bogota',
    'America/Costa_Rica',
    'UTC',
  ]
  expect(names.map((zone) => createClock(zone).nombre)).toEqual([
    'hora de Guatemala',
    'hora de El Salvador',
    'hora del centro de México',
    'hora de Colombia',
    'hora de Costa Rica',
    'hora universal',
  ])
})

test('tells the hour of an instant', () => {
  const { hora: hour } = createClock('America/Guatemala')
  const hours = ['18:05', '05:59', '06:05'].map((utc) => hour(`2026-11-21T${utc}:00Z`))
  expect(hours).toEqual(['12:05', '23:59', '00:05'])
})
