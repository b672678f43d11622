/**
 * Fastify. La ruta va en un contexto propio, para que solo en ella el cuerpo llegue como bytes y no leído como JSON.
 */
import Fastify from 'fastify'
import { recibir } from './recibir.mjs'

export const app = Fastify({ bodyLimit: 1024 * 1024 })

app.register(async (webhooks) => {
  webhooks.removeAllContentTypeParsers()
  webhooks.addContentTypeParser('*', { parseAs: 'buffer' }, (_req, cuerpo, listo) => listo(null, cuerpo))

  webhooks.post('/webhooks/guias', async (req, res) => res.code(await recibir(req.body ?? '', req.headers)).send())
})
