import type { Config } from '../config/config.ts'
import type { Salud } from '../deps.ts'
import type { Log } from '../log.ts'
import { crearMetricas } from './metricas.ts'
import {
  type AjustesDePlataforma,
  crearDeshacer,
  explicarArranque,
  levantarPlataforma,
  levantarWorkers,
  responde,
  servirMetricas,
} from './plataforma.ts'
import type { EnMarcha } from './proceso.ts'

/** A process of workers alone: it feeds the queue, sends, recovers and cleans, and serves nothing but its own health. */
export async function iniciarWorker(
  config: Config,
  log: Log,
  consola: (linea: string) => void = () => {},
  ajustes: AjustesDePlataforma = {},
): Promise<EnMarcha> {
  const deshacer = crearDeshacer(log)
  let deteniendo = false
  try {
    const alPerder = (err: Error) => void (deteniendo || log.warn({ err }, 'idle connection lost'))
    const plataforma = await levantarPlataforma(config, log, deshacer, { exclusivo: false, alPerder })
    for (const nota of plataforma.notas) consola(nota)
    const metricas = crearMetricas()
    const workers = await levantarWorkers(config, plataforma, log, deshacer, {
      ...ajustes,
      alPerder,
      metricas,
    })
    const salud = async (): Promise<Salud> => {
      const base_de_datos = await responde(plataforma.db)
      const cola = base_de_datos && workers.late()
      return { ok: !deteniendo && cola, base_de_datos, cola, migraciones: true }
    }
    const direccion = await servirMetricas(config, deshacer, { metricas, salud })
    consola(`El proceso de trabajos está listo${direccion ? `; métricas y salud en ${direccion}` : ''}`)
    let detencion: Promise<void> | undefined
    return {
      detener() {
        deteniendo = true
        detencion ??= deshacer.todo()
        return detencion
      },
    }
  } catch (error) {
    await deshacer.todo()
    throw explicarArranque(error, config)
  }
}
