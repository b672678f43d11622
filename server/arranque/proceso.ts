import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { type Config, ErrorConfig, leerConfig } from '../config/config.ts'
import { RAIZ } from '../contrato/raiz.ts'
import type { Log } from '../log.ts'

/** What a process is about: it runs until it is stopped, and stopping it again waits for the same stop. */
export interface EnMarcha {
  detener(): Promise<void>
  /** What SIGHUP does; undefined: it stops. */
  renovar?(): Promise<void>
}

/** Why a process could not start, in words for whoever started it. */
export class ErrorDeArranque extends Error {
  override readonly name = 'ErrorDeArranque'
}

type Iniciar = (config: Config, log: Log, consola: (linea: string) => void) => Promise<EnMarcha>

/**
 * Runs a process from its configuration to its end: signals, exit codes, and what the console is told.
 * @param cargar what to start; whether the process is one of several of which another looks after
 */
export async function correr(cargar: (config: Config, deVarios: boolean) => Promise<Iniciar>): Promise<void> {
  // Compiled code is kept between starts; what is imported from here on is served from there.
  enableCompileCache(fileURLToPath(new URL('node_modules/.cache/guias', RAIZ)))
  try {
    const config = leerConfig(process.env, process.cwd())
    const hijo = config.procesosDeApi === undefined ? undefined : await hijoDeVarios()
    const [iniciar, { crearLog }] = await Promise.all([cargar(config, hijo !== undefined), import('../log.ts')])
    const log = crearLog(config.logLevel)
    let parando = false
    const escribir = hijo ? hijo.escribir : (linea: string) => void process.stdout.write(`${linea}\n`)
    const iniciado = iniciar(config, log, (linea) => void (parando || escribir(linea)))
    // Asked to stop while it starts, it stops as soon as it has started: what is half made can't be undone any sooner.
    const parar = async () => {
      parando = true
      const servicio = await iniciado.catch(() => undefined)
      await servicio?.detener()
      process.exit(0)
    }
    process.on('SIGTERM', parar)
    if (hijo) hijo.alParar(parar)
    else alOirDeLaTerminal(parar, async () => (await iniciado).renovar)
    await iniciado
    await hijo?.listo()
  } catch (error) {
    if (!(error instanceof ErrorConfig || error instanceof ErrorDeArranque)) throw error
    process.stderr.write(`${error.message}\n`)
    process.exit(1)
  }
}

/** A terminal's Ctrl-C, its closing, a supervisor. npm passes signals on, so some come twice: it is the same stop. */
function alOirDeLaTerminal(parar: () => void, renovador: () => Promise<EnMarcha['renovar']>): void {
  process.on('SIGINT', parar)
  process.on('SIGHUP', async () => {
    const renovar = await renovador().catch(() => undefined)
    if (renovar) await renovar()
    else parar()
  })
  if (!process.env.npm_lifecycle_event) return
  // npm runs us in a shell that dies of a SIGTERM without passing it on: who is left without that shell stops.
  const shell = process.ppid
  setInterval(() => process.ppid !== shell && parar(), 250).unref()
}

/** How this process and the one that looks after it speak; undefined: nobody does. */
async function hijoDeVarios() {
  const { default: cluster } = await import('node:cluster')
  return cluster.isWorker ? await import('./procesos/hijo.ts') : undefined
}
