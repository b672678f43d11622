import { hash } from 'node:crypto'
import type { PgBoss } from 'pg-boss'
import type { Db } from '../db.ts'
import { proximasDe } from './vencidas.ts'
import type { ClaveDeWebhook } from './webhook.ts'

/** The queue of retries: a job of it asks for an endpoint when its next delivery is due. */
export const COLA_DE_REINTENTOS = 'reintentos'

/**
 * Makes the jobs that bring endpoints back when they may next be sent something. A job's id is its endpoint's and its
 * second's, so that however many deliveries fail, there is one.
 * @returns endpoints that may be sent something now
 */
export async function citarReintentos(
  boss: PgBoss,
  { db, reloj }: { db: Db; reloj: () => Date },
  claves: readonly ClaveDeWebhook[],
): Promise<ClaveDeWebhook[]> {
  const ahora = reloj()
  const proximas = await proximasDe(db, claves, ahora)
  const luego = proximas.filter(({ en }) => en > ahora)
  const trabajos = luego.map(({ comercio_id, modo, webhook, en }) => ({
    id: idDe(`${webhook} ${Math.ceil(en.getTime() / 1_000)}`),
    data: { comercio_id, modo, webhook },
    // From now by the queue's clock, which may not be ours.
    startAfter: Math.ceil((en.getTime() - ahora.getTime()) / 1_000),
  }))
  if (trabajos.length > 0) await boss.insert(COLA_DE_REINTENTOS, trabajos, { returnId: false })
  return proximas.filter(({ en }) => en <= ahora)
}

/** A UUID made of a text. */
const idDe = (texto: string) => hash('md5', texto).replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5')
