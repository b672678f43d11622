import type { Config } from '../../platform/config/config.ts'
import type { Log } from '../../platform/log.ts'
import { serveMetrics } from '../metricsServer.ts'
import type { Running } from '../process.ts'
import { openDatabase } from '../resources.ts'
import { once, withTeardown } from '../teardown.ts'
import { ProcessFamily } from './family.ts'
import { sumsType } from './sums.ts'

/**
 * Starts `API_PROCESSES` processes of the API on one port and supervises them. A process that dies is replaced. SIGHUP
 * replaces all processes without refusing a request.
 */
export const startProcesses = (config: Config, log: Log, console: (line: string) => void): Promise<Running> =>
  withTeardown(config, log, async (teardown) => {
    const startedAt = performance.now()
    // The embedded PostgreSQL belongs to this process; the API processes only use it.
    if (config.database.tipo === 'embebida') await openDatabase(config, teardown, { exclusive: true, log })
    const count = config.apiProcesses!
    const exemplars = config.traces !== undefined
    const family = new ProcessFamily(count, exemplars, log, console)
    teardown.add(() => family.terminate())
    await family.spawn()
    await serveMetrics(config, teardown, {
      metrics: { tipo: sumsType(exemplars), expose: () => family.expose(), observeProcess() {} },
      health: () => family.health(),
    })
    console(`Guías está listo con ${count} procesos en ${((performance.now() - startedAt) / 1000).toFixed(2)} s`)
    return { renew: () => family.renew(), stop: once(() => teardown.run()) }
  })
