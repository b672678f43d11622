import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as dormir } from 'node:timers/promises'
import { CLOCK_ENVIRONMENT } from '../clockEnvironment.ts'
import type { Paso } from './steps.ts'

// The service's processes, as a supervisor sees them.

export interface ProcessEnd {
  codigo: number | null
  senal: NodeJS.Signals | null
}

export interface ScenarioProcess {
  nombre: string
  pid: number
  /** Of an API. */
  url: string
  fin: Promise<ProcessEnd>
  /** Sends a signal; from then on its end is no fault. */
  matar(senal: NodeJS.Signals): void
}

interface Encargo {
  nombre: string
  /** Where it is installed. */
  folder: string
  /** What its Node is called with, seen from there. */
  args: readonly string[]
  env: Readonly<Record<string, string>>
  /** Answers with 200 once it is ready; without it, it is ready when it says so. */
  health?: string
  onComplaint: (queja: string) => void
  onNotice: (aviso: string) => void
}

const ARRANQUES = 10

/**
 * What ends by itself is a fault, and is started anew as a supervisor would: what it leaves behind must be right all the
 * same. A start that fails because the database isn't there is none, and repeated, too.
 */
export async function launchSupervised(pasos: Paso[], encargo: Encargo): Promise<ScenarioProcess> {
  const { nombre, onComplaint, onNotice } = encargo
  const { promise: fin, resolve: terminar } = Promise.withResolvers<ProcessEnd>()
  const { promise: arrancado, resolve, reject } = Promise.withResolvers<void>()
  let hijo: ChildProcess
  let isExpected = false
  let fallidos = 0
  const proceso: ScenarioProcess = {
    nombre,
    pid: 0,
    url: '',
    fin,
    matar(senal) {
      isExpected = true
      hijo.kill(senal)
    },
  }
  const arrancar = () => {
    hijo = engendrar(encargo)
    // Without a pid it could not be started at all, and wouldn't be the next time.
    if (hijo.pid === undefined) {
      hijo.once('error', (error) => {
        reject(error)
        terminar({ codigo: null, senal: null })
      })
      return
    }
    proceso.pid = hijo.pid
    let listo = false
    const errores: string[] = []
    createInterface(hijo.stderr!).on('line', (linea) => void (errores.length < 12 && errores.push(linea)))
    esperarListo(hijo, encargo).then((url) => {
      listo = true
      proceso.url = url
      resolve()
    })
    hijo.once('close', async (codigo, senal) => {
      const report = `${nombre} ${listo ? 'ended by itself' : 'did not start'}: ${senal ?? codigo}\n${errores.join('\n')}`
      if (!isExpected && listo) onComplaint(report)
      else if (!isExpected) onNotice(`start: ${errores[0] ?? senal ?? codigo}`)
      else if (errores.length > 0) onComplaint(report)
      if (!isExpected) await dormir(500)
      if (isExpected || (!listo && ++fallidos >= ARRANQUES)) {
        reject(new Error(report))
        terminar({ codigo, senal })
      } else arrancar()
    })
  }
  pasos.push(async () => {
    proceso.matar('SIGKILL')
    await fin
  })
  arrancar()
  await arrancado
  return proceso
}

function engendrar({ folder, args, env }: Encargo): ChildProcess {
  const bulto = join(folder, args.at(-1)!)
  if (!existsSync(bulto)) throw new Error(`${bulto} is missing: node scripts/prepare.mjs`)
  // A symbolic link to the binary and no script: its pid is the service's.
  return spawn(join(folder, 'node_modules/.bin/node'), args, {
    cwd: folder,
    // With npm's variable it watches its parent, and so doesn't outlive a run that is killed.
    env: { PATH: process.env.PATH, npm_lifecycle_event: 'resistencia', ...CLOCK_ENVIRONMENT, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}

/** Reads what it says until its end; resolves with its address, if it says one, when it is ready. */
async function esperarListo(
  hijo: ChildProcess,
  { nombre, health: healthUrl, onComplaint, onNotice }: Encargo,
): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  createInterface(hijo.stdout!).on('line', (linea) => {
    const direccion = /^ {2}API +(http:\S+)\/api\/v1$/.exec(linea)?.[1]
    if (direccion) resolve(direccion)
    else if (linea.startsWith('El proceso de trabajos está listo')) resolve('')
    else if (linea.startsWith('{')) {
      const { level, msg, err } = JSON.parse(linea)
      if (level >= 50) onComplaint(`${nombre}: ${linea.slice(0, 700)}`)
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
    if (hijo.exitCode !== null || hijo.signalCode !== null) return promise
    await dormir(100)
  }
  return ''
}
