import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from '../llaves/manage.ts'

const entorno = shareEnvironment()
const { crearComercio } = administrar(entorno)

describe('GET /operaciones/v1/comercios/{comercio}', () => {
  it('returns the merchant as its creation did', async () => {
    const creado = await crearComercio()
    const { status, cuerpo } = await entorno.operar('GET', `/comercios/${creado.comercio}`)
    expect([status, cuerpo]).toEqual([200, creado])
  })

  it.each(['com_000000000000', 'com_x', 'no es'])('returns 404 for «%s»', async (codigo) => {
    const { status, cuerpo } = await entorno.operar('GET', `/comercios/${encodeURIComponent(codigo)}`)
    expect([status, cuerpo.codigo]).toEqual([404, 'comercio_desconocido'])
  })
})
