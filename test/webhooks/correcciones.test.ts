import { beforeAll, describe, expect, it } from 'vitest'
import { reencryptCorrections } from '../../server/domain/guias/reencrypt.ts'
import { eraseOldPersonas } from '../../server/domain/personas/erase.ts'
import { buildWebhookBody, loadContent, requireWebhookAviso } from '../../server/domain/webhooks/delivery.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { MASTER_KEY } from '../environment.ts'
import { buildGuia, RECOGIDA } from '../factories.ts'
import { correctColumns } from '../guias/corregir.ts'
import { buildMensajeDeps } from '../mensajeria/channel.ts'
import { type Api, buildAvisoCode, useWebhooks, waitForAviso } from './webhooks.ts'

const { environment, createEndpoint: nuevo } = useWebhooks()
beforeAll(() => environment.freezeClock())

const bodyOf = async (api: Api, webhook: string, guia: string, secuencia: number) =>
  (await api.webhooks.obtenerAviso(webhook, buildAvisoCode(webhook, guia, secuencia))).cuerpo

/** A guide of which the service sent two events before it was corrected twice. */
async function corrected() {
  const { comercio, api, webhook, receptor } = await nuevo()
  const { guia } = await api.guias.crear(buildGuia({ destinatario: 'Ana Pérez', indicaciones: 'Portón verde' }))
  await waitForAviso(api, webhook, buildAvisoCode(webhook, guia, 1))
  await correctColumns(environment.db, guia, { telefono: '+50255550002', destinatario: 'Luis Ajú' })
  await environment.asOperador('POST', `/guias/${guia}/eventos`, { estado: 'recolectado' })
  await waitForAviso(api, webhook, buildAvisoCode(webhook, guia, 3))
  await correctColumns(environment.db, guia, {
    telefono: '+50255550003',
    municipio: 'Mixco',
    indicaciones: null,
    recogida: { ...RECOGIDA, nombre: 'Bodega Norte', maps_url: null },
  })
  const enviados = receptor.receivedWebhooks.map(({ body }) => body)
  return { id: comercio.id, api, webhook, receptor, guia, sent: enviados }
}

describe('a body of an event before corrections', () => {
  it('is the same byte for byte when it is sent again', async () => {
    const { api, webhook, receptor, guia, sent: enviados } = await corrected()
    for (const [i, secuencia] of [1, 3].entries()) {
      const entrega = buildAvisoCode(webhook, guia, secuencia)
      expect(await bodyOf(api, webhook, guia, secuencia)).toBe(enviados[i])
      await api.webhooks.reenviar(webhook, entrega)
      await waitForAviso(api, webhook, entrega, 2)
      expect(receptor.receivedWebhooks.at(-1)!.body).toBe(enviados[i])
    }
    expect(JSON.parse(enviados[0]!).datos.guia).toMatchObject({
      destinatario: 'Ana Pérez',
      indicaciones: 'Portón verde',
    })
    expect(JSON.parse(enviados[1]!).datos.guia).toMatchObject({ telefono: '+50255550002', destinatario: 'Luis Ajú' })
    expect(await api.guias.obtener(guia)).toMatchObject({
      telefono: '+50255550003',
      municipio: 'Mixco',
      indicaciones: null,
    })
  })

  it('keeps nothing of the person after the erasure', async () => {
    const { api, webhook, guia } = await corrected()
    await environment.db.pool.query(`update guia set estado = 'entregado' where guia = $1`, [guia])
    const clock = () => new Date(environment.clock().getTime() + 366 * 24 * HOUR_MS)
    await eraseOldPersonas({ ...buildMensajeDeps(environment), clock })
    const { rows } = await environment.db.pool.query('select cambios from evento where guia = $1', [guia])
    expect(rows.map(({ cambios }) => cambios)).toEqual([null, null, null, null])
    expect(await bodyOf(api, webhook, guia, 1)).not.toMatch(/\bAna\b|5025555/)
  })

  it('is the same with another master key, once its corrections are encrypted with it', async () => {
    const { api, webhook, guia, sent: enviados } = await corrected()
    const [old, fresh] = [Buffer.from(MASTER_KEY, 'base64'), Buffer.alloc(32, 9)]
    const deps = buildMensajeDeps(environment)
    const reencrypt = (...keys: Buffer[]) => reencryptCorrections({ ...deps, secretos: createSecrets(keys) })
    const read = async () =>
      (await environment.db.pool.query('select cambios from evento where guia = $1 and cambios is not null', [guia]))
        .rows
    const firstRead = await read()
    // Without the old key they stay as they are.
    await reencrypt(fresh)
    expect(await read()).toEqual(firstRead)
    await reencrypt(fresh, old)
    expect(await read()).not.toEqual(firstRead)
    await reencrypt(old, fresh)
    expect(await bodyOf(api, webhook, guia, 1)).toBe(enviados[0])
  })

  it('has the present values, and the log an error, if no master key decrypts a correction', async () => {
    const { id, webhook, guia } = await corrected()
    const errores: object[] = []
    const log = { error: (kind: object) => errores.push(kind) } as never
    const deps = { db: environment.db, secretos: createSecrets([Buffer.alloc(32, 9)]), log }
    const scope = { comercioId: id, modo: 'test' } as const
    const entrega = await requireWebhookAviso(environment.db, scope, webhook, buildAvisoCode(webhook, guia, 1))
    const body = JSON.parse(buildWebhookBody((await loadContent(deps, entrega))!))
    expect(body.datos.guia).toMatchObject({ telefono: '+50255550003', municipio: 'Mixco' })
    expect(errores).toMatchObject([{ evento: `evt_${guia}_1` }])
  })
})
