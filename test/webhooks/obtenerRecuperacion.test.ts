import { Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { buildGuia, EN_POSTGRES, FULL_RUN_ONLY, waitUntil } from '../factories.ts'
import { answerWith } from './receiver.ts'
import { buildAvisoCode, useWebhooks, waitForAviso, waitForRecovery, waitUntilVisible } from './webhooks.ts'

const { environment, openReceiver, now, create, createEndpoint: nuevo } = useWebhooks()

describe('GET /api/v1/webhooks/{webhook}/recuperaciones/{recuperacion}', () => {
  it('is cancelled when the endpoint is disabled meanwhile', EN_POSTGRES, async () => {
    const { api, webhook, receptor } = await nuevo()
    const desde = new Date(now() - HOUR_MS).toISOString()
    // As long as somebody's transaction is open, a recovery sees nothing of what came after it, and waits.
    const openTransaction = await environment.db.pool.connect()
    try {
      await openTransaction.query('begin')
      await openTransaction.query('select pg_current_xact_id()')
      const { guia } = await api.guias.crear(buildGuia())
      await waitForAviso(api, webhook, buildAvisoCode(webhook, guia))
      const { recuperacion } = await api.webhooks.recuperar(webhook, { desde })
      receptor.responder = answerWith(410)
      await api.webhooks.reenviar(webhook, buildAvisoCode(webhook, guia))
      await waitUntil(async () => (await api.webhooks.obtener(webhook)).estado === 'deshabilitado')
      expect(await waitForRecovery(api, webhook, recuperacion)).toMatchObject({
        estado: 'cancelada',
        eventos: 0,
        avisos: 0,
        terminado_en: expect.any(String),
      })
    } finally {
      await openTransaction.query('rollback')
      openTransaction.release()
    }
    // The next one may begin.
    receptor.responder = answerWith(204)
    await api.webhooks.cambiar(webhook, { estado: 'activo' })
    const { recuperacion: other } = await api.webhooks.recuperar(webhook, { desde })
    expect(await waitForRecovery(api, webhook, other)).toMatchObject({ estado: 'terminada', eventos: 1, avisos: 1 })
  })
})

describe('a recovery', () => {
  it('goes on after a restart in its middle, and loses and doubles nothing', FULL_RUN_ONLY, async () => {
    const comercio = await environment.createComercio()
    const desde = new Date(now() - 1_000).toISOString()
    const BATCHES = 32
    const guias: string[] = []
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        for (let n = 0; n < BATCHES / 4; n++) {
          const { resultados } = await comercio.api.guias.crearLote({
            guias: Array.from({ length: 100 }, () => buildGuia()),
          })
          guias.push(...resultados.map((result) => ('guia' in result ? String(result.guia) : '')))
        }
      }),
    )
    const receptor = await openReceiver()
    const { webhook } = await create(comercio, receptor)
    const total = BATCHES * 100
    await waitUntilVisible(comercio.api, webhook, desde, total)
    expect(await comercio.api.webhooks.ensayarRecuperacion(webhook, { desde })).toEqual({
      eventos: total,
      avisos: total,
      exacto: true,
    })
    const { recuperacion } = await comercio.api.webhooks.recuperar(webhook, { desde })
    const before = await waitUntil(async () => {
      const read = await comercio.api.webhooks.obtenerRecuperacion(webhook, recuperacion)
      return read.eventos > 0 && read
    })
    await environment.reset()
    expect(before.estado).toBe('en_curso')
    expect(before.eventos).toBeLessThan(total)
    const api = new Guias({ llave: comercio.llave, baseUrl: environment.url })
    expect(await waitForRecovery(api, webhook, recuperacion)).toMatchObject({
      estado: 'terminada',
      eventos: total,
      avisos: total,
    })
    await waitUntil(async () => receptor.receivedWebhooks.length >= total)
    await environment.waitForQuiet(comercio)
    expect(new Set(receptor.receivedWebhooks.map((one) => one.id))).toEqual(
      new Set(guias.map((guia) => `evt_${guia}_1`)),
    )
    expect(receptor.receivedWebhooks).toHaveLength(total)
    const { rows } = await environment.db.pool.query(
      'select estado, count(*)::int as n from webhook_aviso where webhook = $1 group by estado',
      [webhook],
    )
    expect(rows).toEqual([{ estado: 'entregado', n: total }])
  })
})
