import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

// Cleanups of what the run started. They run in reverse order when the run ends, fails or is interrupted.
const pending: (() => Promise<unknown>)[] = []
let isStopping = false

/**
 * Registers a cleanup.
 * @returns a function that runs the cleanup now; it runs only once
 */
export function registerCleanup(cleanUp: () => Promise<unknown>): () => Promise<void> {
  let cleanupResult: Promise<unknown> | undefined
  const runOnce = async () => {
    const i = pending.indexOf(runOnce)
    if (i >= 0) pending.splice(i, 1)
    cleanupResult ??= cleanUp()
    await cleanupResult
  }
  pending.push(runOnce)
  return runOnce
}

/** Runs all pending cleanups, the last registered first. Prints their errors and continues. */
export async function cleanUpAll(): Promise<void> {
  isStopping = true
  for (let last = pending.at(-1); last; last = pending.at(-1)) {
    await last().catch((error) => process.stderr.write(`${error}\n`))
  }
}

/** Child process of the run. */
export interface ChildHandle {
  child: ChildProcess
  pid: number
  finish(): Promise<void>
}

/**
 * Starts a child process that {@link cleanUpAll} stops: SIGTERM, and SIGKILL after 25 s. With `detached` the signals
 * go to its whole process group (npm and the processes that npm starts).
 * @throws if the run is being stopped
 */
export function launch(command: string, args: readonly string[], options: SpawnOptions): ChildHandle {
  if (isStopping) throw new Error('the run is being stopped')
  const child = spawn(command, args, options)
  const exited = new Promise<void>((resolve) => child.once('error', () => resolve()).once('exit', () => resolve()))
  const pid = child.pid ?? 0
  const kill = (signal: NodeJS.Signals) => {
    try {
      process.kill(options.detached ? -pid : pid, signal)
    } catch {} // the process has already exited
  }
  const finish = registerCleanup(async () => {
    if (pid === 0 || child.exitCode !== null || child.signalCode !== null) return
    kill('SIGTERM')
    const killTimer = setTimeout(() => kill('SIGKILL'), 25_000)
    await exited
    clearTimeout(killTimer)
  })
  return { child, pid, finish }
}
