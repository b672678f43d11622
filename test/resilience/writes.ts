import { setTimeout as dormir } from 'node:timers/promises'
import pg from 'pg'
import { Agent, request } from 'undici'
import { buildGuia } from '../factories.ts'
import { scrapeMetrics, valorDe } from '../observability/scrape.ts'
import { findFreePort } from '../ports.ts'
import { type Arnes, conArnes } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { startLoads } from './load.ts'
import type { ScenarioProcess } from './processes.ts'
import type { Scenario } from './scenario.ts'

// A database that is there and takes no writes: what requests are told, what /readyz says, and what goes on afterwards.

/** How soon /readyz follows the database, in seconds. */
const A_TIEMPO = 5
const MEGA = 1024 * 1024

interface Vigia {
  /** From now until /readyz gives that status, in seconds. */
  hasta(status: number): Promise<number>
  /** How often each status came. */
  seen: Map<number, number>
  stop(): Promise<void>
}

/** Asks /readyz five times a second, as several proxies and orchestrators do together. */
function vigilar({ url }: ScenarioProcess): Vigia {
  const vistos = new Map<number, number>()
  let ultimo = 0
  let parando = false
  const preguntando = (async () => {
    while (!parando) {
      const respuesta = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(10_000) }).catch(() => undefined)
      ultimo = respuesta?.status ?? 0
      vistos.set(ultimo, (vistos.get(ultimo) ?? 0) + 1)
      await respuesta?.text()
      await dormir(200)
    }
  })()
  return {
    seen: vistos,
    async hasta(status) {
      const inicio = performance.now()
      // What is being answered now was asked before.
      await dormir(250)
      while (ultimo !== status && performance.now() - inicio < 60_000) await dormir(20)
      return (performance.now() - inicio) / 1_000
    },
    async stop() {
      parando = true
      await preguntando
    },
  }
}

interface Dano {
  escenario: string
  /** Harms the database; returns what mends it. */
  danar: (arnes: Arnes) => Promise<() => Promise<unknown>>
  /** Whether /readyz has to say so. */
  isReported: boolean
  disco?: number
  postgres?: readonly string[]
}

/** Requests and webhooks are sent before, during and after each harm; nothing is lost, and no answer is worse than a 503. */
const withoutWrites =
  ({ escenario, danar, isReported, ...opciones }: Dano): Scenario['correr'] =>
  ({ times: veces, size: seconds = 8 }) =>
    conArnes(async (arnes) => {
      const api = await arnes.api()
      await arnes.worker()
      await arnes.registrar(api, '/todo')
      const load = startLoads(arnes, { apis: () => [api] })
      const vigia = vigilar(api)
      await vigia.hasta(200)
      vigia.seen.clear()
      const caidas: number[] = []
      const vueltas: number[] = []
      for (let i = 0; i < veces; i++) {
        await dormir(2_000)
        const sanar = await danar(arnes)
        if (isReported) caidas.push(await vigia.hasta(503))
        await dormir(seconds * 1_000)
        await sanar()
        vueltas.push(await vigia.hasta(200))
      }
      const danado = Date.now()
      await dormir(1_000)
      await load.stop()
      await vigia.stop()
      const formatSeconds = (durations: readonly number[]) => durations.map((s) => s.toFixed(1)).join(', ')
      const resultado = await closeLedger(arnes, {
        escenario,
        probado: `${veces} veces ${seconds} s`,
        load,
        danado,
        // A settlement that was refused is done again later, and a worker may have lost its lease by then.
        repeticiones: veces,
        notas: [
          ...(isReported
            ? [`/readyz said 503 after ${formatSeconds(caidas)} s and 200 again after ${formatSeconds(vueltas)} s`]
            : []),
          `/readyz ${[...vigia.seen].map(([status, n]) => `${status}×${n}`).join(' ')}`,
        ],
      })
      const lateChanges = [...caidas, ...vueltas].filter((s) => s > A_TIEMPO)
      if (lateChanges.length > 0) resultado.fallas.push(`/readyz followed after ${formatSeconds(lateChanges)} s`)
      if (isReported && !load.respuestas.get(503)) resultado.fallas.push('no request was refused: nothing was tried')
      if (!isReported && vigia.seen.size > 1)
        resultado.fallas.push(
          `/readyz changed, though writes went on: ${[...vigia.seen.keys()].join(', ')}; ${[...arnes.avisos.keys()].join(', ')}`,
        )
      return resultado
    }, opciones)

/** As managed databases do when their disk fills up, and as a former primary is. */
export const readOnlyDatabase = withoutWrites({
  escenario: 'base de datos de solo lectura',
  isReported: true,
  async danar(arnes) {
    const setReadOnly = (valor: 'on' | 'off') =>
      arnes.conCliente(async (cliente) => {
        await cliente.query('set default_transaction_read_only = off')
        await cliente.query(`alter database guias set default_transaction_read_only = ${valor}`)
        await arnes.cutConnections()
      })
    await setReadOnly('on')
    return () => setReadOnly('off')
  },
})

export const fullDisk = withoutWrites({
  escenario: 'disco lleno',
  isReported: true,
  disco: 400 * MEGA,
  danar: async (arnes) => {
    const vaciar = arnes.llenarDisco()
    return async () => vaciar()
  },
})

