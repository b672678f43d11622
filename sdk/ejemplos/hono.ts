/** Hono, en Node, Deno, Bun o Cloudflare Workers (allí, `c.env.GUIAS_SECRETO`). */
import { ErrorFirma, verificarWebhook } from '@guias/sdk'
import { Hono } from 'hono'
import { atender, esNuevo } from './atender.ts'

export const app = new Hono()

app.post('/webhooks/guias', async (c) => {
  try {
    const aviso = await verificarWebhook(await c.req.arrayBuffer(), c.req.raw.headers, process.env.GUIAS_SECRETO!)
    if (esNuevo(aviso)) console.log(atender(aviso))
    return c.body(null, 204)
  } catch (error) {
    if (!(error instanceof ErrorFirma)) throw error
    console.error(error.motivo, error.message)
    return c.body(null, 400)
  }
})
