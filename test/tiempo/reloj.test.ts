import { expect, test } from 'vitest'
import { crearReloj } from '../../server/tiempo/reloj.ts'

test('tells times by the zone as it is at that instant; what is no instant or no zone breaks nothing', () => {
  const madrid = crearReloj('Europe/Madrid')
  expect(madrid.zona('2026-07-01T12:00:00Z')).toBe('hora de Madrid (UTC+2)')
  expect(madrid.zona('2026-12-01T12:00:00Z')).toBe('hora de Madrid (UTC+1)')
  expect(crearReloj('Asia/Kolkata').zona('2026-12-01T12:00:00Z')).toBe('hora de Kolkata (UTC+5:30)')
  expect(crearReloj('America/Guatemala').corta('2026-01-01T05:59:59Z')).toBe('31 dic 2025, 23:59')
  expect(crearReloj('Marte/Olimpo').larga('2026-01-01T05:59:59Z')).toBe('1 de enero de 2026, 05:59')
  expect(crearReloj('UTC').larga('ayer')).toBe('—')
})

test('names the zone as people do', () => {
  const nombres = [
    'America/Guatemala',
    'America/El_Salvador',
    'America/Mexico_City',
    'America/Bogota',
    'America/Costa_Rica',
    'UTC',
  ]
  expect(nombres.map((zona) => crearReloj(zona).nombre)).toEqual([
    'hora de Guatemala',
    'hora de El Salvador',
    'hora del centro de México',
    'hora de Colombia',
    'hora de Costa Rica',
    'hora universal',
  ])
})

test('tells times as they are said', () => {
  const { hablada, hora } = crearReloj('America/Guatemala')
  expect(
    ['05:59', '06:00', '17:59', '18:05', '23:00'].map((utc) => hablada(`2026-11-21T${utc}:00Z`).replace(/\s/g, ' ')),
  ).toEqual([
    '20 nov 2026, 11:59 p. m.',
    '21 nov 2026, 12:00 a. m.',
    '21 nov 2026, 11:59 a. m.',
    '21 nov 2026, 12:05 p. m.',
    '21 nov 2026, 5:00 p. m.',
  ])
  expect([hora('2026-11-21T18:05:00Z'), hablada('ayer')]).toEqual(['12:05', '—'])
})
