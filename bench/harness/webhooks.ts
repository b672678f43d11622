import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { buildCreationEvento } from '../../server/domain/eventos/evento.ts'
import { normalizeGuia } from '../../server/domain/records/guiaData.ts'
import { buildNewGuiaRow } from '../../server/domain/records/guiaFields.ts'
import { avisosOf, buildWebhookBody } from '../../server/domain/webhooks/delivery.ts'
import { encryptSecret } from '../../server/domain/webhooks/secret.ts'
import { newSecret, secretBytes } from '../../server/domain/webhooks/signature.ts'
import { newWebhookCode } from '../../server/domain/webhooks/webhook.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { buildGuiaJson } from './data.ts'
import type { Bench, BenchComercio, BenchInstallation } from './environment.ts'
import type { DeliveryDestination } from './order.ts'

interface ReceiverSummary {
  distinct: number
  repetidas: number
  /** Requests that the receiver never answers. */
  hung: number
  /** First arrival, in milliseconds of the clock that all processes share. */
  first?: number
  ultima?: number
}

/** Running receiver (`bench/receiver.ts`). */
export interface BenchReceiver {
  url: string
  pid: number
  /** Forgets all arrivals. */
  reset(): Promise<void>
  summary(): Promise<ReceiverSummary>
  /**
   * Resolves with the arrivals when at least `count` distinct ids have arrived.
   * @throws if they do not arrive within `ms` milliseconds
   */
  waitFor(count: number, ms: number): Promise<ReceiverSummary>
  /** First arrival of each id, in milliseconds of the clock that all processes share. */
  arrivals(): Promise<Map<string, number>>
}

function getJson<T>(url: string): Promise<T> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, async (response) => {
      const chunks = await response.setEncoding('utf8').toArray()
      resolve(JSON.parse(chunks.join('')))
    }).once('error', reject)
  })
}

/** Starts a receiver. */
export async function startReceiver(base: Pick<BenchInstallation, 'program'>): Promise<BenchReceiver> {
  const { url, pid } = await base.program('receiver.ts')
  return {
    url,
    pid,
    reset: () => getJson(`${url}/reiniciar`),
    summary: () => getJson(`${url}/resumen`),
    async waitFor(count, ms) {
      const summary = await getJson<ReceiverSummary>(`${url}/resumen?cuantas=${count}&ms=${ms}`)
      if (summary.distinct < count)
        throw new Error(`llegaron ${summary.distinct} de ${count} webhooks en ${ms / 1000} s`)
      return summary
    },
    arrivals: async () => new Map(await getJson<[string, number][]>(`${url}/llegadas`)),
  }
}

/**
 * Sends a POST without a body; resolves when the answer is 200.
 * @throws if the status is another
 */
export async function sendPost(url: string): Promise<void> {
  const response = await fetch(url, { method: 'POST' })
  if (response.status !== 200) throw new Error(await response.text())
}

/** Registers one active endpoint for each merchant, subscribed to all event types. */
export async function registerEndpoints(
  { masterKeys }: Bench,
  { db }: BenchInstallation,
  comercios: readonly BenchComercio[],
  urlOf: (i: number) => string,
): Promise<DeliveryDestination[]> {
  const secrets = createSecrets(masterKeys)
  const destinations: DeliveryDestination[] = []
  for (const [i, comercio] of comercios.entries()) {
    const webhook = newWebhookCode()
    const url = urlOf(i)
    const clave = secretBytes(newSecret())
    await db.pool.query(
      `insert into webhook (comercio_id, modo, webhook, url, tipos, estado, estado_en, comprobado_en, creado_en, actualizado_en)
       values ($1, $2, $3, $4, '{*}', 'activo', now(), now(), now(), now())`,
      [comercio.id, comercio.modo, webhook, url],
    )
    await db.pool.query(
      `insert into webhook_secreto (comercio_id, modo, webhook, version, cifrado, creado_en)
       values ($1, $2, $3, 1, $4, now())`,
      [comercio.id, comercio.modo, webhook, encryptSecret(secrets, { webhook, version: 1 }, clave)],
    )
    destinations.push({ comercio, webhook, url, clave, example: buildExampleBody(comercio) })
  }
  await db.pool.query('analyze webhook, webhook_secreto, comercio')
  return destinations
}

/** Returns the body that the service sends for a new guide with the code `GUIA_EJEMPLO`. */
function buildExampleBody({ id: comercio_id, modo }: BenchComercio): string {
  const datos = normalizeGuia(JSON.parse(buildGuiaJson()), { pais: null })
  const creado_en = new Date()
  const guia = buildNewGuiaRow(datos, { comercio_id, modo, id: '', guia: 'GUIA_EJEMPLO', huellas: null, creado_en })
  const [content] = avisosOf({ guia, evento: buildCreationEvento(guia, null), webhooks: [''], desde: 0 })
  return buildWebhookBody(content!)
}

/**
 * Starts `perform` at a steady pace, without waiting for earlier calls. Resolves when all calls have ended.
 * @throws the first error of a call, after which no call starts
 */
export async function runAtRate(perSecond: number, seconds: number, perform: (i: number) => Promise<void>) {
  const startedAt = performance.now()
  const calls: Promise<void>[] = []
  let fault: unknown
  for (let i = 0; i < perSecond * seconds && fault === undefined; i++) {
    const delayMs = startedAt + (i * 1000) / perSecond - performance.now()
    if (delayMs > 0) await sleep(delayMs)
    calls.push(
      perform(i).catch((error) => {
        fault ??= error
      }),
    )
  }
  await Promise.all(calls)
  if (fault !== undefined) throw fault
}

/**
 * Waits until a table is empty.
 * @param table table, optionally with a WHERE clause
 * @throws if rows remain after 60 s
 */
export async function waitUntilEmpty({ db }: BenchInstallation, table: string): Promise<void> {
  for (const limit = performance.now() + MINUTE_MS; performance.now() < limit; await sleep(20)) {
    const { rows } = await db.pool.query<{ remaining: boolean }>(`select exists (select 1 from ${table}) as remaining`)
    if (!rows[0]!.remaining) return
  }
  throw new Error(`siguen quedando filas en ${table}`)
}
