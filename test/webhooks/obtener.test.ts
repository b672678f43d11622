import { describe, expect, it } from 'vitest'
import { nadie, readFailureCode, useWebhooks } from './webhooks.ts'

const { environment, create: crear } = useWebhooks()

describe('GET /api/v1/webhooks/{webhook}', () => {
  it('tells what its creation told, without the secret, and what became of it since', async () => {
    const comercio = await environment.nuevoComercio()
    const { api } = comercio
    const { secreto, ...creado } = await crear(comercio, nadie(), { tipos: ['guia.*'], descripcion: 'Tienda' })
    expect(await api.webhooks.obtener(creado.webhook)).toEqual(creado)
    const pausado = await api.webhooks.cambiar(creado.webhook, { estado: 'pausado' })
    const { datos, status } = await api.webhooks.obtener(creado.webhook).conRespuesta()
    expect([status, datos]).toEqual([200, pausado])
    await api.webhooks.eliminar(creado.webhook)
    expect(await readFailureCode(api.webhooks.obtener(creado.webhook))).toBe('webhook_desconocido')
  })
})
