import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../../server/platform/time/units.ts'
import { useEnvironment } from '../../environment.ts'
import { waitUntil } from '../../factories.ts'
import { createTestPersona } from '../persona.ts'

const environment = useEnvironment()
const RUTA = '/operaciones/v1/sesion'
const _operaciones = (path: string) => `/operaciones/v1${path}`

describe('another membership', () => {
  it('lasts 30 days, and 12 hours from the sign-in at the courier company', async () => {
    const { comercio } = await environment.createComercio()
    const ana = await createTestPersona(environment, { comercio, alcances: ['lectura'] })
    const company = await createTestPersona(environment, { correo: ana.correo })
    const shortOne = await company.request('PATCH', RUTA, { membresia: company.membresia })
    expect(Date.parse(shortOne.body.vence_en) - Date.parse(shortOne.body.creado_en)).toBe(12 * HOUR_MS)
    const longOne = await company.request('PATCH', RUTA, { membresia: ana.membresia })
    expect(Date.parse(longOne.body.vence_en) - Date.parse(longOne.body.creado_en)).toBe(30 * 24 * HOUR_MS)
    await waitUntil(async () => (await company.request('GET', RUTA)).body.vence_en === longOne.body.vence_en)
    environment.advance(12 * HOUR_MS)
    const late = await company.request('PATCH', RUTA, { membresia: company.membresia })
    expect([late.status, late.body.codigo]).toEqual([401, 'sesion_invalida'])
    environment.advance(29 * 24 * HOUR_MS)
    expect((await company.request('GET', RUTA)).status).toBe(200)
    environment.advance(13 * HOUR_MS)
    expect((await company.request('GET', RUTA)).status).toBe(401)
  })

  it('cannot go on with a membership of another person', async () => {
    const [ana, other] = [await createTestPersona(environment), await createTestPersona(environment)]
    for (const membresia of [other.membresia, 'mem_000000000000', 'x']) {
      const { status, body } = await ana.request('PATCH', RUTA, { membresia })
      expect([status, body.codigo]).toEqual([404, 'membresia_desconocida'])
    }
  })
})
