import { createServer } from 'node:http'
import type { Salud } from '../domain/deps.ts'
import type { Config } from '../platform/config/config.ts'
import { listen, stopListening } from './listen.ts'
import type { ExposedState } from './metrics.ts'
import type { Teardown } from './teardown.ts'

/**
 * Serves health and metrics for the operator's own network, on a port of their own and without a key.
 * @returns the address; undefined without `METRICS_PORT`
 */
export async function serveMetrics(
  { metricsPort, host }: Config,
  deshacer: Teardown,
  { metricas, salud }: { metricas: ExposedState; salud: () => Promise<Salud> },
): Promise<string | undefined> {
  if (metricsPort === undefined) return undefined
  metricas.observarProceso(salud)
  const servidor = createServer(async (req, res) => {
    const [ruta] = (req.url ?? '').split('?')
    try {
      if (ruta === '/metrics') return void res.setHeader('Content-Type', metricas.tipo).end(await metricas.exponer())
      const estado = ruta === '/healthz' ? { ok: true } : ruta === '/readyz' ? await salud() : undefined
      res.writeHead(estado === undefined ? 404 : estado.ok ? 200 : 503, { 'Content-Type': 'application/json' })
      res.end(JSON.stringify(estado ?? { ok: false }))
    } catch {
      if (!res.headersSent) res.writeHead(503)
      res.end()
    }
  })
  const direccion = await listen(servidor, metricsPort, host)
  deshacer.add(() => stopListening(servidor))
  return direccion
}
