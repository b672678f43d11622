import { beforeAll, describe, expect, it } from 'vitest'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { MEMBERS_SINCE } from '../../server/domain/records/bodyShape.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia } from '../factories.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'
import { buildAvisoCode, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
beforeAll(() => environment.freezeClock())

/** Neither the order of the keys nor that of jsonb, which puts short keys first. */
const METADATOS = { tienda: 'Miraflores', z: '1', canal: 'web', campaña: 'Nochebuena', 10: 'diez', 9: 'nueve' }

/** A guide whose first event was sent, and the body of that delivery now. */
async function sent() {
  const { api, webhook, receptor } = await nuevo()
  const { guia } = await api.guias.crear(buildGuia({ metadatos: METADATOS }))
  const entrega = buildAvisoCode(webhook, guia)
  await waitForAviso(api, webhook, entrega)
  const body = async () => (await api.webhooks.obtenerAviso(webhook, entrega)).cuerpo!
  return { api, webhook, receptor, guia, aviso: entrega, body }
}

describe('metadata in the body of a webhook', () => {
  it('are the same byte for byte when it is sent again, and it has no URL of the tracking page', async () => {
    const { api, webhook, receptor, aviso: entrega, body } = await sent()
    const [first] = receptor.receivedWebhooks
    const { guia } = JSON.parse(first!.body).datos
    expect(guia).toMatchObject({ metadatos: METADATOS })
    for (const single of ['url_rastreo', 'zona_horaria']) expect(guia).not.toHaveProperty(single)
    // The first sending may come from memory, in the order of the request.
    expect(Object.keys(guia.metadatos)).toEqual(['9', '10', 'campaña', 'canal', 'tienda', 'z'])
    await api.webhooks.reenviar(webhook, entrega)
    await waitForAviso(api, webhook, entrega, 2)
    expect([await body(), receptor.receivedWebhooks[1]!.body]).toEqual([first!.body, first!.body])
  })

  it('are in the body of each event, unless a later version of bodies added them', async ({ onTestFinished }) => {
    const [first, second] = [await sent(), await sent()]
    await environment.db.pool.query('update evento set forma = 2 where guia = $1', [second.guia])
    const withMetadata = async () =>
      (await Promise.all([first.body(), second.body()])).map((body) => body.includes('metadatos'))
    expect(await withMetadata()).toEqual([true, true])
    const versions = MEMBERS_SINCE as Record<string, number>
    versions['guia.metadatos'] = 2
    onTestFinished(() => {
      delete versions['guia.metadatos']
    })
    expect(await withMetadata()).toEqual([false, true])
  })

  it('are gone after the erasure', async () => {
    const { guia, body } = await sent()
    await environment.db.pool.query(`update guia set estado = 'entregado' where guia = $1`, [guia])
    const clock = () => new Date(environment.clock().getTime() + 366 * 24 * HOUR_MS)
    await eraseOldPersonas({ ...buildMensajeDeps(environment), clock })
    expect(JSON.parse(await body()).datos.guia.metadatos).toEqual({})
  })
})
