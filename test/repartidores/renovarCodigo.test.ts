import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { signInByMobile, useRepartidorSignUps } from './phone.ts'

const environment = shareEnvironment()
const { create } = useRepartidorSignUps(environment)

describe('couriers, for operators', () => {
  it('get another code, which ends the old one', async () => {
    const { repartidor, codigo } = (await create()).cuerpo
    const { status, cuerpo } = await environment.operar('POST', `/repartidores/${repartidor}/codigo`)
    expect([status, cuerpo.repartidor, cuerpo.activo]).toEqual([201, repartidor, true])
    expect(cuerpo.codigo).not.toBe(codigo)
    expect((await signInByMobile(environment, codigo)).status).toBe(401)
    expect((await signInByMobile(environment, cuerpo.codigo)).status).toBe(201)
  })

  it('are unknown by any other name', async () => {
    for (const name of ['rep_000000000000', 'x', encodeURIComponent("'; drop table repartidor")]) {
      for (const que of ['codigo', 'desactivar']) {
        const { status, cuerpo } = await environment.operar('POST', `/repartidores/${name}/${que}`)
        expect([name, que, status, cuerpo.codigo]).toEqual([name, que, 404, 'repartidor_desconocido'])
      }
    }
  })
})
