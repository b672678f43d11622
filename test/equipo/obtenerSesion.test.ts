import { expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../server/platform/time/units.ts'
import { useEnvironment } from '../environment.ts'
import { waitUntil } from '../factories.ts'
import { createTestPersona } from './persona.ts'

const environment = useEnvironment()

it('shows who signed in, with what, and until when', async () => {
  const ana = await createTestPersona(environment, { alcances: ['ver'] })
  const { status, cuerpo } = await ana.request('GET', '/operaciones/v1/sesion')
  expect([status, cuerpo]).toMatchObject([
    200,
    {
      sesion: ana.sesion,
      persona: ana.persona,
      nombre: 'Ana Pérez',
      correo: ana.correo,
      membresia: ana.membresia,
      membresias: [{ membresia: ana.membresia, comercio: null, alcances: ['ver'] }],
      modo: 'live',
      presencia_en: cuerpo.creado_en,
    },
  ])
  expect(Date.parse(cuerpo.vence_en) - Date.parse(cuerpo.creado_en)).toBe(12 * HOUR_MS)
})

it('shows when the person last proved to be there', async () => {
  const ana = await createTestPersona(environment)
  const before = (await ana.request('GET', '/operaciones/v1/sesion')).cuerpo
  environment.advance(6 * MINUTE_MS)
  const probada = await ana.request('POST', '/operaciones/v1/sesion/presencia', { codigo: ana.app!.codigo() })
  expect(probada.status).toBe(200)
  await waitUntil(async () => {
    const { cuerpo } = await ana.request('GET', '/operaciones/v1/sesion')
    return Date.parse(cuerpo.presencia_en) - Date.parse(before.presencia_en) >= 6 * MINUTE_MS
  })
})
