import { type Contract, loadContract, warmContract } from '../api/contract/load.ts'
import type { ResponseWitness } from '../api/http/problems.ts'
import { Presence } from '../api/limits/presence.ts'
import type { Deps } from '../domain/deps.ts'
import { invitarALaPrimera } from '../domain/equipo/invitar.ts'
import { repetirAntesDeServir } from '../domain/personas/olvidos.ts'
import { openBrand } from '../platform/brand/open.ts'
import type { Config } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { createApp } from './app.ts'
import { buildDeps, type DepsOverrides } from './buildDeps.ts'
import { ensureDemo } from './demo.ts'
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
import { openTracing } from './tracing.ts'

export interface Service extends Running {
  /** Base of every link, without a final slash. */
  url: string
  /** Looks for pending work at once. Needed after the clock was moved, which sends no signal. */
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
  await openTracing(config, deshacer)
  const vida = new Lifetime(log, config.workers)
  const deVarios = config.procesosDeApi !== undefined
  const servidor = new ApiServer({ ...config, publicUrl: deVarios ? publicUrlOf(config) : config.publicUrl })
  deshacer.add(() => servidor.close())
  // If the port is taken, the start stops before anything else changes. A process of several on one port listens only
  // once it can serve.
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
  const metricas = createMetrics(config.trazas !== undefined)
  servidor.onSaturated = () => metricas.saturada()
  const deps = buildDeps(config, {
    ...plataforma,
    procesos,
    ...sustitutos,
    log,
    vida,
    metricas,
    imagenesDeMarca,
    urlPublica: url,
  })
  metricas.observarConexiones('servicio', plataforma.db.pool)
  metricas.observarConexiones('creaciones', plataforma.dbImpaciente.pool)
  deshacer.add(() => deps.hilos.stop())
  deshacer.add(() => deps.refusals.close())
  deshacer.add(() => deps.usos.escribir())
  deshacer.add(() => deps.bitacora.escribir())
  await repetirAntesDeServir(deps, plataforma.almacenDisponible)
  const { correo } = config
  if (config.workers)
    await openWorkers(deps, { databaseUrl, via, vida, metricas, correo, ...(azar ? { azar } : {}) }, deshacer)
  else openSignalSender(deps, { via, vida }, deshacer)
  const deMetricas = await exponerMetricas(config, deshacer, { metricas, salud: deps.salud })
  const demo = await ponerDemo(deps, config, url)
  const primera = config.baseDeDatos.tipo === 'embebida' ? await invitarALaPrimera(deps) : undefined
  servidor.isBanned = (red) => deps.limites.isBanned(red)
  servidor.serve = createApp(contrato, deps, { buzon: config.buzon, ...(testigo ? { testigo } : {}) })
  if (deVarios) await servidor.listen(config.port, config.host)
  vida.phase = 'lista'
  const apagado = explainShutdown(config)
  const lineas = [
    `Guías está listo en ${((performance.now() - inicio) / 1000).toFixed(2)} s`,
    ...presentar(url, { buzon: config.buzon, deMetricas }),
    ...(primera ? [`  Primera cuenta ${primera} (vale una vez, 24 horas)`] : []),
    ...(apagado ? [`  ${apagado}`] : []),
    ...(demo?.consola ?? []),
  ]
  // All lines are written at once, so that a program that waits for the first line also gets the others.
  consola(lineas.join('\n'))
  void warmContract(contrato, (err) => log.error({ err }, 'operation failed to compile'))
  return { url, avisar: vida.notifyWork, detener: once(() => despedir(vida, servidor, despedida, deshacer)) }
}

/** Creates the demo merchant in an embedded database, unless demonstration credentials are not valid. */
async function ponerDemo(deps: Deps, { baseDeDatos, dataDir }: Config, url: string) {
  return baseDeDatos.tipo === 'embebida' && deps.ajustes.demostracion ? ensureDemo(deps, dataDir, url) : undefined
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
    // The platform adds its last clean-up step only at the end of its start.
    await levantada.catch(() => {})
    throw error
  }
}

const presentar = (url: string, { buzon, deMetricas }: { buzon: boolean; deMetricas?: string | undefined }) => [
  `  API            ${url}/api/v1`,
  `  Documentación  ${url}/docs`,
  ...(buzon ? [`  Buzón          ${url}/buzon`] : []),
  ...(deMetricas ? [`  Métricas       ${deMetricas}/metrics`] : []),
]

async function despedir(vida: Lifetime, servidor: ApiServer, despedida: number, deshacer: Teardown): Promise<void> {
  vida.phase = 'deteniendo'
  // The workers stop at the same time as the server, because webhook exchanges in progress also take time to end.
  const parados = vida.workers?.stop()
  await servidor.drain(despedida)
  await parados
  await deshacer.run()
}
