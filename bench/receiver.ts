/**
 * Receiver of webhooks. Answers every POST with 204 after reading its body; below `/colgado`, never. Counts distinct webhook-ids and records the first arrival of each, on the clock that all processes
 * share ({@link readMonotonicClock}). GET returns these figures.
 */

import { MINUTE_MS } from '../server/platform/time/units.ts'
import { serveAsChild } from './harness/child.ts'
import { readMonotonicClock } from './harness/order.ts'

let arrivals = new Map<string, number>()
let repetidas = 0
let hung = 0
let waiters: { count: number; notify: () => void }[] = []

const recordArrival = (id: string) => {
  if (arrivals.has(id)) {
    repetidas++
    return
  }
  arrivals.set(id, readMonotonicClock())
  for (const waiter of waiters) if (arrivals.size >= waiter.count) waiter.notify()
}

serveAsChild((req, res) => {
  const { pathname, searchParams } = new URL(req.url ?? '/', 'http://receptor')
  if (req.method === 'POST') {
    req.resume()
    if (pathname.startsWith('/colgado')) return void hung++
    req.once('end', () => {
      recordArrival(String(req.headers['webhook-id']))
      res.writeHead(204).end()
    })
    return
  }
  const sendJson = (value: unknown) => {
    res.setHeader('Content-Type', 'application/json')
    res.end(JSON.stringify(value))
  }
  const buildSummary = () => {
    const arrivalTimes = [...arrivals.values()]
    return {
      distinct: arrivals.size,
      repetidas,
      hung,
      first: arrivalTimes[0],
      ultima: arrivalTimes.at(-1),
    }
  }
  if (pathname === '/llegadas') return sendJson([...arrivals])
  if (pathname === '/reiniciar') {
    arrivals = new Map()
    repetidas = 0
    hung = 0
  }
  // The answer waits until `cuantas` distinct ids have arrived, or `ms` milliseconds.
  const count = Number(searchParams.get('cuantas') ?? 0)
  if (arrivals.size >= count) return sendJson(buildSummary())
  const waiter = {
    count,
    notify: () => {
      clearTimeout(timer)
      waiters = waiters.filter((otherWaiter) => otherWaiter !== waiter)
      sendJson(buildSummary())
    },
  }
  const timer = setTimeout(waiter.notify, Number(searchParams.get('ms') ?? MINUTE_MS))
  waiters.push(waiter)
})
