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
export const startProcesses = (config: Config, log: Log, consola: (linea: string) => void): Promise<Running> =>
  withTeardown(config, log, async (deshacer) => {
    const inicio = performance.now()
    // The embedded PostgreSQL belongs to this process; the API processes only use it.
    if (config.baseDeDatos.tipo === 'embebida') await openDatabase(config, deshacer, { exclusivo: true, log })
    const cuantos = config.procesosDeApi!
    const exemplars = config.trazas !== undefined
    const familia = new ProcessFamily(cuantos, exemplars, log, consola)
    deshacer.add(() => familia.terminate())
    await familia.spawn()
    await serveMetrics(config, deshacer, {
      metricas: { tipo: sumsType(exemplars), exponer: () => familia.expose(), observarProceso() {} },
      salud: () => familia.health(),
    })
    consola(`Guías está listo con ${cuantos} procesos en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
    return { renovar: () => familia.renew(), detener: once(() => deshacer.run()) }
  })
