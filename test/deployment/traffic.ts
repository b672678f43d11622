import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { buildGuia } from '../factories.ts'
import type { MerchantLoad } from '../resilience/load.ts'
import { randomBetween } from '../resilience/scenario.ts'
import type { Deployment } from './bringUp.ts'

/** Merchants' systems that ask over kept connections and repeat nothing: whatever isn't answered as it should be is a fault. */
export interface Traffic extends Pick<MerchantLoad, 'guias' | 'cancelledGuias' | 'fallas' | 'statusCounts'> {
  /** How many requests were answered as they should be. */
  bien(): number
  /** Ends when everything that was begun is answered. */
  stop(): Promise<void>
}

const CLIENT_COUNT = 8
const LOTE = 10

type Cuerpo = Record<string, unknown>

/** One request, once. */
export async function requestThroughProxy(pool: Pool, llave: string, path: string, body?: Cuerpo) {
  const response = await pool.request({
    path: `/api/v1${path}`,
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${llave}`, ...(body ? { 'content-type': 'application/json' } : {}) },
    body: body ? JSON.stringify(body) : null,
    headersTimeout: 60_000,
  })
  return { status: response.statusCode, texto: await response.body.text() }
}

export const openPool = ({ url, ca }: Deployment, connections: number) =>
  new Pool(url, { connections, connect: { ca } })

export function startTraffic(deployment: Deployment): Traffic {
  const pool = openPool(deployment, CLIENT_COUNT)
  const guias = new Map<string, string>()
  const cancelledGuias = new Set<string>()
  const faults: string[] = []
  const answerCounts = new Map<number, number>()
  let successes = 0
  let isStopping = false

  /** The answer's body; undefined: it was none, or not the one that it should be. */
  async function request(
    path: string,
    expectedStatus: number,
    body?: Cuerpo,
  ): Promise<Record<string, unknown> | undefined> {
    await sleep(randomBetween(20, 120))
    let status = 0
    let text = ''
    try {
      ;({ status, texto: text } = await requestThroughProxy(pool, deployment.llave, path, body))
    } catch (error) {
      text = String(error)
    }
    answerCounts.set(status, (answerCounts.get(status) ?? 0) + 1)
    if (status !== expectedStatus) {
      faults.push(`${body ? 'POST' : 'GET'} ${path}: ${status} ${text.slice(0, 300)}`)
      return undefined
    }
    successes++
    return JSON.parse(text)
  }

  async function create(): Promise<string | undefined> {
    const body = buildGuia()
    const createdGuia = await request('/guias', 201, body)
    if (!createdGuia) return undefined
    guias.set(body.external_ref!, String(createdGuia.guia))
    return String(createdGuia.guia)
  }
  async function crearLote() {
    const lote = await request('/guias/bulk', 200, { guias: Array.from({ length: LOTE }, () => buildGuia()) })
    for (const { ok, external_ref, guia, error } of (lote?.resultados ?? []) as Record<string, unknown>[]) {
      if (ok) guias.set(String(external_ref), String(guia))
      else faults.push(`entry ${JSON.stringify(error)}`)
    }
  }
  async function cancelar() {
    const guia = await create()
    if (guia && (await request(`/guias/${guia}/cancelar`, 200, {}))) cancelledGuias.add(guia)
  }
  /** A guide's whole way, with its proof at the end. */
  async function deliverGuia() {
    const guia = await create()
    for (const estado of ['recolectado', 'en_ruta', 'entregado'])
      if (!guia || !(await request(`/simulador/guias/${guia}/avanzar`, 200, { estado }))) return
    await request(`/guias/${guia}`, 200)
  }

  const clients = Array.from({ length: CLIENT_COUNT }, async () => {
    while (!isStopping) {
      const draw = Math.random()
      await (draw < 0.5 ? create() : draw < 0.6 ? crearLote() : draw < 0.8 ? cancelar() : deliverGuia())
    }
  })
  return {
    guias,
    cancelledGuias,
    fallas: faults,
    statusCounts: answerCounts,
    bien: () => successes,
    async stop() {
      isStopping = true
      await Promise.all(clients)
      await pool.close()
    },
  }
}
