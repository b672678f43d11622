import { createServer } from 'node:http'
import type { Health } from '../domain/deps.ts'
import type { Config } from '../platform/config/config.ts'
import { listen, stopListening } from './listen.ts'
import type { ExposedMetrics } from './metrics.ts'
import type { Teardown } from './teardown.ts'

/**
 * Serves health and metrics for the operator's own network, on a port of their own and without a key.
 * @returns the address; undefined without `METRICS_PORT`
 */
export async function serveMetrics(
  { metricsPort, host }: Config,
  teardown: Teardown,
  { metrics, health }: { metrics: ExposedMetrics; health: () => Promise<Health> },
): Promise<string | undefined> {
  if (metricsPort === undefined) return undefined
  metrics.observeProcess(health)
  const server = createServer(async (req, res) => {
    const [path] = (req.url ?? '').split('?')
    try {
      if (path === '/metrics') return void res.setHeader('Content-Type', metrics.tipo).end(await metrics.expose())
      const estado = path === '/healthz' ? { ok: true } : path === '/readyz' ? await health() : undefined
      res.writeHead(estado === undefined ? 404 : estado.ok ? 200 : 503, { 'Content-Type': 'application/json' })
      res.end(JSON.stringify(estado ?? { ok: false }))
    } catch {
      if (!res.headersSent) res.writeHead(503)
      res.end()
    }
  })
  const direccion = await listen(server, metricsPort, host)
  teardown.add(() => stopListening(server))
  return direccion
}
