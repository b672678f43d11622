import { EmbeddedPostgresError } from '../data/embedded/embedded.ts'
import { EngineError } from '../data/engine.ts'
import type { Config } from '../platform/config/config.ts'
import { explainDatabase } from '../platform/errors.ts'
import { FileStoreError } from '../platform/files/store.ts'
import { MasterKeysError } from './masterKeys.ts'
import { MigrationError } from './migrations.ts'
import { StartError } from './process.ts'

/** Errors whose message already addresses the operator. */
const CON_SU_MENSAJE = [EmbeddedPostgresError, MigrationError, EngineError, MasterKeysError, FileStoreError]

/**
 * Translates the error of a failed start into a {@link StartError}, whose message, in Spanish, addresses the operator.
 * Returns an unforeseen error as it is.
 */
export function explainStart(error: unknown, config: Config): unknown {
  const porque = motivo(error, config)
  return porque === undefined ? error : new StartError(porque, { cause: error })
}

function motivo(error: unknown, { port, metricsPort, host, baseDeDatos }: Config): string | undefined {
  const { code, message, port: suyo = port } = error as { code?: string; message?: string; port?: number }
  if (CON_SU_MENSAJE.some((clase) => error instanceof clase)) return String(message)
  if (code === 'EADDRINUSE') {
    const variable = suyo === metricsPort ? 'METRICS_PORT' : 'PORT'
    return `El puerto ${suyo} de ${host} ya está en uso. Detenga al otro programa o elija otro puerto, por ejemplo ${variable}=${suyo + 1}.`
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `No se puede escuchar en ${host}:${suyo} (${message}). Revise HOST y PORT.`
  return baseDeDatos.tipo === 'externa' ? explainDatabase(error) : undefined
}
