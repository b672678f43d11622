import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { createMobile, signInByMobile } from './phone.ts'

const environment = shareEnvironment()

describe('couriers, for operators', () => {
  it('are deactivated, twice as well as once, and come back with another code', async () => {
    const phone = await createMobile(environment)
    for (const _vez of [1, 2]) {
      const { status, cuerpo } = await environment.operar('POST', `/repartidores/${phone.repartidor}/desactivar`)
      expect([status, cuerpo.activo, 'codigo' in cuerpo]).toEqual([200, false, false])
    }
    expect((await signInByMobile(environment, phone.codigo)).cuerpo.codigo).toBe('codigo_incorrecto')
    const { codigo } = (await environment.operar('POST', `/repartidores/${phone.repartidor}/codigo`)).cuerpo
    expect((await signInByMobile(environment, codigo)).status).toBe(201)
    expect((await signInByMobile(environment, phone.codigo)).status).toBe(401)
  })
})
