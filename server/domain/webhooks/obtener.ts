import type { Handler } from '../operation.ts'
import { exigirWebhook, presentarWebhook } from './webhook.ts'

export const obtenerWebhook: Handler<'obtenerWebhook'> = async ({ path, identidad }, { db, reloj }) => ({
  status: 200,
  body: presentarWebhook(await exigirWebhook(db, identidad, path.webhook, reloj())),
})
