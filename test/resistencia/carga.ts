import { setTimeout as dormir } from 'node:timers/promises'
import { buildGuia } from '../fabricas.ts'
import type { Arnes } from './arnes.ts'
import type { ScenarioProcess } from './procesos.ts'

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
  const carga: MerchantLoad = {
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
      const vivas = apis()
      const api = vivas[Math.floor(Math.random() * vivas.length)]
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
          carga.ultima = Date.now()
          return
        }
        if (status !== 503 && status !== 200) carga.fallas.push(`POST ${ruta}: ${status} ${texto.slice(0, 300)}`)
      } catch {
        status = 0 // killed or cut off
      } finally {
        carga.respuestas.set(status, (carga.respuestas.get(status) ?? 0) + 1)
      }
    }
    carga.fallas.push(`POST ${ruta}: not taken in ${PACIENCIA / 1000} s`)
  }

  const anotar = (ref: string, guia: string) => {
    const previa = carga.guias.get(ref)
    if (previa && previa !== guia) carga.fallas.push(`${ref} is ${previa} and ${guia}`)
    carga.guias.set(ref, guia)
  }
  const crear = async () => {
    const cuerpo = buildGuia()
    await insistir('/guias', cuerpo, (status, texto) => {
      if (status !== 200 && status !== 201) return false
      if (status === 200) carga.repetidas++
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
        else if (r.error.estado_http !== 503) carga.fallas.push(`entry ${JSON.stringify(r.error)}`)
      }
      return ok
    })
  }
  const cancelar = async () => {
    const guia = [...carga.guias.values()].at(-1 - Math.floor(Math.random() * 20))
    if (!guia || carga.canceladas.has(guia)) return
    await insistir(`/guias/${guia}/cancelar`, {}, (status) => {
      if (status !== 200) return false
      carga.canceladas.add(guia)
      return true
    })
  }

  const hilo = async (desfase: number) => {
    const pausa = (1000 * hilos) / ritmo
    await dormir(desfase * pausa)
    for (let proxima = performance.now(); !parando; ) {
      const suerte = Math.random()
      await (simple || suerte < 0.7 ? crear() : suerte < 0.8 ? crearLote() : cancelar())
      // What was missed while nobody answered isn't made up for.
      proxima = Math.max(proxima + pausa, performance.now())
      await dormir(Math.max(0, proxima - performance.now()))
    }
  }
  const trabajando = Array.from({ length: hilos }, (_, i) => hilo(i / hilos))
  return carga
}

/** Creates so many in one call, acknowledged. */
export async function createAcknowledgedLote(
  { llave }: Arnes,
  api: ScenarioProcess,
  cuantas: number,
  libro: Map<string, string>,
) {
  const respuesta = await fetch(`${api.url}/api/v1/guias/bulk`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ guias: Array.from({ length: cuantas }, () => buildGuia()) }),
  })
  const { ok, resultados } = (await respuesta.json()) as {
    ok: boolean
    resultados: { external_ref: string; guia: string }[]
  }
  if (!ok) throw new Error(JSON.stringify(resultados))
  for (const { external_ref, guia } of resultados) libro.set(external_ref, guia)
}
