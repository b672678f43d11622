import { setTimeout as dormir } from 'node:timers/promises'
import { prepareEndpoints } from './fleet.ts'
import { conArnes, esperar } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { startLoads } from './load.ts'
import { handleSlowly, type Scenario } from './scenario.ts'

// Receivers that hang or are down.

const SANOS = 19

export const isolation: Scenario['correr'] = ({ times: veces, size: waitingCount = 1_000 }) =>
  conArnes(async (arnes) => {
    const { receptor } = arnes
    const apis = [await arnes.api()]
    await arnes.worker()
    const rutas = Array.from({ length: SANOS }, (_, i) => `/sano-${i + 1}`)
    for (const ruta of rutas) await arnes.registrar(apis[0]!, ruta)
    receptor.handle = (ruta) => (ruta === '/colgado' ? null : 204)
    const guias = new Map<string, string>()
    const canceladas = new Set<string>()
    const fallas: string[] = []
    const respuestas = new Map<number, number>()
    /** How long each delivery of a load took to reach its receiver, sorted, in milliseconds. */
    const medir = async (guiaCount: number) => {
      const load = startLoads(arnes, { apis: () => apis, rate: 10, threads: 2, simple: true })
      await esperar(async () => load.guias.size >= guiaCount, 120_000, 20)
      await load.stop()
      for (const [ref, guia] of load.guias) guias.set(ref, guia)
      fallas.push(...load.fallas)
      for (const [status, n] of load.respuestas) respuestas.set(status, (respuestas.get(status) ?? 0) + n)
      const eventos = new Set([...load.guias.values()].map((guia) => `evt_${guia}_1`))
      const { rows } = await arnes.db.pool.query<{ evento: string; en: Date }>(
        `select 'evt_' || guia || '_1' as evento, registrado_en as en from evento where secuencia = 1`,
      )
      const entregaRows = rows.filter(({ evento }) => eventos.has(evento))
      const receptionTimes = (evento: string) =>
        rutas.flatMap((ruta) => receptor.receptions.get(`${ruta} ${evento}`)?.[0]?.en ?? [])
      await esperar(async () => entregaRows.every(({ evento }) => receptionTimes(evento).length === SANOS), 60_000, 100)
      return entregaRows
        .flatMap(({ evento, en }) => receptionTimes(evento).map((r) => r - en.getTime()))
        .sort((a, b) => a - b)
    }
    await medir(Math.ceil(veces / 5))
    const delaysAlone = await medir(veces)
    const colgado = await arnes.registrar(apis[0]!, '/colgado')
    await arnes.conCliente((cliente) =>
      cliente.query(
        `insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en,
           datos, creado_en)
         select $1, 'test', $2, gen_random_uuid(), 0, 'evt_' || i || '_0', 'webhook.prueba', 'pendiente', 'automatica',
           now(), '{"webhook":{}}', now() from generate_series(1, $3::int) i`,
        [arnes.comercioId, colgado, waitingCount],
      ),
    )
    await esperar(async () => [...receptor.receptions.keys()].some((clave) => clave.startsWith('/colgado')), 20_000)
    const delaysTogether = await medir(veces)
    const p = (ordenadas: number[], parte: number) => ordenadas[Math.floor(ordenadas.length * parte)] ?? Number.NaN
    const razon = (parte: number) =>
      `p${parte * 100} ${p(delaysAlone, parte)} → ${p(delaysTogether, parte)} ms (×${(p(delaysTogether, parte) / p(delaysAlone, parte)).toFixed(2)})`
    const resultado = await closeLedger(arnes, {
      escenario: `${SANOS} sanos junto a uno colgado`,
      probado: `${waitingCount} en espera`,
      load: { guias, canceladas, fallas, respuestas },
      timeout: 30_000,
      recuperacion: 10,
      separate: [colgado],
      notas: [`${razon(0.5)}, ${razon(0.99)}`],
    })
    const colgadas = [...receptor.receptions].filter(([clave]) => clave.startsWith('/colgado')).length
    resultado.notas.push(`the hanging endpoint was sent ${colgadas}`)
    if (delaysTogether.length < veces * SANOS)
      resultado.fallas.push(`only ${delaysTogether.length} reached a healthy endpoint in time`)
    return resultado
  })

export const receiverDown: Scenario['correr'] = ({ times: veces, size: seconds = 3 }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await prepareEndpoints(arnes, apis[0]!)
    const load = startLoads(arnes, { apis: () => apis, rate: 20 })
    let regreso = 0
    for (let i = 0; i < veces; i++) {
      await dormir(1_000)
      // Every second time it answers, but nothing good.
      if (i % 2 === 0) await arnes.receptor.caer()
      else arnes.receptor.handle = () => 503
      await dormir(seconds * 1_000)
      if (i % 2 === 0) await arnes.receptor.listenAgain()
      else arnes.receptor.handle = handleSlowly
      regreso = Date.now()
    }
    await dormir(1_000)
    await load.stop()
    const { rows } = await arnes.db.pool.query<{ n: number }>(
      'select count(*)::int as n from webhook_intento where error is not null',
    )
    // The brake holds an endpoint back for a minute at most; what failed twice waits a minute and a fifth more.
    const timeoutSeconds = (seconds < 5 ? 75 : 150) * veces
    return closeLedger(arnes, {
      escenario: 'receptor caído que vuelve',
      probado: `${veces} caídas de ${seconds} s`,
      load,
      danado: regreso,
      timeout: timeoutSeconds * 1_000,
      recuperacion: timeoutSeconds,
      // An answer may be on its way when the receiver goes down: it says that it took what we never heard of.
      repeticiones: veces,
      fallaron: true,
      notas: [`${rows[0]!.n} attempts failed`],
    })
  })
