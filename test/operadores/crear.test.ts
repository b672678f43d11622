import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('POST /operaciones/v1/operadores', () => {
  it('creates an operator, who has no key yet', async () => {
    const { status, cuerpo } = await environment.operar('POST', '/operadores', { nombre: 'Bodega' })
    expect([status, cuerpo]).toEqual([
      201,
      {
        operador: expect.stringMatching(/^op_[0-9A-Z]{12}$/),
        nombre: 'Bodega',
        creado_en: expect.any(String),
        revocado_en: null,
      },
    ])
    expect((await environment.operar('GET', `/operadores/${cuerpo.operador}/llaves`)).cuerpo.datos).toEqual([])
  })

  it('refuses one without a name', async () => {
    const { status, cuerpo } = await environment.operar('POST', '/operadores', { nombre: '' })
    expect([status, cuerpo.errores[0].campo]).toEqual([422, '/nombre'])
  })
})
