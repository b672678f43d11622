import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia, waitUntil } from '../../factories.ts'
import { answerWith } from '../receiver.ts'
import { buildAvisoCode, useWebhooks, waitForIntentos } from '../webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('failures', () => {
  it('are forgotten by a success that was under way at the same time', async () => {
    const { api, webhook, receptor } = await nuevo()
    // The first to come fails at once, the second goes well once that is known.
    receptor.responder = async (_received, res) => {
      if (receptor.receivedWebhooks.length === 1) return void res.writeHead(500).end()
      receptor.responder = answerWith(204)
      await waitUntil(async () => (await api.webhooks.obtener(webhook)).fallas)
      res.writeHead(204).end()
    }
    await api.guias.crearLote({ guias: [buildGuia(), buildGuia()] })
    await waitUntil(async () => (await api.webhooks.avisos(webhook, { estado: 'entregado' })).datos.length === 1)
    expect((await api.webhooks.obtener(webhook)).fallas).toBeNull()
  })

  it('brake the endpoint from the third on', async () => {
    const { api, webhook } = await nuevo(answerWith(500))
    const frenos: boolean[] = []
    for (let intento = 1; intento <= 3; intento++) {
      const { guia } = await api.guias.crear(buildGuia())
      await waitForIntentos(api, webhook, buildAvisoCode(webhook, guia), 1)
      const { rows } = await environment.db.pool.query('select freno_vence_en from webhook where webhook = $1', [
        webhook,
      ])
      frenos.push(rows[0].freno_vence_en !== null)
    }
    expect(frenos).toEqual([false, false, true])
  })
})
