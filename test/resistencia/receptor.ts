import { createHash } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Paso } from './pasos.ts'

export interface ScenarioReception {
  en: number
  status: number | null
  huella: string
}

/** A merchant's server with any number of endpoints, told apart by their path. */
export interface ScenarioReceiver {
  base: string
  /** By path and webhook-id. */
  recibidas: Map<string, ScenarioReception[]>
  /** The status to answer with; null: never answers. `vez`: how often this one was received, from 1. */
  handle: (ruta: string, id: string, vez: number) => number | null | Promise<number | null>
  /** Called in the same turn in which the answer was written. */
  trasContestar: (ruta: string, id: string, vez: number) => void
  /** Requests whose id isn't their body's, or whose body isn't JSON. */
  rejected: string[]
  /** Nobody listens any more, and open connections are cut. */
  caer(): Promise<void>
  volver(): Promise<void>
}

export async function openScenarioReceiver(pasos: Paso[]): Promise<ScenarioReceiver> {
  const servidor = createServer({ keepAliveTimeout: 60_000 }, async (req, res) => {
    try {
      const trozos: Buffer[] = []
      for await (const trozo of req) trozos.push(trozo as Buffer)
      const cuerpo = Buffer.concat(trozos)
      const ruta = req.url ?? ''
      const id = String(req.headers['webhook-id'])
      if (JSON.parse(cuerpo.toString()).id !== id) receptor.rejected.push(`${ruta} ${id}: ${cuerpo.subarray(0, 200)}`)
      const suyas = receptor.recibidas.get(`${ruta} ${id}`) ?? []
      receptor.recibidas.set(`${ruta} ${id}`, suyas)
      const recepcion: ScenarioReception = {
        en: Date.now(),
        status: null,
        huella: createHash('sha1').update(cuerpo).digest('hex'),
      }
      const vez = suyas.push(recepcion)
      const status = await receptor.handle(ruta, id, vez)
      if (status === null || res.destroyed) return
      recepcion.status = status
      res.writeHead(status).end()
      receptor.trasContestar(ruta, id, vez)
    } catch {
      res.destroy() // the sender is gone
    }
  })
  const escuchar = (puerto: number) =>
    new Promise<void>((resolve) => void servidor.listen(puerto, '127.0.0.1', () => resolve()))
  const caer = () =>
    new Promise<void>((resolve) => {
      servidor.close(() => resolve())
      servidor.closeAllConnections()
    })
  await escuchar(0)
  const { port } = servidor.address() as AddressInfo
  const receptor: ScenarioReceiver = {
    base: `http://127.0.0.1:${port}`,
    recibidas: new Map(),
    rejected: [],
    handle: () => 204,
    trasContestar: () => {},
    caer,
    volver: () => escuchar(port),
  }
  pasos.push(caer)
  return receptor
}
