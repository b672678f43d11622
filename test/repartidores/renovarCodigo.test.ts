import { describe, expect, it } from 'vitest'
import { compartirEntorno } from '../entorno.ts'
import { entrarPorMovil, usarAltas } from './movil.ts'

const entorno = compartirEntorno()
const { crear } = usarAltas(entorno)

describe('couriers, for operators', () => {
  it('get another code, which ends the old one', async () => {
    const { repartidor, codigo } = (await crear()).cuerpo
    const { status, cuerpo } = await entorno.operar('POST', `/repartidores/${repartidor}/codigo`)
    expect([status, cuerpo.repartidor, cuerpo.activo]).toEqual([201, repartidor, true])
    expect(cuerpo.codigo).not.toBe(codigo)
    expect((await entrarPorMovil(entorno, codigo)).status).toBe(401)
    expect((await entrarPorMovil(entorno, cuerpo.codigo)).status).toBe(201)
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
