import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { createMobile, signInByMobile } from './phone.ts'

const environment = shareEnvironment()

describe('couriers, for operators', () => {
  it('are deactivated, twice as well as once, and come back with another code', async () => {
    const phone = await createMobile(environment)
    for (const _round of [1, 2]) {
      const { status, body } = await environment.asOperador('POST', `/repartidores/${phone.repartidor}/desactivar`)
      expect([status, body.activo, 'codigo' in body]).toEqual([200, false, false])
    }
    expect((await signInByMobile(environment, phone.codigo)).body.codigo).toBe('codigo_incorrecto')
    const { codigo } = (await environment.asOperador('POST', `/repartidores/${phone.repartidor}/codigo`)).body
    expect((await signInByMobile(environment, codigo)).status).toBe(201)
    expect((await signInByMobile(environment, phone.codigo)).status).toBe(401)
  })
})
