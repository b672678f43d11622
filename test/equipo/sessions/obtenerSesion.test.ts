import { expect, it } from 'vitest'
import { HOUR_MS, MINUTE_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment()

it('shows who signed in, with what, and until when', async () => {
  const ana = await createTestPersona(environment, { alcances: ['ver'] })
  const { status, body } = await ana.request('GET', '/operaciones/v1/sesion')
  expect([status, body]).toMatchObject([
    200,
    {
      sesion: ana.sesion,
      persona: ana.persona,
      nombre: 'Ana Pérez',
      correo: ana.correo,
      membresia: ana.membresia,
      membresias: [{ membresia: ana.membresia, comercio: null, alcances: ['ver'] }],
      modo: 'live',
      presencia_en: body.creado_en,
    },
  ])
  expect(Date.parse(body.vence_en) - Date.parse(body.creado_en)).toBe(12 * HOUR_MS)
})

it('shows when the person last proved to be there', async () => {
  const ana = await createTestPersona(environment)
  const before = (await ana.request('GET', '/operaciones/v1/sesion')).body
  environment.advance(6 * MINUTE_MS)
  const guiaWithPrueba = await ana.request('POST', '/operaciones/v1/sesion/presencia', { codigo: ana.app!.codigo() })
  expect(guiaWithPrueba.status).toBe(200)
  await waitUntil(async () => {
    const { body } = await ana.request('GET', '/operaciones/v1/sesion')
    return Date.parse(body.presencia_en) - Date.parse(before.presencia_en) >= 6 * MINUTE_MS
  })
})
