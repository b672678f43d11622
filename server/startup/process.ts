import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Config, ConfigError, readConfig } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { ROOT } from '../platform/root.ts'

/** A process that has started. It runs until `detener`; a second call waits for the same stop. */
export interface Running {
  detener(): Promise<void>
  /** Handles SIGHUP. If undefined, SIGHUP stops the process. */
  renovar?(): Promise<void>
}

/** Error: a process could not start. The message, in Spanish, addresses the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

type Iniciar = (config: Config, log: Log, consola: (linea: string) => void) => Promise<Running>

/**
 * Runs a process from its configuration to its end: signals, exit codes and console output.
 * @param cargar loads the function that starts the process; `deVarios` is true for one of several API processes that a
 * primary process supervises
 */
export async function runProcess(cargar: (config: Config, deVarios: boolean) => Promise<Iniciar>): Promise<void> {
  // Node caches compiled code between starts. Modules that are imported after this call use the cache.
  enableCompileCache(fileURLToPath(new URL('node_modules/.cache/guias', ROOT)))
  try {
    const config = readConfig(process.env, process.cwd())
    const hijo = config.procesosDeApi === undefined ? undefined : await hijoDeVarios()
    const [iniciar, { createLog }] = await Promise.all([
      cargar(config, hijo !== undefined),
      import('../platform/log.ts'),
    ])
    const log = createLog(config.logLevel)
    let parando = false
    const escribir = hijo ? hijo.writeToParent : (linea: string) => void process.stdout.write(`${linea}\n`)
    const iniciado = iniciar(config, log, (linea) => void (parando || escribir(linea)))
    // A stop during the start waits until the start has finished, because a half-finished start cannot be undone
    // sooner.
    const parar = async () => {
      parando = true
      const servicio = await iniciado.catch(() => undefined)
      await servicio?.detener()
      process.exit(0)
    }
    process.on('SIGTERM', parar)
    if (hijo) hijo.onStop(parar)
    else alOirDeLaTerminal(parar, async () => (await iniciado).renovar)
    await iniciado
    await hijo?.announceReady()
  } catch (error) {
    if (!(error instanceof ConfigError || error instanceof StartError)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/**
 * Handles Ctrl-C (SIGINT), and SIGHUP from a closed terminal or a supervisor. npm passes signals on, so some arrive
 * twice; the second waits for the same stop.
 */
function alOirDeLaTerminal(parar: () => void, renovador: () => Promise<Running['renovar']>): void {
  process.on('SIGINT', parar)
  process.on('SIGHUP', async () => {
    const renovar = await renovador().catch(() => undefined)
    if (renovar) await renovar()
    else parar()
  })
  if (!process.env.npm_lifecycle_event) return
  // npm runs this process in a shell that dies of a SIGTERM without passing it on. A new parent process id means that
  // the shell is gone.
  const shell = process.ppid
  setInterval(() => process.ppid !== shell && parar(), 250).unref()
}

/** Loads the module that exchanges messages with the primary process; undefined if there is no primary process. */
async function hijoDeVarios() {
  const { default: cluster } = await import('node:cluster')
  return cluster.isWorker ? await import('./processes/child.ts') : undefined
}
