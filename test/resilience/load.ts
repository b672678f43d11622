import { setTimeout as dormir } from 'node:timers/promises'
import { buildGuia } from '../factories.ts'
import type { Arnes } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'

/** A merchant that goes on creating and cancelling, and repeats whatever wasn't answered with success. */
export interface MerchantLoad {
  /** Acknowledged guides: reference → code. */
  guias: Map<string, string>
  /** Codes of guides whose cancelling was acknowledged. */
  canceladas: Set<string>
  /** How often each status came; 0: no answer. */
  respuestas: Map<number, number>
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
const PACIENCIA = 60_000
const LOTE = 10

/** Starts requests until they are stopped. One function, because all kinds of requests write to the same record. */
export function startLoads(
  { llave }: Arnes,
  { apis, rate: ritmo = 40, threads: hilos = 6, simple = false }: Opciones,
): MerchantLoad {
  let parando = false
  const load: MerchantLoad = {
    guias: new Map(),
    canceladas: new Set(),
    respuestas: new Map(),
    repetidas: 0,
    fallas: [],
    ultima: Date.now(),
    async stop() {
      parando = true
      await Promise.all(trabajando)
    },
  }

  /** The same request, to any of the APIs, until one takes it. */
  const insistir = async (ruta: string, cuerpo: unknown, ok: (status: number, texto: string) => boolean) => {
    for (const limite = Date.now() + PACIENCIA; Date.now() < limite; await dormir(100)) {
      const liveApis = apis()
      const api = liveApis[Math.floor(Math.random() * liveApis.length)]
      if (!api) continue
      let status = 0
      try {
        const respuesta = await fetch(`${api.url}/api/v1${ruta}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
          body: JSON.stringify(cuerpo),
          signal: AbortSignal.timeout(15_000),
        })
        status = respuesta.status
        const texto = await respuesta.text()
        if (ok(status, texto)) {
          load.ultima = Date.now()
          return
        }
        if (status !== 503 && status !== 200) load.fallas.push(`POST ${ruta}: ${status} ${texto.slice(0, 300)}`)
      } catch {
        status = 0 // killed or cut off
      } finally {
        load.respuestas.set(status, (load.respuestas.get(status) ?? 0) + 1)
      }
    }
    load.fallas.push(`POST ${ruta}: not taken in ${PACIENCIA / 1000} s`)
  }

  const anotar = (ref: string, guia: string) => {
    const previa = load.guias.get(ref)
    if (previa && previa !== guia) load.fallas.push(`${ref} is ${previa} and ${guia}`)
    load.guias.set(ref, guia)
  }
  const crear = async () => {
    const cuerpo = buildGuia()
    await insistir('/guias', cuerpo, (status, texto) => {
      if (status !== 200 && status !== 201) return false
      if (status === 200) load.repetidas++
      anotar(cuerpo.external_ref!, JSON.parse(texto).guia)
      return true
    })
  }
  const crearLote = () => {
    const guias = Array.from({ length: LOTE }, () => buildGuia())
    return insistir('/guias/bulk', { guias }, (status, texto) => {
      if (status !== 200) return false
      const { ok, resultados } = JSON.parse(texto)
      for (const r of resultados) {
        if (r.ok) anotar(r.external_ref, r.guia)
        else if (r.error.estado_http !== 503) load.fallas.push(`entry ${JSON.stringify(r.error)}`)
      }
      return ok
    })
  }
  const cancelar = async () => {
    const guia = [...load.guias.values()].at(-1 - Math.floor(Math.random() * 20))
    if (!guia || load.canceladas.has(guia)) return
    await insistir(`/guias/${guia}/cancelar`, {}, (status) => {
      if (status !== 200) return false
      load.canceladas.add(guia)
      return true
    })
  }

  const hilo = async (threadIndex: number) => {
    const pausa = (1000 * hilos) / ritmo
    await dormir(threadIndex * pausa)
    for (let nextAt = performance.now(); !parando; ) {
      const suerte = Math.random()
      await (simple || suerte < 0.7 ? crear() : suerte < 0.8 ? crearLote() : cancelar())
      // What was missed while nobody answered isn't made up for.
      nextAt = Math.max(nextAt + pausa, performance.now())
      await dormir(Math.max(0, nextAt - performance.now()))
    }
  }
  const trabajando = Array.from({ length: hilos }, (_, i) => hilo(i / hilos))
  return load
}

/** Creates so many in one call, acknowledged. */
export async function createAcknowledgedLote(
  { llave }: Arnes,
  api: ScenarioProcess,
  guiaCount: number,
  libro: Map<string, string>,
) {
  const respuesta = await fetch(`${api.url}/api/v1/guias/bulk`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ guias: Array.from({ length: guiaCount }, () => buildGuia()) }),
  })
  const { ok, resultados } = (await respuesta.json()) as {
    ok: boolean
    resultados: { external_ref: string; guia: string }[]
  }
  if (!ok) throw new Error(JSON.stringify(resultados))
  for (const { external_ref, guia } of resultados) libro.set(external_ref, guia)
}
