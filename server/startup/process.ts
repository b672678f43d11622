import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Config, ConfigError, readConfig } from '../platform/config/config.ts'
import type { Log } from '../platform/log.ts'
import { ROOT } from '../platform/root.ts'

/** A process that has started. It runs until `stop`; a second call waits for the same stop. */
export interface Running {
  stop(): Promise<void>
  /** Handles SIGHUP. If undefined, SIGHUP stops the process. */
  renew?(): Promise<void>
}

/** Error: a process could not start. The message, in Spanish, addresses the operator. */
export class StartError extends Error {
  override readonly name = 'StartError'
}

type StartFunction = (config: Config, log: Log, console: (line: string) => void) => Promise<Running>

/**
 * Runs a process from its configuration to its end: signals, exit codes and console output.
 * @param load loads the function that starts the process; `isOneOfMany` is true for one of several API processes that a
 * primary process supervises
 */
export async function runProcess(
  load: (config: Config, isOneOfMany: boolean) => Promise<StartFunction>,
): Promise<void> {
  // Node caches compiled code between starts. Modules that are imported after this call use the cache.
  enableCompileCache(fileURLToPath(new URL('node_modules/.cache/guias', ROOT)))
  try {
    const config = readConfig(process.env, process.cwd())
    const child = config.apiProcesses === undefined ? undefined : await childOfMany()
    const [startFunction, { createLog }] = await Promise.all([
      load(config, child !== undefined),
      import('../platform/log.ts'),
    ])
    const log = createLog(config.logLevel)
    let isStopping = false
    const writeLine = child ? child.writeToParent : (line: string) => void process.stdout.write(`${line}\n`)
    const starting = startFunction(config, log, (line) => void (isStopping || writeLine(line)))
    // A stop during the start waits until the start has finished, because a half-finished start cannot be undone
    // sooner.
    const stopProcess = async () => {
      isStopping = true
      const service = await starting.catch(() => undefined)
      await service?.stop()
      process.exit(0)
    }
    process.on('SIGTERM', stopProcess)
    if (child) child.onStop(stopProcess)
    else onTerminalSignals(stopProcess, async () => (await starting).renew)
    await starting
    await child?.announceReady()
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
function onTerminalSignals(stopProcess: () => void, findRenewal: () => Promise<Running['renew']>): void {
  process.on('SIGINT', stopProcess)
  process.on('SIGHUP', async () => {
    const renew = await findRenewal().catch(() => undefined)
    if (renew) await renew()
    else stopProcess()
  })
  if (!process.env.npm_lifecycle_event) return
  // npm runs this process in a shell that dies of a SIGTERM without passing it on. A new parent process id means that
  // the shell is gone.
  const shell = process.ppid
  setInterval(() => process.ppid !== shell && stopProcess(), 250).unref()
}

/** Loads the module that exchanges messages with the primary process; undefined if there is no primary process. */
async function childOfMany() {
  const { default: cluster } = await import('node:cluster')
  return cluster.isWorker ? await import('./processes/child.ts') : undefined
}
