import { describe, expect, it } from 'vitest'
import { nobody, readFailureCode, useWebhooks } from './webhooks.ts'

const { environment, create } = useWebhooks()

describe('GET /api/v1/webhooks', () => {
  it('pages oldest first, without doubles or gaps while some are made and deleted', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const creados: string[] = []
    for (let i = 0; i < 10; i++) creados.push((await create(comercio, nobody())).webhook)
    const listed: string[] = []
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const { datos, cursor_siguiente } = await api.webhooks.listar({ limite: 3, ...(cursor ? { cursor } : {}) })
      listed.push(...datos.map(({ webhook }) => webhook))
      cursor = cursor_siguiente
      if (listed.length === 3) {
        creados.push((await create(comercio, nobody())).webhook)
        await api.webhooks.eliminar(creados[0]!)
      }
    }
    expect(listed).toEqual(creados)
    // Neither another merchant's cursor nor another operation's.
    const other = await environment.createComercio()
    const { cursor_siguiente } = await api.webhooks.listar({ limite: 1 })
    expect(await readFailureCode(other.api.webhooks.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
    expect(await readFailureCode(api.guias.listar({ cursor: cursor_siguiente! }))).toBe('cursor_invalido')
  })
})
