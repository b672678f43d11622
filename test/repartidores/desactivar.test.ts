import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { createMobile, signInByMobile } from './phone.ts'

const entorno = shareEnvironment()

describe('couriers, for operators', () => {
  it('are deactivated, twice as well as once, and come back with another code', async () => {
    const movil = await createMobile(entorno)
    for (const _vez of [1, 2]) {
      const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${movil.repartidor}/desactivar`)
      expect([status, cuerpo.activo, 'codigo' in cuerpo]).toEqual([200, false, false])
    }
    expect((await signInByMobile(entorno, movil.codigo)).cuerpo.codigo).toBe('codigo_incorrecto')
    const { codigo } = (await entorno.operar('POST', `/repartidores/${movil.repartidor}/codigo`)).cuerpo
    expect((await signInByMobile(entorno, codigo)).status).toBe(201)
    expect((await signInByMobile(entorno, movil.codigo)).status).toBe(401)
  })
})
