import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { signInByMobile, useRepartidorSignUps } from './phone.ts'

const entorno = shareEnvironment()
const { create: crear } = useRepartidorSignUps(entorno)

describe('couriers, for operators', () => {
  it('get another code, which ends the old one', async () => {
    const { repartidor, codigo } = (await crear()).cuerpo
    const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${repartidor}/codigo`)
    expect([status, cuerpo.repartidor, cuerpo.activo]).toEqual([201, repartidor, true])
    expect(cuerpo.codigo).not.toBe(codigo)
    expect((await signInByMobile(entorno, codigo)).status).toBe(401)
    expect((await signInByMobile(entorno, cuerpo.codigo)).status).toBe(201)
  })

  it('are unknown by any other name', async () => {
    for (const nombre of ['rep_000000000000', 'x', encodeURIComponent("'; drop table repartidor")]) {
      for (const que of ['codigo', 'desactivar']) {
        const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${nombre}/${que}`)
        expect([nombre, que, status, cuerpo.codigo]).toEqual([nombre, que, 404, 'repartidor_desconocido'])
      }
    }
  })
})
