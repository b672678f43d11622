import { enableCompileCache } from 'node:module'
import { fileURLToPath } from 'node:url'
import { ErrorConfig, leerConfig } from './config.ts'
import { RAIZ } from './raiz.ts'

// Compiled code is kept between starts; what follows is imported only now, so that the cache serves it.
enableCompileCache(fileURLToPath(new URL('node_modules/.cache/guias', RAIZ)))
const { iniciarServicio, ErrorDeArranque } = await import('./servicio.ts')
const { crearLog } = await import('./log.ts')

/** The API's process; in the embedded default also its workers. */
try {
  const config = leerConfig(process.env, process.cwd())
  const log = crearLog(config.logLevel)
  let parando = false
  const iniciado = iniciarServicio(config, log, (linea) => void (parando || process.stdout.write(`${linea}\n`)))
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
