import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('POST /operaciones/v1/operadores', () => {
  it('creates an operator, who has no key yet', async () => {
    const { status, body } = await environment.asOperador('POST', '/operadores', { nombre: 'Bodega' })
    expect([status, body]).toEqual([
      201,
      {
        operador: expect.stringMatching(/^op_[0-9A-Z]{12}$/),
        nombre: 'Bodega',
        creado_en: expect.any(String),
        revocado_en: null,
      },
    ])
    expect((await environment.asOperador('GET', `/operadores/${body.operador}/llaves`)).body.datos).toEqual([])
  })

  it('refuses one without a name', async () => {
    const { status, body } = await environment.asOperador('POST', '/operadores', { nombre: '' })
    expect([status, body.errores[0].campo]).toEqual([422, '/nombre'])
  })
})
