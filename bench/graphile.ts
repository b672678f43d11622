/**
 * Reference program: deliveries on graphile-worker, configured for throughput as its documentation says
 * (worker.graphile.org/docs/performance). Each job carries all the data of its POST. The task signs and sends the POST,
 * and inserts one row for the attempt. Reads DATABASE_URL and PORT.
 */
import { Logger, run } from 'graphile-worker'
import pg from 'pg'
import { Agent } from 'undici'
import { createIdGenerator } from '../server/platform/codes/codes.ts'
import { serveAsChild } from './harness/child.ts'
import { type DeliveryOrder, sendOrder } from './harness/order.ts'

const CONCURRENCY = 64

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: CONCURRENCY + 1 })
pool.on('error', () => {})
await pool.query('create table if not exists intento_de_graphile (like webhook_intento including all)')
const agent = new Agent({ connections: CONCURRENCY, keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 })
const newId = createIdGenerator(() => new Date())

const INTENTO = {
  name: 'intento',
  text: `insert into intento_de_graphile (comercio_id, modo, webhook, guia_id, secuencia, id, numero, tardio, causa,
     iniciado_en, url, ip, secretos, status, error, detalle, dns_ms, conexion_ms, tls_ms, primer_byte_ms, total_ms,
     cabeceras, cuerpo, cuerpo_truncado)
   values ($1, $2, $3, $4, $5, $6, 1, false, 'automatica', $7, $8, '127.0.0.1', '{1}', $9, null, null, null, null, null,
     $10, $11, $12, $13, false)`,
}

const sendAndRecord = async (payload: unknown) => {
  const order = payload as DeliveryOrder
  const { comercio_id, modo, webhook, guia_id, secuencia, url } = order
  const { iniciado_en, status, headers, body, primer_byte_ms, total_ms } = await sendOrder(agent, order)
  await pool.query({
    ...INTENTO,
    values: [
      comercio_id,
      modo,
      webhook,
      guia_id,
      secuencia,
      newId().id,
      iniciado_en,
      url,
      status,
      primer_byte_ms,
      total_ms,
      headers,
      body,
    ],
  })
}

const runner = await run({
  pgPool: pool,
  noHandleSignals: true,
  logger: new Logger(() => () => {}),
  taskList: { send: sendAndRecord },
  preset: {
    worker: {
      concurrentJobs: CONCURRENCY,
      maxPoolSize: CONCURRENCY + 1,
      localQueue: { size: 500 },
      completeJobBatchDelay: 0,
      failJobBatchDelay: 0,
    },
  },
})

serveAsChild(
  (_req, res) => void res.end(),
  async () => {
    await runner.stop()
    await pool.end()
  },
)
