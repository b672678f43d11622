import { type Contrato, calentarContrato, cargarContrato } from '../api/contract/load.ts'
import type { Testigo } from '../api/http/problems.ts'
import { Presencia } from '../api/limits/presence.ts'
import type { Deps } from '../domain/deps.ts'
import { abrirMarca } from '../platform/brand/open.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { crearApp } from './app.ts'
import { crearDeps, type Sustitutos } from './buildDeps.ts'
import { asegurarDemo, retirarDemo } from './demo.ts'
import { explicarApagado } from './explainShutdown.ts'
import { Vida } from './lifetime.ts'
import { urlDe } from './listen.ts'
import { crearMetricas } from './metrics.ts'
import { servirMetricas } from './metricsServer.ts'
import type { EnMarcha } from './process.ts'
import type { responder } from './processes/child.ts'
import { levantarPlataforma } from './resources.ts'
import { Servidor } from './server.ts'
import { levantarEmisor, levantarWorkers } from './startWorkers.ts'
import { type Deshacer, levantar, unaVez } from './teardown.ts'

export interface Servicio extends EnMarcha {
  /** Base of every link, without a final slash. */
  url: string
  /** Looks for pending work now. Needed when the clock was moved, because a clock sends no signal. */
  avisar(): void
}

/** Time for which a stopping process still accepts connections, in milliseconds. */
const DESPEDIDA = 2_500

/**
 * Replacements that only tests pass: clock, randomness, names, an observer of every response, and the time for which a
 * stop still accepts connections.
 */
export interface SustitutosDeServicio extends Sustitutos {
  /** Returns a number from 0 to 1. */
  azar?: () => number
  testigo?: Testigo
  /** Time for which a stop still accepts connections, in milliseconds. */
  despedida?: number
}

type Consola = (linea: string) => void

/** Starts the API's process, from the socket to the workers. Each step may rely on the steps before it. */
export const iniciarServicio = (
  config: Config,
  log: Log,
  consola: Consola = () => {},
  sustitutos: SustitutosDeServicio = {},
): Promise<Servicio> => levantar(config, log, (deshacer) => poner(config, log, consola, sustitutos, deshacer))

async function poner(
  config: Config,
  log: Log,
  consola: Consola,
  { testigo, azar, despedida = DESPEDIDA, ...sustitutos }: SustitutosDeServicio,
  deshacer: Deshacer,
): Promise<Servicio> {
  const inicio = performance.now()
  // A fault in the brand's settings must stop the start before anything else changes.
  const imagenesDeMarca = await abrirMarca(config, log)
  const vida = new Vida(log, config.workers)
  const deVarios = config.procesosDeApi !== undefined
  const servidor = new Servidor({ ...config, publicUrl: deVarios ? urlDe(config) : config.publicUrl })
  deshacer.al(() => servidor.cerrar())
  // If the port is taken, the start stops before anything else changes. One of several processes listens only once it
  // can serve.
  if (!deVarios) await servidor.escuchar(config.port, config.host)
  const { url } = servidor

  const levantada = levantarPlataforma(config, log, deshacer, { exclusivo: !deVarios, alPerder: vida.alPerder })
  // The contract needs no database, so it loads while the database starts.
  const contrato = await leerContrato(levantada)
  const plataforma = await levantada
  vida.sonda = plataforma.sonda
  for (const nota of plataforma.notas) consola(nota)

  const { databaseUrl, via } = plataforma
  const presencia = new Presencia(databaseUrl, log)
  deshacer.al(() => presencia.cerrar())
  // The count of API processes starts early, so that it is known before the first request. Nothing waits for it.
  void presencia.contar()
  const procesos = () => presencia.procesos
  const metricas = crearMetricas()
  const alDesconocer = metricas.desconocidas
  const deps = crearDeps(config, {
    ...{ ...plataforma, procesos, ...sustitutos, log, vida, alDesconocer, imagenesDeMarca },
    urlPublica: url,
  })
  deshacer.al(() => deps.hilos.detener())
  deshacer.al(() => deps.refusals.close())
  deshacer.al(() => deps.usos.escribir())
  deshacer.al(() => deps.bitacora.escribir())
  if (config.workers)
    await levantarWorkers(deps, { databaseUrl, via, vida, metricas, ...(azar ? { azar } : {}) }, deshacer)
  else levantarEmisor(deps, { via, vida }, deshacer)
  const deMetricas = await exponerMetricas(config, deshacer, { metricas, salud: deps.salud })
  const demo = await ponerDemo(deps, config, url)
  servidor.vetada = (red) => deps.limites.vetada(red)
  servidor.atender = crearApp(contrato, deps, { buzon: config.buzon, ...(testigo ? { testigo } : {}) })
  if (deVarios) await servidor.escuchar(config.port, config.host)
  vida.fase = 'lista'
  consola(`Guías está listo en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
  presentar(consola, url, { buzon: config.buzon, deMetricas })
  const apagado = explicarApagado(config)
  if (apagado) consola(`  ${apagado}`)
  for (const linea of demo?.consola ?? []) consola(linea)
  void calentarContrato(contrato, (err) => log.error({ err }, 'operation failed to compile'))
  return { url, avisar: vida.avisarTrabajo, detener: unaVez(() => despedir(vida, servidor, despedida, deshacer)) }
}

/** Creates the demo merchant in the embedded default, unless other machines reach the service. */
async function ponerDemo(deps: Deps, { baseDeDatos, dataDir }: Config, url: string) {
  if (baseDeDatos.tipo !== 'embebida') return undefined
  if (deps.ajustes.demostracion) return asegurarDemo(deps, dataDir, url)
  await retirarDemo(deps, dataDir)
  return undefined
}

/**
 * Serves health and metrics on a port of their own. One of several API processes sends them to the primary process
 * instead.
 */
async function exponerMetricas(config: Config, deshacer: Deshacer, expuesto: Parameters<typeof responder>[0]) {
  if (config.procesosDeApi === undefined) return servirMetricas(config, deshacer, expuesto)
  const { alFin, responder } = await import('./processes/child.ts')
  responder(expuesto)
  deshacer.al(() => alFin(expuesto.metricas))
  return undefined
}

/** Loads the contract. If that fails, waits until the platform has started, so that its resources can be closed. */
async function leerContrato(levantada: Promise<unknown>): Promise<Contrato> {
  try {
    return cargarContrato()
  } catch (error) {
    // The platform registers its last clean-up step only when it has started.
    await levantada.catch(() => {})
    throw error
  }
}

function presentar(
  consola: Consola,
  url: string,
  { buzon, deMetricas }: { buzon: boolean; deMetricas?: string | undefined },
) {
  consola(`  API            ${url}/api/v1`)
  consola(`  Documentación  ${url}/docs`)
  if (buzon) consola(`  Buzón          ${url}/buzon`)
  if (deMetricas) consola(`  Métricas       ${deMetricas}/metrics`)
}

async function despedir(vida: Vida, servidor: Servidor, despedida: number, deshacer: Deshacer): Promise<void> {
  vida.fase = 'deteniendo'
  // Webhook exchanges under way also take time: they end while the requests do.
  const parados = vida.workers?.detener()
  await servidor.drenar(despedida)
  await parados
  await deshacer.todo()
}
