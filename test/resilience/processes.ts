import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import type { Paso } from './steps.ts'

// The service's processes, as a supervisor sees them.

export interface ProcessEnd {
  codigo: number | null
  signal: NodeJS.Signals | null
}

export interface ScenarioProcess {
  nombre: string
  pid: number
  /** Of an API. */
  url: string
  fin: Promise<ProcessEnd>
  /** Sends a signal; from then on its end is no fault. */
  kill(signal: NodeJS.Signals): void
}

interface LaunchOptions {
  nombre: string
  /** Where it is installed. */
  folder: string
  /** What its Node is called with, seen from there. */
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** Answers with 200 once it is ready; without it, it is ready when it says so. */
  health?: string
  onComplaint: (complaint: string) => void
  onNotice: (aviso: string) => void
}

const MAX_STARTS = 10

/**
 * What ends by itself is a fault, and is started anew as a supervisor would: what it leaves behind must be right all the
 * same. A start that fails because the database isn't there is none, and repeated, too.
 */
export async function launchSupervised(steps: Paso[], launchOptions: LaunchOptions): Promise<ScenarioProcess> {
  const { nombre, onComplaint, onNotice } = launchOptions
  const { promise: fin, resolve: resolveEnd } = Promise.withResolvers<ProcessEnd>()
  const { promise: started, resolve, reject } = Promise.withResolvers<void>()
  let childProcess: ChildProcess
  let isExpected = false
  let failedStarts = 0
  const scenarioProcess: ScenarioProcess = {
    nombre,
    pid: 0,
    url: '',
    fin,
    kill(signal) {
      isExpected = true
      childProcess.kill(signal)
    },
  }
  const start = () => {
    childProcess = spawnBundle(launchOptions)
    // Without a pid it could not be started at all, and wouldn't be the next time.
    if (childProcess.pid === undefined) {
      childProcess.once('error', (error) => {
        reject(error)
        resolveEnd({ codigo: null, signal: null })
      })
      return
    }
    scenarioProcess.pid = childProcess.pid
    let listo = false
    const errores: string[] = []
    createInterface(childProcess.stderr!).on('line', (line) => void (errores.length < 12 && errores.push(line)))
    esperarListo(childProcess, launchOptions).then((url) => {
      listo = true
      scenarioProcess.url = url
      resolve()
    })
    childProcess.once('close', async (codigo, signal) => {
      const report = `${nombre} ${listo ? 'ended by itself' : 'did not start'}: ${signal ?? codigo}\n${errores.join('\n')}`
      if (!isExpected && listo) onComplaint(report)
      else if (!isExpected) onNotice(`start: ${errores[0] ?? signal ?? codigo}`)
      else if (errores.length > 0) onComplaint(report)
      if (!isExpected) await sleep(500)
      if (isExpected || (!listo && ++failedStarts >= MAX_STARTS)) {
        reject(new Error(report))
        resolveEnd({ codigo, signal })
      } else start()
    })
  }
  steps.push(async () => {
    scenarioProcess.kill('SIGKILL')
    await fin
  })
  start()
  await started
  return scenarioProcess
}

function spawnBundle({ folder, args, env }: LaunchOptions): ChildProcess {
  const bundlePath = join(folder, args.at(-1)!)
  if (!existsSync(bundlePath)) throw new Error(`${bundlePath} is missing: node scripts/prepare.mjs`)
  // A symbolic link to the binary and no script: its pid is the service's.
  return spawn(join(folder, 'node_modules/.bin/node'), args, {
    cwd: folder,
    // With npm's variable it watches its parent, and so doesn't outlive a run that is killed.
    env: { PATH: process.env.PATH, npm_lifecycle_event: 'resistencia', ...CHILD_ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Reads what it says until its end; resolves with its address, if it says one, when it is ready. */
async function esperarListo(
  childProcess: ChildProcess,
  { nombre, health: healthUrl, onComplaint, onNotice }: LaunchOptions,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  createInterface(childProcess.stdout!).on('line', (line) => {
    const direccion = /^ {2}API +(http:\S+)\/api\/v1$/.exec(line)?.[1]
    if (direccion) resolve(direccion)
    else if (line.startsWith('El proceso de trabajos está listo')) resolve('')
    else if (line.startsWith('{')) {
      const { level, msg, err } = JSON.parse(line)
      if (level >= 50) onComplaint(`${nombre}: ${line.slice(0, 700)}`)
      else if (level === 40) onNotice(`${msg}: ${err?.codigo ?? err?.mensaje ?? ''}`.slice(0, 100))
    }
  })
  if (healthUrl === undefined) return promise
  while (
    !(await fetch(healthUrl).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (childProcess.exitCode !== null || childProcess.signalCode !== null) return promise
    await sleep(100)
  }
  return ''
}
