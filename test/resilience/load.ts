import { setTimeout as sleep } from 'node:timers/promises'
import { buildGuia } from '../factories.ts'
import type { Harness } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'

/** A merchant that goes on creating and cancelling, and repeats whatever wasn't answered with success. */
export interface MerchantLoad {
  /** Acknowledged guides: reference → code. */
  guias: Map<string, string>
  /** Codes of guides whose cancelling was acknowledged. */
  cancelledGuias: Set<string>
  /** How often each status came; 0: no answer. */
  statusCounts: Map<number, number>
  /** Creations that were found made when they were repeated. */
  repetidas: number
  fallas: string[]
  /** When something was acknowledged last, as of Date.now(). */
  ultima: number
  /** Ends when everything that was begun is acknowledged. */
  stop(): Promise<void>
}

interface Opciones {
  apis: () => readonly ScenarioProcess[]
  /** Requests per second. */
  rate?: number
  threads?: number
  /** Nothing but single creations. */
  simple?: boolean
}

/** Longer than anything that is done to the service. */
const PATIENCE_MS = 60_000
const LOTE = 10

/** Starts requests until they are stopped. One function, because all kinds of requests write to the same record. */
export function startLoads(
  { llave }: Harness,
  { apis, rate: ritmo = 40, threads = 6, simple = false }: Opciones,
): MerchantLoad {
  let isStopping = false
  const load: MerchantLoad = {
    guias: new Map(),
    cancelledGuias: new Set(),
    statusCounts: new Map(),
    repetidas: 0,
    fallas: [],
    ultima: Date.now(),
    async stop() {
      isStopping = true
      await Promise.all(runningThreads)
    },
  }

  /** The same request, to any of the APIs, until one takes it. */
  const postUntilTaken = async (path: string, body: unknown, ok: (status: number, text: string) => boolean) => {
    for (const limite = Date.now() + PATIENCE_MS; Date.now() < limite; await sleep(100)) {
      const liveApis = apis()
      const api = liveApis[Math.floor(Math.random() * liveApis.length)]
      if (!api) continue
      let status = 0
      try {
        const response = await fetch(`${api.url}/api/v1${path}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
          signal: AbortSignal.timeout(15_000),
        })
        status = response.status
        const text = await response.text()
        if (ok(status, text)) {
          load.ultima = Date.now()
          return
        }
        if (status !== 503 && status !== 200) load.fallas.push(`POST ${path}: ${status} ${text.slice(0, 300)}`)
      } catch {
        status = 0 // killed or cut off
      } finally {
        load.statusCounts.set(status, (load.statusCounts.get(status) ?? 0) + 1)
      }
    }
    load.fallas.push(`POST ${path}: not taken in ${PATIENCE_MS / 1000} s`)
  }

  const anotar = (ref: string, guia: string) => {
    const previousGuia = load.guias.get(ref)
    if (previousGuia && previousGuia !== guia) load.fallas.push(`${ref} is ${previousGuia} and ${guia}`)
    load.guias.set(ref, guia)
  }
  const create = async () => {
    const body = buildGuia()
    await postUntilTaken('/guias', body, (status, text) => {
      if (status !== 200 && status !== 201) return false
      if (status === 200) load.repetidas++
      anotar(body.external_ref!, JSON.parse(text).guia)
      return true
    })
  }
  const crearLote = () => {
    const guias = Array.from({ length: LOTE }, () => buildGuia())
    return postUntilTaken('/guias/bulk', { guias }, (status, text) => {
      if (status !== 200) return false
      const { ok, resultados } = JSON.parse(text)
      for (const r of resultados) {
        if (r.ok) anotar(r.external_ref, r.guia)
        else if (r.error.estado_http !== 503) load.fallas.push(`entry ${JSON.stringify(r.error)}`)
      }
      return ok
    })
  }
  const cancelar = async () => {
    const guia = [...load.guias.values()].at(-1 - Math.floor(Math.random() * 20))
    if (!guia || load.cancelledGuias.has(guia)) return
    await postUntilTaken(`/guias/${guia}/cancelar`, {}, (status) => {
      if (status !== 200) return false
      load.cancelledGuias.add(guia)
      return true
    })
  }

  const runThread = async (threadIndex: number) => {
    const pauseMs = (1000 * threads) / ritmo
    await sleep(threadIndex * pauseMs)
    for (let nextAt = performance.now(); !isStopping; ) {
      const chance = Math.random()
      await (simple || chance < 0.7 ? create() : chance < 0.8 ? crearLote() : cancelar())
      // What was missed while nobody answered isn't made up for.
      nextAt = Math.max(nextAt + pauseMs, performance.now())
      await sleep(Math.max(0, nextAt - performance.now()))
    }
  }
  const runningThreads = Array.from({ length: threads }, (_, i) => runThread(i / threads))
  return load
}

/** Creates so many in one call, acknowledged. */
export async function createAcknowledgedLote(
  { llave }: Harness,
  api: ScenarioProcess,
  guiaCount: number,
  guiaLedger: Map<string, string>,
) {
  const response = await fetch(`${api.url}/api/v1/guias/bulk`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ guias: Array.from({ length: guiaCount }, () => buildGuia()) }),
  })
  const { ok, resultados } = (await response.json()) as {
    ok: boolean
    resultados: { external_ref: string; guia: string }[]
  }
  if (!ok) throw new Error(JSON.stringify(resultados))
  for (const { external_ref, guia } of resultados) guiaLedger.set(external_ref, guia)
}
