import { beforeAll, describe, expect, it } from 'vitest'
import { buildGuia } from '../factories.ts'
import { answerWith } from './receiver.ts'
import { buildAvisoCode, readFailureCode, useWebhooks, waitForAviso, waitForIntentos } from './webhooks.ts'

const { environment, advance, cleanUp, create, createEndpoint: nuevo } = useWebhooks()
// Nothing is tried again by itself, however long a test takes.
beforeAll(() => environment.freezeClock())

describe('DELETE /api/v1/webhooks/{webhook}', () => {
  it('ends everything of it, and its address is free again', async () => {
    const { comercio, api, webhook, url, receptor } = await nuevo(answerWith(500))
    const { guia } = await api.guias.crear(buildGuia())
    await waitForIntentos(api, webhook, buildAvisoCode(webhook, guia), 1)
    expect((await api.webhooks.eliminar(webhook).conRespuesta()).estadoHttp).toBe(204)
    expect(await readFailureCode(api.webhooks.eliminar(webhook))).toBe('webhook_desconocido')
    expect((await api.webhooks.listar()).datos).toEqual([])
    const count = async () => {
      const { rows } = await environment.db.pool.query(
        `select (select count(*)::int from webhook_aviso where webhook = $1) as entregas,
           (select count(*)::int from webhook_intento where webhook = $1) as intentos,
           (select count(*)::int from webhook_secreto where webhook = $1) as secretos,
           (select count(*)::int from webhook where webhook = $1) as webhooks`,
        [webhook],
      )
      return rows[0]
    }
    expect(await count()).toMatchObject({ secretos: 0 })
    receptor.responder = answerWith(204)
    const newId = (await create(comercio, { url })).webhook
    expect(newId).not.toBe(webhook)
    advance(6_000)
    const { guia: other } = await api.guias.crear(buildGuia())
    await waitForAviso(api, newId, buildAvisoCode(newId, other))
    expect(receptor.receivedWebhooks.map(({ id: evento }) => evento)).toEqual([`evt_${guia}_1`, `evt_${other}_1`])
    await cleanUp()
    expect(await count()).toEqual({ entregas: 0, intentos: 0, secretos: 0, webhooks: 1 })
    advance(11 * 60_000)
    await cleanUp()
    expect(await count()).toEqual({ entregas: 0, intentos: 0, secretos: 0, webhooks: 0 })
    expect((await api.webhooks.obtenerAviso(newId, buildAvisoCode(newId, other))).estado).toBe('entregado')
    expect(await api.webhooks.obtener(newId)).toMatchObject({ estado: 'activo' })
  })
})
