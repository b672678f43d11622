import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'

// What a run starts it undoes, in reverse, whether it ends, fails or is told to stop.
const pendientes: (() => Promise<unknown>)[] = []
let terminando = false

/** Registers how to undo something; returns a function that undoes it now, once. */
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

export async function terminarTodo(): Promise<void> {
  terminando = true
  for (let ultimo = pendientes.at(-1); ultimo; ultimo = pendientes.at(-1)) {
    await ultimo().catch((error) => process.stderr.write(`${error}\n`))
  }
}

export interface Proceso {
  hijo: ChildProcess
  pid: number
  terminar(): Promise<void>
}

/** A child that doesn't outlive the run. `detached`: it is stopped with all its group (npm and what npm started). */
export function lanzar(programa: string, args: readonly string[], opciones: SpawnOptions): Proceso {
  if (terminando) throw new Error('the run is being stopped')
  const hijo = spawn(programa, args, opciones)
  const fin = new Promise<void>((resolve) => hijo.once('error', () => resolve()).once('exit', () => resolve()))
  const pid = hijo.pid ?? 0
  const matar = (senal: NodeJS.Signals) => {
    try {
      process.kill(opciones.detached ? -pid : pid, senal)
    } catch {} // gone already
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
