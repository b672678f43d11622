import { describe, expect, it } from 'vitest'
import { nobody, readFailureCode, useWebhooks } from './webhooks.ts'

const { environment, create } = useWebhooks()

describe('GET /api/v1/webhooks/{webhook}', () => {
  it('tells what its creation told, without the secret, and what became of it since', async () => {
    const comercio = await environment.createComercio()
    const { api } = comercio
    const { secreto, ...created } = await create(comercio, nobody(), { tipos: ['guia.*'], descripcion: 'Tienda' })
    expect(await api.webhooks.obtener(created.webhook)).toEqual(created)
    const pausado = await api.webhooks.cambiar(created.webhook, { estado: 'pausado' })
    const { datos, estadoHttp: status } = await api.webhooks.obtener(created.webhook).conRespuesta()
    expect([status, datos]).toEqual([200, pausado])
    await api.webhooks.eliminar(created.webhook)
    expect(await readFailureCode(api.webhooks.obtener(created.webhook))).toBe('webhook_desconocido')
  })
})
