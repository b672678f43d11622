import { Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { MASTER_KEY } from '../environment.ts'
import { cleanUpNow } from './prune.ts'
import { firmaOf, readSignatures, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, rotar, createEndpoint: nuevo, checkNoSecretos } = useWebhooks()

describe('secrets', () => {
  it('stand neither in the log nor in the database', async () => {
    const { api, webhook } = await nuevo()
    await rotar(api, webhook)
    await checkNoSecretos()
  })

  it('are encrypted with the present master key, and sign as ever when the old one is gone', async () => {
    const { comercio, receptor, webhook, secreto } = await nuevo()
    const fresh = Buffer.alloc(32, 9).toString('base64')
    const keys = [fresh, MASTER_KEY]
    await environment.reset({ MASTER_KEYS: keys.join() })
    await cleanUpNow(environment, keys)
    await environment.reset({ MASTER_KEYS: fresh })
    const api = new Guias({ llave: comercio.llave, baseUrl: environment.url })
    const { aviso } = await api.webhooks.probar(webhook)
    await waitForAviso(api, webhook, aviso)
    expect(receptor.receivedWebhooks.map(readSignatures)).toEqual([[firmaOf(secreto, receptor.receivedWebhooks[0]!)]])
  })
})
