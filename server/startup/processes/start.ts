import { AggregatorRegistry } from 'prom-client'
import type { Config } from '../../platform/config/config.ts'
import type { Log } from '../../platform/log.ts'
import { servirMetricas } from '../metricsServer.ts'
import type { EnMarcha } from '../process.ts'
import { levantarBase } from '../resources.ts'
import { levantar, unaVez } from '../teardown.ts'
import { Familia } from './family.ts'

/**
 * Starts `API_PROCESSES` processes of the API on one port and supervises them. A process that dies is replaced. SIGHUP
 * replaces all processes without refusing a request.
 */
export const iniciarProcesos = (config: Config, log: Log, consola: (linea: string) => void): Promise<EnMarcha> =>
  levantar(config, log, async (deshacer) => {
    const inicio = performance.now()
    // The embedded PostgreSQL belongs to this process; the API processes only use it.
    if (config.baseDeDatos.tipo === 'embebida') await levantarBase(config, deshacer, true)
    const cuantos = config.procesosDeApi!
    const familia = new Familia(cuantos, log, consola)
    deshacer.al(() => familia.terminar())
    await familia.nacer()
    await servirMetricas(config, deshacer, {
      metricas: { tipo: new AggregatorRegistry().contentType, exponer: () => familia.exponer(), observarProceso() {} },
      salud: () => familia.salud(),
    })
    consola(`Guías está listo con ${cuantos} procesos en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
    return { renovar: () => familia.renovar(), detener: unaVez(() => deshacer.todo()) }
  })
