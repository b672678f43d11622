/**
 * Fastify. En un contexto suyo, para que solo aquí el cuerpo llegue como bytes y no leído como JSON.
 */
import { ErrorFirma, verificarWebhook } from '@guias/sdk'
import Fastify from 'fastify'
import { atender, esNuevo } from './atender.ts'

export const app = Fastify({ bodyLimit: 1024 * 1024 })

app.register(async (webhooks) => {
  webhooks.addContentTypeParser('application/json', { parseAs: 'buffer' }, (_req, cuerpo, listo) => listo(null, cuerpo))

  webhooks.post('/webhooks/guias', async (req, res) => {
    try {
      const aviso = await verificarWebhook(req.body as Buffer, req.headers, process.env.GUIAS_SECRETO!)
      if (esNuevo(aviso)) console.log(atender(aviso))
      return res.code(204).send()
    } catch (error) {
      if (!(error instanceof ErrorFirma)) throw error
      req.log.warn({ motivo: error.motivo }, error.message)
      return res.code(400).send()
    }
  })
})
