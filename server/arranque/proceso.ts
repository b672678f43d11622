import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Config, ErrorConfig, leerConfig } from '../config/config.ts'
import { RAIZ } from '../contrato/raiz.ts'
import type { Log } from '../log.ts'

/** What a process is about: it runs until it is stopped, and stopping it again waits for the same stop. */
export interface EnMarcha {
  detener(): Promise<void>
}

/** Why a process could not start, in words for whoever started it. */
export class ErrorDeArranque extends Error {
  override readonly name = 'ErrorDeArranque'
}

type Iniciar = (config: Config, log: Log, consola: (linea: string) => void) => Promise<EnMarcha>

/** Runs a process from its configuration to its end: signals, exit codes, and what the console is told. */
export async function correr(cargar: () => Promise<Iniciar>): Promise<void> {
  // Compiled code is kept between starts; what is imported from here on is served from there.
  enableCompileCache(fileURLToPath(new URL('node_modules/.cache/guias', RAIZ)))
  const [iniciar, { crearLog }] = await Promise.all([cargar(), import('../log.ts')])
  try {
    const config = leerConfig(process.env, process.cwd())
    const log = crearLog(config.logLevel)
    let parando = false
    const iniciado = iniciar(config, log, (linea) => void (parando || process.stdout.write(`${linea}\n`)))
    // Asked to stop while it starts, it stops as soon as it has started: what is half made can't be undone any sooner.
    const parar = async () => {
      parando = true
      const servicio = await iniciado.catch(() => undefined)
      await servicio?.detener()
      process.exit(0)
    }
    // A terminal's Ctrl-C, its closing, a supervisor. npm passes signals on, so some come twice: it is the same stop.
    for (const senal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(senal, parar)
    if (process.env.npm_lifecycle_event) {
      // npm runs us in a shell that dies of a SIGTERM without passing it on: who is left without that shell stops.
      const shell = process.ppid
      setInterval(() => process.ppid !== shell && parar(), 250).unref()
    }
    await iniciado
  } catch (error) {
    if (!(error instanceof ErrorConfig || error instanceof ErrorDeArranque)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}
