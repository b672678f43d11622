/** Hono, en Node, Deno o Bun. En Workers, tome el secreto de `c.env` y guarde los avisos en un almacén de Workers. */
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { recibir } from './recibir.mjs'

export const app = new Hono()

app.post('/webhooks/guias', bodyLimit({ maxSize: 1024 * 1024 }), async (c) =>
  c.body(null, await recibir(await c.req.arrayBuffer(), c.req.raw.headers)),
)