/** Others have all connections: the service keeps those that it has, and gets no more. */
export const noFreeConnections = withoutWrites({
  escenario: 'sin conexiones libres',
  isReported: false,
  // /readyz counts a commit that takes longer than three seconds for none, and a busy machine's disk may need as long.
  postgres: ['max_connections=40', 'shared_buffers=64MB', 'fsync=off'],
  async danar(arnes) {
    const otherClients: pg.Client[] = []
    const llenar = async () => {
      for (let lleno = false; !lleno; ) {
        const otro = new pg.Client(arnes.databaseUrl)
        otro.on('error', () => {})
        await otro.connect().then(
          () => otherClients.push(otro),
          () => {
            lleno = true
          },
        )
      }
    }
    await llenar()
    // /readyz loses its connection, and the next one is refused.
    await otherClients[0]!.query(
      `select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'guias salud%'`,
    )
    await llenar()
    return () => Promise.all(otherClients.map((otro) => otro.end()))
  },
})

/** Requests that a loader has under way at most; the service refuses beyond 1,000. */
const EN_CURSO = 3_000

/** Creations that go on for so many seconds: as many as are answered, or so many per second whatever is answered. */
async function createDuring(
  { llave }: Arnes,
  { url }: ScenarioProcess,
  segundos: number,
  { concurrency, perSecond: porSegundo }: { concurrency: number; perSecond?: number },
) {
  const agente = new Agent({ connections: concurrency, pipelining: 1, headersTimeout: 60_000, bodyTimeout: 60_000 })
  const estados = new Map<number, number>()
  const fin = performance.now() + segundos * 1_000
  let enCurso = 0
  let saltadas = 0
  const crear = async () => {
    enCurso++
    const status = await request(`${url}/api/v1/guias`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
      body: JSON.stringify(buildGuia()),
      dispatcher: agente,
    }).then(
      async ({ statusCode, body }) => {
        await body.dump()
        return statusCode
      },
      () => 0,
    )
    enCurso--
    estados.set(status, (estados.get(status) ?? 0) + 1)
  }
  if (porSegundo === undefined) {
    const keepCreating = async () => {
      while (performance.now() < fin) await crear()
    }
    await Promise.all(Array.from({ length: concurrency }, keepCreating))
  } else {
    const inicio = performance.now()
    for (let hechas = 0; performance.now() < fin; await dormir(5)) {
      const debidas = Math.floor(((performance.now() - inicio) / 1_000) * porSegundo)
      for (; hechas < debidas; hechas++) {
        if (enCurso < EN_CURSO) void crear()
        else saltadas++
      }
    }
    while (enCurso > 0) await dormir(20)
  }
  await agente.close()
  return { estados, saltadas, perSecond: (estados.get(201) ?? 0) / segundos }
}

/** Twice as many requests as the service can answer: it says that it is ready all the time. */
export const saturatedService: Scenario['correr'] = ({ times: veces, size: seconds = 10 }) =>
  conArnes(async (arnes) => {
    // Workers in the same process, as in the embedded default: they share its connections.
    const metricsPort = await findFreePort()
    const api = await arnes.api({ WORKERS: '1', METRICS_PORT: `${metricsPort}` })
    const vigia = vigilar(api)
    await vigia.hasta(200)
    await createDuring(arnes, api, 2, { concurrency: 32 })
    let { perSecond: capacidad } = await createDuring(arnes, api, Math.min(seconds, 5), { concurrency: 32 })
    vigia.seen.clear()
    const fallas: string[] = []
    const notas: string[] = []
    let negadas = 0
    // On a busy machine the measured capacity may be too low: then twice as much is asked the next time.
    let factor = 2
    for (let saturadas = 0, round = 0; saturadas < veces && round < 3 * veces; round++) {
      const porSegundo = factor * capacidad
      const {
        estados,
        saltadas,
        perSecond: creadas,
      } = await createDuring(arnes, api, seconds, { concurrency: EN_CURSO, perSecond: porSegundo })
      const statusSummary = [...estados].map(([status, n]) => `${status || 'none'}×${n}`).join(' ')
      notas.push(
        `${porSegundo.toFixed(0)}/s asked, ${creadas.toFixed(0)}/s created: ${statusSummary}, ${saltadas} not sent`,
      )
      for (const status of estados.keys()) if (![201, 503].includes(status)) fallas.push(`answers: ${status}`)
      negadas += estados.get(503) ?? 0
      capacidad = Math.max(capacidad, creadas)
      if (creadas < 0.75 * porSegundo) saturadas++
      else if (round === 3 * veces - 1) fallas.push('it was never asked for twice as much as it can')
      else factor *= 2
    }
    await vigia.stop()
    const vistos = [...vigia.seen].map(([status, n]) => `${status || 'none'}×${n}`).join(' ')
    notas.push(`/readyz ${vistos}`)
    if (vigia.seen.size !== 1 || !vigia.seen.has(200)) fallas.push(`/readyz changed under load: ${vistos}`)
    const contadas = valorDe(
      await scrapeMetrics(metricsPort),
      'guias_solicitudes_total{operacion="saturada",status="503"}',
    )
    if (contadas !== negadas) fallas.push(`${negadas} requests were refused, and the metric has ${contadas}`)
    for (const queja of arnes.quejas.slice(0, 4)) fallas.push(`log: ${queja}`)
    return {
      escenario: 'el doble de lo que puede',
      probado: `${veces} veces ${seconds} s`,
      lost: 0,
      duplicado: 0,
      recuperado: 0,
      fallas,
      notas,
    }
  })
