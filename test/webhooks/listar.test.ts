import { describe, expect, it } from 'vitest'
import { nadie, readFailureCode, useWebhooks } from './webhooks.ts'

const { environment, create: crear } = useWebhooks()

describe('GET /api/v1/webhooks', () => {
  it('pages oldest first, without doubles or gaps while some are made and deleted', async () => {
    const comercio = await environment.nuevoComercio()
    const { api } = comercio
    const creados: string[] = []
    for (let i = 0; i < 10; i++) creados.push((await crear(comercio, nadie())).webhook)
    const leidos: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { datos, cursor_siguiente } = await api.webhooks.listar({ limite: 3, ...(cursor ? { cursor } : {}) })
      leidos.push(...datos.map(({ webhook }) => webhook))
      cursor = cursor_siguiente
      if (leidos.length === 3) {
        creados.push((await crear(comercio, nadie())).webhook)
        await api.webhooks.eliminar(creados[0]!)
      }
    }
    expect(leidos).toEqual(creados)
    // Neither another merchant's cursor nor another operation's.
    const otro = await environment.nuevoComercio()
    const { cursor_siguiente } = await api.webhooks.listar({ limite: 1 })
    expect(await readFailureCode(otro.api.webhooks.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
    expect(await readFailureCode(api.guias.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
  })
})
