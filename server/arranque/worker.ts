import type { Config } from '../config/config.ts'
import type { Log } from '../log.ts'
import { abrirMarca } from '../marca/abrir.ts'
import { crearDeps } from './crearDeps.ts'
import { levantar, unaVez } from './deshacer.ts'
import { urlDe } from './escuchar.ts'
import { levantarWorkers } from './levantarWorkers.ts'
import { crearMetricas } from './metricas.ts'
import { levantarPlataforma } from './plataforma.ts'
import type { EnMarcha } from './proceso.ts'
import { servirMetricas } from './servirMetricas.ts'
import { Vida } from './vida.ts'

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
