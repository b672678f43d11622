import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

// Cleanups of what the run started. They run in reverse order when the run ends, fails or is interrupted.
const pendientes: (() => Promise<unknown>)[] = []
let terminando = false

/**
 * Registers a cleanup.
 * @returns a function that runs the cleanup now; it runs only once
 */
export function alTerminar(deshacer: () => Promise<unknown>): () => Promise<void> {
  let hecho: Promise<unknown> | undefined
  const unaVez = async () => {
    const i = pendientes.indexOf(unaVez)
    if (i >= 0) pendientes.splice(i, 1)
    hecho ??= deshacer()
    await hecho
  }
  pendientes.push(unaVez)
  return unaVez
}

/** Runs all pending cleanups, the last registered first. Prints their errors and continues. */
export async function terminarTodo(): Promise<void> {
  terminando = true
  for (let ultimo = pendientes.at(-1); ultimo; ultimo = pendientes.at(-1)) {
    await ultimo().catch((error) => process.stderr.write(`${error}\n`))
  }
}

/** Child process of the run. */
export interface ProcesoHijo {
  hijo: ChildProcess
  pid: number
  terminar(): Promise<void>
}

/**
 * Starts a child process that {@link terminarTodo} stops: SIGTERM, and SIGKILL after 25 s. With `detached` the signals
 * go to its whole process group (npm and the processes that npm starts).
 * @throws if the run is being stopped
 */
export function lanzar(programa: string, args: readonly string[], opciones: SpawnOptions): ProcesoHijo {
  if (terminando) throw new Error('the run is being stopped')
  const hijo = spawn(programa, args, opciones)
  const fin = new Promise<void>((resolve) => hijo.once('error', () => resolve()).once('exit', () => resolve()))
  const pid = hijo.pid ?? 0
  const matar = (senal: NodeJS.Signals) => {
    try {
      process.kill(opciones.detached ? -pid : pid, senal)
    } catch {} // the process has already exited
  }
  const terminar = alTerminar(async () => {
    if (pid === 0 || hijo.exitCode !== null || hijo.signalCode !== null) return
    matar('SIGTERM')
    const plazo = setTimeout(() => matar('SIGKILL'), 25_000)
    await fin
    clearTimeout(plazo)
  })
  return { hijo, pid, terminar }
}
