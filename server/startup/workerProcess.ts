import { repetirAntesDeServir } from '../domain/personas/olvidos.ts'
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
  consola: (linea: string) => void = () => {},
): Promise<Running> =>
  withTeardown(config, log, async (deshacer) => {
    const imagenesDeMarca = await openBrand(config, log)
    await openTracing(config, deshacer)
    const vida = new Lifetime(log, true)
    const { onLoss } = vida
    const plataforma = await openResources(config, log, deshacer, { exclusivo: false, alPerder: onLoss })
    vida.probe = plataforma.sonda
    for (const nota of plataforma.notas) consola(nota)
    const metricas = createMetrics(config.trazas !== undefined)
    const urlPublica = publicUrlOf(config)
    const deps = buildDeps(config, { ...plataforma, log, vida, metricas, imagenesDeMarca, urlPublica })
    metricas.observarConexiones('servicio', plataforma.db.pool)
    deshacer.add(() => deps.hilos.stop())
    await repetirAntesDeServir(deps, plataforma.almacenDisponible)
    const { databaseUrl, via } = plataforma
    await openWorkers(deps, { databaseUrl, via, vida, metricas, correo: config.correo }, deshacer)
    vida.phase = 'lista'
    const direccion = await serveMetrics(config, deshacer, { metricas, salud: deps.salud })
    consola(`El proceso de trabajos está listo${direccion ? `; métricas y salud en ${direccion}` : ''}`)
    const detener = once(() => {
      vida.phase = 'deteniendo'
      return deshacer.run()
    })
    return { detener }
  })
