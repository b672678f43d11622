import { type Contract, loadContract, warmContract } from '../api/contract/load.ts'
import type { ResponseWitness } from '../api/http/problems.ts'
import { Presence } from '../api/limits/presence.ts'
import type { Deps } from '../domain/deps.ts'
import { openBrand } from '../platform/brand/open.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { createApp } from './app.ts'
import { buildDeps, type DepsOverrides } from './buildDeps.ts'
import { ensureDemo, removeDemo } from './demo.ts'
import { explainShutdown } from './explainShutdown.ts'
import { Lifetime } from './lifetime.ts'
import { publicUrlOf } from './listen.ts'
import { createMetrics } from './metrics.ts'
import { serveMetrics } from './metricsServer.ts'
import type { Running } from './process.ts'
import type { answerParent } from './processes/child.ts'
import { openResources } from './resources.ts'
import { ApiServer } from './server.ts'
import { openSignalSender, openWorkers } from './startWorkers.ts'
import { once, type Teardown, withTeardown } from './teardown.ts'

export interface Service extends Running {
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
export interface ServiceOverrides extends DepsOverrides {
  /** Source of random numbers from 0 to 1, `Math.random` by default. */
  azar?: () => number
  testigo?: ResponseWitness
  /** Time for which a stop still accepts connections, in milliseconds. */
  despedida?: number
}

type Consola = (linea: string) => void

/** Starts the API's process, from the socket to the workers. Each step may rely on the steps before it. */
export const startService = (
  config: Config,
  log: Log,
  consola: Consola = () => {},
  sustitutos: ServiceOverrides = {},
): Promise<Service> => withTeardown(config, log, (deshacer) => poner(config, log, consola, sustitutos, deshacer))

async function poner(
  config: Config,
  log: Log,
  consola: Consola,
  { testigo, azar, despedida = DESPEDIDA, ...sustitutos }: ServiceOverrides,
  deshacer: Teardown,
): Promise<Service> {
  const inicio = performance.now()
  // A fault in the brand's settings must stop the start before anything else changes.
  const imagenesDeMarca = await openBrand(config, log)
  const vida = new Lifetime(log, config.workers)
  const deVarios = config.procesosDeApi !== undefined
  const servidor = new ApiServer({ ...config, publicUrl: deVarios ? publicUrlOf(config) : config.publicUrl })
  deshacer.add(() => servidor.close())
  // If the port is taken, the start stops before anything else changes. One of several processes listens only once it
  // can serve.
  if (!deVarios) await servidor.listen(config.port, config.host)
  const { url } = servidor

  const levantada = openResources(config, log, deshacer, { exclusivo: !deVarios, alPerder: vida.onLoss })
  // The contract needs no database, so it loads while the database starts.
  const contrato = await leerContrato(levantada)
  const plataforma = await levantada
  vida.probe = plataforma.sonda
  for (const nota of plataforma.notas) consola(nota)

  const { databaseUrl, via } = plataforma
  const presencia = new Presence(databaseUrl, log)
  deshacer.add(() => presencia.close())
  // The count of API processes starts early, so that it is known before the first request. Nothing waits for it.
  void presencia.count()
  const procesos = () => presencia.processes
  const metricas = createMetrics()
  const alDesconocer = metricas.desconocidas
  const deps = buildDeps(config, {
    ...{ ...plataforma, procesos, ...sustitutos, log, vida, alDesconocer, imagenesDeMarca },
    urlPublica: url,
  })
  deshacer.add(() => deps.hilos.stop())
  deshacer.add(() => deps.refusals.close())
  deshacer.add(() => deps.usos.escribir())
  deshacer.add(() => deps.bitacora.escribir())
  if (config.workers) await openWorkers(deps, { databaseUrl, via, vida, metricas, ...(azar ? { azar } : {}) }, deshacer)
  else openSignalSender(deps, { via, vida }, deshacer)
  const deMetricas = await exponerMetricas(config, deshacer, { metricas, salud: deps.salud })
  const demo = await ponerDemo(deps, config, url)
  servidor.isBanned = (red) => deps.limites.isBanned(red)
  servidor.serve = createApp(contrato, deps, { buzon: config.buzon, ...(testigo ? { testigo } : {}) })
  if (deVarios) await servidor.listen(config.port, config.host)
  vida.phase = 'lista'
  consola(`Guías está listo en ${((performance.now() - inicio) / 1000).toFixed(2)} s`)
  presentar(consola, url, { buzon: config.buzon, deMetricas })
  const apagado = explainShutdown(config)
  if (apagado) consola(`  ${apagado}`)
  for (const linea of demo?.consola ?? []) consola(linea)
  void warmContract(contrato, (err) => log.error({ err }, 'operation failed to compile'))
  return { url, avisar: vida.notifyWork, detener: once(() => despedir(vida, servidor, despedida, deshacer)) }
}

/** Creates the demo merchant in the embedded default, unless other machines reach the service. */
async function ponerDemo(deps: Deps, { baseDeDatos, dataDir }: Config, url: string) {
  if (baseDeDatos.tipo !== 'embebida') return undefined
  if (deps.ajustes.demostracion) return ensureDemo(deps, dataDir, url)
  await removeDemo(deps, dataDir)
  return undefined
}

/**
 * Serves health and metrics on a port of their own. One of several API processes sends them to the primary process
 * instead.
 */
async function exponerMetricas(config: Config, deshacer: Teardown, expuesto: Parameters<typeof answerParent>[0]) {
  if (config.procesosDeApi === undefined) return serveMetrics(config, deshacer, expuesto)
  const { onEnd, answerParent } = await import('./processes/child.ts')
  answerParent(expuesto)
  deshacer.add(() => onEnd(expuesto.metricas))
  return undefined
}

/** Loads the contract. If that fails, waits until the platform has started, so that its resources can be closed. */
async function leerContrato(levantada: Promise<unknown>): Promise<Contract> {
  try {
    return loadContract()
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

async function despedir(vida: Lifetime, servidor: ApiServer, despedida: number, deshacer: Teardown): Promise<void> {
  vida.phase = 'deteniendo'
  // Webhook exchanges under way also take time: they end while the requests do.
  const parados = vida.workers?.stop()
  await servidor.drain(despedida)
  await parados
  await deshacer.run()
}
