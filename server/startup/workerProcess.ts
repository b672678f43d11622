import { abrirMarca } from '../platform/brand/open.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { crearDeps } from './buildDeps.ts'
import { Vida } from './lifetime.ts'
import { urlDe } from './listen.ts'
import { crearMetricas } from './metrics.ts'
import { servirMetricas } from './metricsServer.ts'
import type { EnMarcha } from './process.ts'
import { levantarPlataforma } from './resources.ts'
import { levantarWorkers } from './startWorkers.ts'
import { levantar, unaVez } from './teardown.ts'

/**
 * Starts a process that runs only workers: it feeds the queue, sends, recovers and cleans up. Its only server is the
 * one for health and metrics.
 */
export const iniciarWorker = (
  config: Config,
  log: Log,
  consola: (linea: string) => void = () => {},
): Promise<EnMarcha> =>
  levantar(config, log, async (deshacer) => {
    const imagenesDeMarca = await abrirMarca(config, log)
    const vida = new Vida(log, true)
    const { alPerder } = vida
    const plataforma = await levantarPlataforma(config, log, deshacer, { exclusivo: false, alPerder })
    vida.sonda = plataforma.sonda
    for (const nota of plataforma.notas) consola(nota)
    const deps = crearDeps(config, { ...plataforma, log, vida, imagenesDeMarca, urlPublica: urlDe(config) })
    deshacer.al(() => deps.hilos.detener())
    const metricas = crearMetricas()
    const { databaseUrl, via } = plataforma
    await levantarWorkers(deps, { databaseUrl, via, vida, metricas }, deshacer)
    vida.fase = 'lista'
    const direccion = await servirMetricas(config, deshacer, { metricas, salud: deps.salud })
    consola(`El proceso de trabajos está listo${direccion ? `; métricas y salud en ${direccion}` : ''}`)
    const detener = unaVez(() => {
      vida.fase = 'deteniendo'
      return deshacer.todo()
    })
    return { detener }
  })
