import { setTimeout as sleep } from 'node:timers/promises'
import { prepareEndpoints } from './fleet.ts'
import { wait, withHarness } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { startLoads } from './load.ts'
import { handleSlowly, type Scenario } from './scenario.ts'

// Receivers that hang or are down.

const HEALTHY_ENDPOINTS = 19

export const isolation: Scenario['run'] = ({ times, size: waitingCount = 1_000 }) =>
  withHarness(async (harness) => {
    const { receptor } = harness
    const apis = [await harness.api()]
    await harness.worker()
    const paths = Array.from({ length: HEALTHY_ENDPOINTS }, (_, i) => `/sano-${i + 1}`)
    for (const path of paths) await harness.registrar(apis[0]!, path)
    receptor.handle = (path) => (path === '/colgado' ? null : 204)
    const guias = new Map<string, string>()
    const cancelledGuias = new Set<string>()
    const faults: string[] = []
    const statusCounts = new Map<number, number>()
    /** How long each delivery of a load took to reach its receiver, sorted, in milliseconds. */
    const measureDelays = async (guiaCount: number) => {
      const load = startLoads(harness, { apis: () => apis, rate: 10, threads: 2, simple: true })
      await wait(async () => load.guias.size >= guiaCount, 120_000, 20)
      await load.stop()
      for (const [ref, guia] of load.guias) guias.set(ref, guia)
      faults.push(...load.fallas)
      for (const [status, n] of load.statusCounts) statusCounts.set(status, (statusCounts.get(status) ?? 0) + n)
      const eventos = new Set([...load.guias.values()].map((guia) => `evt_${guia}_1`))
      const { rows } = await harness.db.pool.query<{ evento: string; en: Date }>(
        `select 'evt_' || guia || '_1' as evento, registrado_en as en from evento where secuencia = 1`,
      )
      const entregaRows = rows.filter(({ evento }) => eventos.has(evento))
      const receptionTimes = (evento: string) =>
        paths.flatMap((path) => receptor.receptions.get(`${path} ${evento}`)?.[0]?.receivedAt ?? [])
      await wait(
        async () => entregaRows.every(({ evento }) => receptionTimes(evento).length === HEALTHY_ENDPOINTS),
        60_000,
        100,
      )
      return entregaRows
        .flatMap(({ evento, en: occurredAt }) => receptionTimes(evento).map((r) => r - occurredAt.getTime()))
        .sort((a, b) => a - b)
    }
    await measureDelays(Math.ceil(times / 5))
    const delaysAlone = await measureDelays(times)
    const hangingWebhook = await harness.registrar(apis[0]!, '/colgado')
    await harness.withClient((client) =>
      client.query(
        `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en,
           datos, creado_en)
         select $1, 'test', $2, gen_random_uuid(), 0, 'evt_' || i || '_0', 'webhook.prueba', 'pendiente', 'automatica',
           now(), '{"webhook":{}}', now() from generate_series(1, $3::int) i`,
        [harness.comercioId, hangingWebhook, waitingCount],
      ),
    )
    await wait(async () => [...receptor.receptions.keys()].some((key) => key.startsWith('/colgado')), 20_000)
    const delaysTogether = await measureDelays(times)
    const p = (sortedDelays: number[], part: number) =>
      sortedDelays[Math.floor(sortedDelays.length * part)] ?? Number.NaN
    const razon = (part: number) =>
      `p${part * 100} ${p(delaysAlone, part)} → ${p(delaysTogether, part)} ms (×${(p(delaysTogether, part) / p(delaysAlone, part)).toFixed(2)})`
    const result = await closeLedger(harness, {
      scenario: `${HEALTHY_ENDPOINTS} sanos junto a uno colgado`,
      trial: `${waitingCount} en espera`,
      load: { guias, cancelledGuias, fallas: faults, statusCounts },
      timeout: 30_000,
      recuperacion: 10,
      separate: [hangingWebhook],
      notas: [`${razon(0.5)}, ${razon(0.99)}`],
    })
    const hangingCount = [...receptor.receptions].filter(([key]) => key.startsWith('/colgado')).length
    result.notas.push(`the hanging endpoint was sent ${hangingCount}`)
    if (delaysTogether.length < times * HEALTHY_ENDPOINTS)
      result.fallas.push(`only ${delaysTogether.length} reached a healthy endpoint in time`)
    return result
  })

export const receiverDown: Scenario['run'] = ({ times, size: seconds = 3 }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    await harness.worker()
    await prepareEndpoints(harness, apis[0]!)
    const load = startLoads(harness, { apis: () => apis, rate: 20 })
    let backAt = 0
    for (let i = 0; i < times; i++) {
      await sleep(1_000)
      // Every second time it answers, but nothing good.
      if (i % 2 === 0) await harness.receptor.stopListening()
      else harness.receptor.handle = () => 503
      await sleep(seconds * 1_000)
      if (i % 2 === 0) await harness.receptor.listenAgain()
      else harness.receptor.handle = handleSlowly
      backAt = Date.now()
    }
    await sleep(1_000)
    await load.stop()
    const { rows } = await harness.db.pool.query<{ n: number }>(
      'select count(*)::int as n from webhook_intento where error is not null',
    )
    // The brake holds an endpoint back for a minute at most; what failed twice waits a minute and a fifth more.
    const timeoutSeconds = (seconds < 5 ? 75 : 150) * times
    return closeLedger(harness, {
      scenario: 'receptor caído que vuelve',
      trial: `${times} caídas de ${seconds} s`,
      load,
      danado: backAt,
      timeout: timeoutSeconds * 1_000,
      recuperacion: timeoutSeconds,
      // An answer may be on its way when the receiver goes down: it says that it took what we never heard of.
      allowedRepeats: times,
      receiversFailed: true,
      notas: [`${rows[0]!.n} attempts failed`],
    })
  })
