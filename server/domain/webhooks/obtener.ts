import type { Handler } from '../operation.ts'
import { presentWebhook, requireWebhook } from './webhook.ts'

export const obtenerWebhook: Handler<'obtenerWebhook'> = async ({ path, identity }, { db, clock }) => ({
  status: 200,
  body: presentWebhook(await requireWebhook(db, identity, path.webhook, clock())),
})
