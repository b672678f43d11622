import { type Contract, loadContract } from '../api/contract/load.ts'
import type { ResponseWitness } from '../api/http/problems.ts'
import { Presence } from '../api/limits/presence.ts'
import type { Deps } from '../domain/deps.ts'
import { inviteFirstPersona } from '../domain/equipo/members/invitar.ts'
import { repeatBeforeServing } from '../domain/personas/erasures.ts'
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
  notify(): void
}

/** Time for which a stopping process still accepts connections, in milliseconds. */
const FAREWELL_MS = 2_500

/**
 * Replacements that only tests pass: clock, randomness, names, an observer of every response, and the time for which a
 * stop still accepts connections.
 */
export interface ServiceOverrides extends DepsOverrides {
  /** Source of random numbers from 0 to 1, `Math.random` by default. */
  random?: () => number
  witness?: ResponseWitness
  /** Time for which a stop still accepts connections, in milliseconds. */
  farewellMs?: number
}

type WriteLine = (line: string) => void

/** Starts the API's process, from the socket to the workers. Each step may rely on the steps before it. */
export const startService = (
  config: Config,
  log: Log,
  console: WriteLine = () => {},
  overrides: ServiceOverrides = {},
): Promise<Service> => withTeardown(config, log, (teardown) => runService(config, log, console, overrides, teardown))

async function runService(
  config: Config,
  log: Log,
  console: WriteLine,
  { witness, random, farewellMs = FAREWELL_MS, ...overrides }: ServiceOverrides,
  teardown: Teardown,
): Promise<Service> {
  const startedAt = performance.now()
  // A fault in the brand's settings must stop the start before anything else changes.
  const brandImages = await openBrand(config, log)
  await openTracing(config, teardown)
  const lifetime = new Lifetime(log, config.workers)
  const isOneOfMany = config.apiProcesses !== undefined
  const server = new ApiServer({ ...config, publicUrl: isOneOfMany ? publicUrlOf(config) : config.publicUrl })
  teardown.add(() => server.close())
  // If the port is taken, the start stops before anything else changes. A process of several on one port listens only
  // once it can serve.
  if (!isOneOfMany) await server.listen(config.port, config.host)
  const { url } = server

  const opening = openResources(config, log, teardown, { exclusive: !isOneOfMany, onLoss: lifetime.onLoss })
  // The contract needs no database, so it loads while the database starts.
  const contract = await loadWarmContract(opening)
  const resources = await opening
  lifetime.probe = resources.probe
  for (const nota of resources.notas) console(nota)

  const { databaseUrl, via } = resources
  const presence = new Presence(databaseUrl, log)
  teardown.add(() => presence.close())
  // The count of API processes starts early, so that it is known before the first request. Nothing waits for it.
  void presence.count()
  const processes = () => presence.processes
  const metrics = createMetrics(config.traces !== undefined)
  server.onSaturated = () => metrics.countSaturated()
  const deps = buildDeps(config, {
    ...resources,
    processes,
    ...overrides,
    log,
    lifetime,
    metrics,
    brandImages,
    publicUrl: url,
  })
  metrics.observeConnections('servicio', resources.db.pool)
  metrics.observeConnections('creaciones', resources.impatientDb.pool)
  teardown.add(() => deps.threads.stop())
  teardown.add(() => deps.refusals.close())
  teardown.add(() => deps.usages.write())
  teardown.add(() => deps.bitacora.write())
  await repeatBeforeServing(deps, resources.isStoreAvailable)
  const { correo } = config
  if (config.workers)
    await openWorkers(deps, { databaseUrl, via, lifetime, metrics, correo, ...(random ? { random } : {}) }, teardown)
  else openSignalSender(deps, { via, lifetime }, teardown)
  const metricsUrl = await exposeMetrics(config, teardown, { metrics, health: deps.health })
  const demo = await setUpDemo(deps, config, url)
  const firstInvitacion = config.database.tipo === 'embebida' ? await inviteFirstPersona(deps) : undefined
  server.isBanned = (network) => deps.limits.isBanned(network)
  server.serve = createApp(contract, deps, { buzon: config.buzon, ...(witness ? { witness } : {}) })
  if (isOneOfMany) await server.listen(config.port, config.host)
  lifetime.phase = 'lista'
  const shutdownNotes = explainShutdown(config)
  const lines = [
    `Guías está listo en ${((performance.now() - startedAt) / 1000).toFixed(2)} s`,
    ...presentService(url, { buzon: config.buzon, metricsUrl }),
    ...(firstInvitacion ? [`  Primera cuenta ${firstInvitacion} (vale una vez, 24 horas)`] : []),
    ...(shutdownNotes ? [`  ${shutdownNotes}`] : []),
    ...(demo?.console ?? []),
  ]
  // All lines are written at once, so that a program that waits for the first line also gets the others.
  console(lines.join('\n'))
  void contract.validacion.load().catch((err) => log.error({ err }, 'validation failed to load'))
  return { url, notify: lifetime.notifyJobs, stop: once(() => shutDown(lifetime, server, farewellMs, teardown)) }
}

/** Creates the demo merchant in an embedded database, unless demonstration credentials are not valid. */
async function setUpDemo(deps: Deps, { database, dataDir }: Config, url: string) {
  return database.tipo === 'embebida' && deps.settings.demostracion ? ensureDemo(deps, dataDir, url) : undefined
}

/**
 * Serves health and metrics on a port of their own. One of several API processes sends them to the primary process
 * instead.
 */
async function exposeMetrics(config: Config, teardown: Teardown, exposed: Parameters<typeof answerParent>[0]) {
  if (config.apiProcesses === undefined) return serveMetrics(config, teardown, exposed)
  const { onEnd, answerParent } = await import('./processes/child.ts')
  answerParent(exposed)
  teardown.add(() => onEnd(exposed.metrics))
  return undefined
}

/** Loads the contract. If that fails, waits until the platform has started, so that its resources can be closed. */
async function loadWarmContract(opening: Promise<unknown>): Promise<Contract> {
  try {
    return loadContract()
  } catch (error) {
    // The platform adds its last clean-up step only at the end of its start.
    await opening.catch(() => {})
    throw error
  }
}

const presentService = (url: string, { buzon, metricsUrl }: { buzon: boolean; metricsUrl?: string | undefined }) => [
  `  API            ${url}/api/v1`,
  `  Documentación  ${url}/docs`,
  ...(buzon ? [`  Buzón          ${url}/buzon`] : []),
  ...(metricsUrl ? [`  Métricas       ${metricsUrl}/metrics`] : []),
]

async function shutDown(lifetime: Lifetime, server: ApiServer, farewellMs: number, teardown: Teardown): Promise<void> {
  lifetime.phase = 'deteniendo'
  // The workers stop at the same time as the server, because webhook exchanges in progress also take time to end.
  const workersStopped = lifetime.workers?.stop()
  await server.drain(farewellMs)
  await workersStopped
  await teardown.run()
}
