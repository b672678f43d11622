import pg from 'pg'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { type SignalKey, SignalListener, SignalSender } from '../../server/data/queue/signals.ts'
import { createLog } from '../../server/platform/log.ts'
import { admin, createTestDatabase, dropTestDatabase } from '../postgres.ts'

const BASE = 'senales'
const log = createLog('silent')
const url = () => Object.assign(new URL(inject('postgres')), { pathname: `/${BASE}` }).href
const receivedKeys: (readonly SignalKey[] | undefined)[] = []
let pool: pg.Pool
let listener: SignalListener

beforeAll(async () => {
  await createTestDatabase(BASE)
  pool = new pg.Pool({ connectionString: url(), max: 1 })
  pool.on('error', () => {})
  listener = new SignalListener(url(), log, (keys) => receivedKeys.push(keys))
})
afterAll(async () => {
  await listener.close()
  await pool.end()
  await dropTestDatabase(BASE)
})

const newGuias = (count: number): SignalKey[] =>
  Array.from({ length: count }, (_, i) => ({
    comercio_id: crypto.randomUUID(),
    modo: i % 2 ? 'test' : 'live',
    webhook: `wh_${i}`,
  }))
const byWebhook = (one: SignalKey, other: SignalKey) => (one.webhook < other.webhook ? -1 : 1)

it('tells all endpoints, however many, and those of while a signal was on its way', async () => {
  // A listener begins with the signal that there may be any kind of work.
  await expect.poll(() => receivedKeys).toEqual([undefined])
  receivedKeys.length = 0
  const { send } = new SignalSender(pool, log)
  const keys = newGuias(200)
  send(keys.slice(0, 190))
  send(keys.slice(190))
  await expect.poll(() => receivedKeys.flatMap((unas) => unas ?? []).length).toBe(200)
  expect(receivedKeys.flatMap((unas) => unas ?? []).toSorted(byWebhook)).toEqual(keys.toSorted(byWebhook))
  receivedKeys.length = 0
  send()
  await expect.poll(() => receivedKeys).toEqual([undefined])
})

it('listens again after a lost connection, and then looks for any kind of work', async () => {
  receivedKeys.length = 0
  await admin((client) =>
    client.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1 and query like $2', [
      BASE,
      'listen %',
    ]),
  )
  await expect.poll(() => receivedKeys).toEqual([undefined])
  const [key] = newGuias(1)
  new SignalSender(pool, log).send([key!])
  await expect.poll(() => receivedKeys).toEqual([undefined, [key]])
})
