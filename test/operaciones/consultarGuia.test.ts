import { describe, expect, it } from 'vitest'
import { shareEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino, hasta } from '../factories.ts'

const entorno = shareEnvironment()

describe('GET /operaciones/v1/guias/{guia}', () => {
  it('shows any guide with its history', async () => {
    const { api } = await entorno.nuevoComercio()
    const { guia } = await api.guias.crear(buildGuiaWithoutDestino())
    const leida = await hasta(async () => {
      const { cuerpo } = await entorno.operar('GET', `/guias/${guia}?limite=1`)
      return cuerpo.secuencia === 2 && cuerpo
    })
    expect(leida.eventos).toMatchObject({ datos: [{ secuencia: 1 }], cursor_siguiente: expect.any(String) })
    expect(leida.comercio).toMatch(/^com_/)
    expect((await entorno.operar('GET', '/guias/000000000000')).status).toBe(404)
  })
})
