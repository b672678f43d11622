/**
 * Reference program: undici without a database. POST `/<file>` sends the requests that the file lists, 64 at a time,
 * and answers when all are sent. Reads PORT.
 */
import { readFileSync } from 'node:fs'
import { Agent } from 'undici'
import { serveAsChild } from './harness/child.ts'
import { type DeliveryOrder, sendOrder } from './harness/order.ts'

const MAX_EXCHANGES = 64
const agent = new Agent({ connections: MAX_EXCHANGES, keepAliveTimeout: 600_000, keepAliveMaxTimeout: 600_000 })

serveAsChild(async (req, res) => {
  if (req.method !== 'POST') return void res.end()
  const orders = (JSON.parse(readFileSync(decodeURIComponent(req.url ?? ''), 'utf8')) as DeliveryOrder[]).values()
  const sendOrders = async () => {
    for (const order of orders) await sendOrder(agent, order)
  }
  try {
    await Promise.all(Array.from({ length: MAX_EXCHANGES }, sendOrders))
    res.end()
  } catch (error) {
    res.writeHead(500).end(String(error))
  }
})
