import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'

const environment = shareEnvironment()

describe('GET /operaciones/v1/mensajes', () => {
  it('answers 404 for a guide that doesn’t exist, and needs one', async () => {
    expect((await environment.asOperador('GET', '/mensajes?guia=000000000000')).status).toBe(404)
    expect((await environment.asOperador('GET', '/mensajes')).body.errores).toMatchObject([
      { campo: 'guia', codigo: 'requerido' },
    ])
  })
})
