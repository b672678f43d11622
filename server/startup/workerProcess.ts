import { repeatBeforeServing } from '../domain/personas/erasures.ts'
import { openBrand } from '../platform/brand/open.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { buildDeps } from './buildDeps.ts'
import { Lifetime } from './lifetime.ts'
import { publicUrlOf } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { serveMetrics } from './metricsServer.ts'
import type { Running } from './process.ts'
import { openResources } from './resources.ts'
import { openWorkers } from './startWorkers.ts'
import { once, withTeardown } from './teardown.ts'
import { openTracing } from './tracing.ts'

/**
 * Starts a process that runs only workers: it feeds the queue, sends, recovers and cleans up. Its only server is the
 * one for health and metrics.
 */
export const startWorkerProcess = (
  config: Config,
  log: Log,
  console: (line: string) => void = () => {},
): Promise<Running> =>
  withTeardown(config, log, async (teardown) => {
    const brandImages = await openBrand(config, log)
    await openTracing(config, teardown)
    const lifetime = new Lifetime(log, true)
    const { onLoss } = lifetime
    const resources = await openResources(config, log, teardown, { exclusive: false, onLoss })
    lifetime.probe = resources.probe
    for (const nota of resources.notas) console(nota)
    const metrics = createMetrics(config.traces !== undefined)
    const publicUrl = publicUrlOf(config)
    const deps = buildDeps(config, { ...resources, log, lifetime, metrics, brandImages, publicUrl })
    metrics.observeConnections('servicio', resources.db.pool)
    teardown.add(() => deps.threads.stop())
    await repeatBeforeServing(deps, resources.isStoreAvailable)
    const { databaseUrl, via } = resources
    await openWorkers(deps, { databaseUrl, via, lifetime, metrics, correo: config.correo }, teardown)
    lifetime.phase = 'lista'
    const direccion = await serveMetrics(config, teardown, { metrics, health: deps.health })
    console(`El proceso de trabajos está listo${direccion ? `; métricas y salud en ${direccion}` : ''}`)
    const stop = once(() => {
      lifetime.phase = 'deteniendo'
      return teardown.run()
    })
    return { stop }
  })
