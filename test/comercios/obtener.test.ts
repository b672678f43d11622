import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { administrar } from '../llaves/manage.ts'

const environment = shareEnvironment()
const { crearComercio } = administrar(environment)

describe('GET /operaciones/v1/comercios/{comercio}', () => {
  it('returns the merchant as its creation did', async () => {
    const created = await crearComercio()
    const { status, body } = await environment.asOperador('GET', `/comercios/${created.comercio}`)
    expect([status, body]).toEqual([200, created])
  })

  it.each(['com_000000000000', 'com_x', 'no es'])('returns 404 for «%s»', async (codigo) => {
    const { status, body } = await environment.asOperador('GET', `/comercios/${encodeURIComponent(codigo)}`)
    expect([status, body.codigo]).toEqual([404, 'comercio_desconocido'])
  })
})
