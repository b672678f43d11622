// Corrections, scans, decisions and the deadline of the policy at the same time, in two processes of the service.

import { Guias } from '@guias/sdk'
import { describe, expect, it } from 'vitest'
import { MASTER_KEY, useEnvironment } from '../environment.ts'
import { EN_POSTGRES, FULL_RUN_ONLY } from '../factories.ts'
import { buildProviderVariables } from '../mensajeria/channel.ts'
import { useProviders } from '../mensajeria/provider.ts'
import { listo, useProcesses } from '../processes.ts'
import { useReceivers } from '../webhooks/receiver.ts'
import { waitForRecovery } from '../webhooks/webhooks.ts'
import { readGuiaAccounts, reconcileAccounts } from './audit.ts'
import { prepareBurst } from './burst.ts'

/** Guides of each mode: only test guides have webhooks on this machine, and only live ones a provider of messages. */
const GUIAS = { test: 600, live: 400 }
const POLITICA = { maximos: 2, dias_entre: 0, dias_para_decidir: 1, al_vencer: 'devolver', destinatario_decide: true }

// It creates the merchant, and does no work. The two processes do everything else.
const environment = useEnvironment({}, () => ({ WORKERS: '0' }))
const processes = useProcesses()
const openProvider = useProviders()
const openReceiver = useReceivers()

const query = async (text: string, values: unknown[]) => (await environment.db.pool.query(text, values)).rows

/** Starts two processes of the service over the database. */
async function startTwo(env: Record<string, string>) {
  const dos = [0, 1].map(() =>
    processes.startService({
      DATABASE_URL: environment.databaseUrl,
      MASTER_KEYS: MASTER_KEY,
      DATA_DIR: processes.nextFolder(),
      WEBHOOKS_LOOPBACK: '1',
      REQUESTS_PER_NETWORK: '10000',
      REQUESTS_PER_OPERATOR_KEY: '10000',
      CONNECTIONS_PER_NETWORK: '10000',
      ...env,
    }),
  )
  return { dos, urls: await Promise.all(dos.map(listo)) }
}

/** A merchant with keys of both modes, and an endpoint for all events of each. The live one is paused. */
async function createShop(url: string, receptor: { url: string }) {
  const comercio = await environment.createComercio('test')
  const llaves = { test: comercio.llave, live: await environment.createLlave(comercio, { modo: 'live' }) }
  const { status } = await environment.asOperador('PATCH', `/comercios/${comercio.comercio}`, {
    politica_de_intentos: POLITICA,
  })
  expect(status).toBe(200)
  await query(
    `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
     values ($1, 'live', $2, 'https://tienda.ejemplo.com/', '{*}', 'pausado', now(), now(), now(), now())`,
    [comercio.id, `wh_${comercio.comercio.slice(4)}`],
  )
  const api = new Guias({ llave: llaves.test, baseUrl: url, tiempoLimite: 120_000 })
  const { webhook } = await api.webhooks.crear({ url: receptor.url })
  return { comercio, llaves, api, webhook }
}

/** Sends every webhook once more, and waits until all of them came. */
async function resendAll({ api, webhook }: Awaited<ReturnType<typeof createShop>>, desde: string, count: number) {
  const { recuperacion } = await api.webhooks.recuperar(webhook, { desde, todas: true })
  const expected = { estado: 'terminada', eventos: count, avisos: count }
  expect(await waitForRecovery(api, webhook, recuperacion)).toMatchObject(expected)
  await environment.waitForQuiet()
}

const WITHOUT_ENTREGA_SQL = `select v.guia, v.secuencia from evento v
  left join webhook_aviso e using (comercio_id, modo, guia_id, secuencia) where v.comercio_id = $1 and e.webhook is null`
const DE_PRUEBA = `select count(*)::int as n from evento where comercio_id = $1 and modo = 'test'`

describe('a thousand guides in two processes', { tags: [...FULL_RUN_ONLY.tags, ...EN_POSTGRES.tags] }, () => {
  it('lose no update, send no message twice, and keep the order and the bytes of their webhooks', async () => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
    const [provider, receptor] = [await openProvider(), await openReceiver()]
    const { dos, urls } = await startTwo(buildProviderVariables(provider))
    const shop = await createShop(urls[0]!, receptor)
    const { comercio, llaves } = shop
    const start = performance.now()
    const from = new Date(Date.now() - 60_000).toISOString()
    const burst = prepareBurst({ environment, urls, llaves, seed })
    const cases = [
      ...(await burst.create(GUIAS.test, 'test', 0)),
      ...(await burst.create(GUIAS.live, 'live', GUIAS.test)),
    ]
    await burst.sendBurst(cases)
    await burst.close()
    await environment.waitForQuiet()
    const [{ n }] = await query(DE_PRUEBA, [comercio.id])
    await resendAll(shop, from, n)
    const seconds = (performance.now() - start) / 1_000
    const { fallas: faults, figures: c } = reconcileAccounts(
      await readGuiaAccounts(environment, comercio, cases),
      provider,
      receptor.receivedWebhooks,
    )
    console.info(
      `SEED=${seed}: ${c.guias} guides, ${c.corrected} corrections accepted and ${c.rejected} refused, ` +
        `${c.won} decisions won and ${c.lost} lost, ${c.scans} scans, ${c.openings} openings, ` +
        `${c.politica} closings by the policy, ${c.mensajes} messages (${c.accepted} at the provider), ` +
        `${c.eventos} events, ${c.webhooks} webhooks, ${seconds.toFixed(0)} s`,
    )
    expect(faults).toEqual([])
    expect(await query(WITHOUT_ENTREGA_SQL, [comercio.id])).toEqual([])
    expect(dos.flatMap(({ output }) => output.split('\n').filter((line) => line.includes('"level":50')))).toEqual([])
    // Each race happened, or the run shows nothing about it.
    const emptyCategories = Object.entries(c).filter(([, count]) => count === 0)
    expect(emptyCategories).toEqual([])
  })
})
