import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino, waitUntil } from '../factories.ts'

const environment = shareEnvironment()

describe('GET /operaciones/v1/guias/{guia}', () => {
  it('shows any guide with its history', async () => {
    const { api } = await environment.createComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    const read = await waitUntil(async () => {
      const { body } = await environment.asOperador('GET', `/guias/${guia}?limite=1`)
      return body.secuencia === 2 && body
    })
    expect(read.eventos).toMatchObject({ datos: [{ secuencia: 1 }], cursor_siguiente: expect.any(String) })
    expect(read.comercio).toMatch(/^com_/)
    expect((await environment.asOperador('GET', '/guias/000000000000')).status).toBe(404)
  })
})
