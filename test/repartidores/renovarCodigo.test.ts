import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { signInByMobile, useRepartidorSignUps } from './phone.ts'

const environment = shareEnvironment()
const { create } = useRepartidorSignUps(environment)

describe('couriers, for operators', () => {
  it('get another code, which ends the old one', async () => {
    const { repartidor, codigo } = (await create()).body
    const { status, body } = await environment.asOperador('POST', `/repartidores/${repartidor}/codigo`)
    expect([status, body.repartidor, body.activo]).toEqual([201, repartidor, true])
    expect(body.codigo).not.toBe(codigo)
    expect((await signInByMobile(environment, codigo)).status).toBe(401)
    expect((await signInByMobile(environment, body.codigo)).status).toBe(201)
  })

  it('are unknown by any other name', async () => {
    for (const name of ['rep_000000000000', 'x', encodeURIComponent("'; drop table repartidor")]) {
      for (const kind of ['codigo', 'desactivar']) {
        const { status, body } = await environment.asOperador('POST', `/repartidores/${name}/${kind}`)
        expect([name, kind, status, body.codigo]).toEqual([name, kind, 404, 'repartidor_desconocido'])
      }
    }
  })
})
