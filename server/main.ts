import { enableCompileCache } from 'node:module'
import { join } from 'node:path'
import { ErrorConfig, leerConfig } from './config.ts'

// Compiled code is kept between starts; what follows is imported only now, so that the cache serves it.
enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/guias'))
const { iniciarServicio, ErrorDeArranque } = await import('./servicio.ts')
const { crearLog } = await import('./log.ts')

/** The API's process; in the embedded default also its workers. */
try {
  const config = leerConfig(process.env, process.cwd())
  const log = crearLog(config.logLevel)
  const servicio = await iniciarServicio(config, log, (linea) => process.stdout.write(`${linea}\n`))
  for (const senal of ['SIGINT', 'SIGTERM'] as const) {
    // npm passes a terminal's Ctrl-C on, so it comes twice: stopping again is the same stop.
    process.on(senal, () => {
      servicio.detener().then(
        () => process.exit(0),
        (err) => {
          log.fatal({ err }, 'stop failed')
          process.exit(1)
        },
      )
    })
  }
} catch (error) {
  if (!(error instanceof ErrorConfig || error instanceof ErrorDeArranque)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
}
