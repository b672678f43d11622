import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Paso } from './steps.ts'

export interface ScenarioReception {
  receivedAt: number
  status: number | null
  huella: string
}

/** A merchant's server with any number of endpoints, told apart by their path. */
export interface ScenarioReceiver {
  base: string
  /** By path and webhook-id. */
  receptions: Map<string, ScenarioReception[]>
  /** The status to answer with; null: never answers. `arrivalNumber`: how often this one was received, from 1. */
  handle: (path: string, id: string, arrivalNumber: number) => number | null | Promise<number | null>
  /** Called in the same turn in which the answer was written. */
  afterAnswer: (path: string, id: string, arrivalNumber: number) => void
  /** Requests whose id isn't their body's, or whose body isn't JSON. */
  rejected: string[]
  /** Nobody listens any more, and open connections are cut. */
  stopListening(): Promise<void>
  listenAgain(): Promise<void>
}

export async function openScenarioReceiver(steps: Paso[]): Promise<ScenarioReceiver> {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (req, res) => {
    try {
      const chunks: Buffer[] = []
      for await (const chunk of req) chunks.push(chunk as Buffer)
      const body = Buffer.concat(chunks)
      const path = req.url ?? ''
      const id = String(req.headers['webhook-id'])
      if (JSON.parse(body.toString()).id !== id) receptor.rejected.push(`${path} ${id}: ${body.subarray(0, 200)}`)
      const ownReceptions = receptor.receptions.get(`${path} ${id}`) ?? []
      receptor.receptions.set(`${path} ${id}`, ownReceptions)
      const reception: ScenarioReception = {
        receivedAt: Date.now(),
        status: null,
        huella: createHash('sha1').update(body).digest('hex'),
      }
      const arrivalNumber = ownReceptions.push(reception)
      const status = await receptor.handle(path, id, arrivalNumber)
      if (status === null || res.destroyed) return
      reception.status = status
      res.writeHead(status).end()
      receptor.afterAnswer(path, id, arrivalNumber)
    } catch {
      res.destroy() // the sender is gone
    }
  })
  const listen = (listenPort: number) =>
    new Promise<void>((resolve) => void server.listen(listenPort, '127.0.0.1', () => resolve()))
  const stopListening = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  await listen(0)
  const { port } = server.address() as AddressInfo
  const receptor: ScenarioReceiver = {
    base: `http://127.0.0.1:${port}`,
    receptions: new Map(),
    rejected: [],
    handle: () => 204,
    afterAnswer: () => {},
    stopListening,
    listenAgain: () => listen(port),
  }
  steps.push(stopListening)
  return receptor
}
