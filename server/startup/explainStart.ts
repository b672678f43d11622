import { EngineError } from '../data/citus/distribute.ts'
import { EmbeddedPostgresError } from '../data/embedded/embedded.ts'
import type { Config } from '../platform/config/config.ts'
import { explainDatabase } from '../platform/errors.ts'
import { FileStoreError } from '../platform/files/store.ts'
import { MasterKeysError } from './masterKeys.ts'
import { MigrationError } from './migrations.ts'
import { StartError } from './process.ts'

/** Errors whose message already addresses the operator. */
const SELF_EXPLAINED_ERRORS = [EmbeddedPostgresError, MigrationError, EngineError, MasterKeysError, FileStoreError]

/**
 * Translates the error of a failed start into a {@link StartError}, whose message, in Spanish, addresses the operator.
 * Returns an unforeseen error as it is.
 */
export function explainStart(error: unknown, config: Config): unknown {
  const reason = motivo(error, config)
  return reason === undefined ? error : new StartError(reason, { cause: error })
}

function motivo(error: unknown, { port, metricsPort, host, database }: Config): string | undefined {
  const { code, message, port: failedPort = port } = error as { code?: string; message?: string; port?: number }
  if (SELF_EXPLAINED_ERRORS.some((errorClass) => error instanceof errorClass)) return String(message)
  if (code === 'EADDRINUSE') {
    const variable = failedPort === metricsPort ? 'METRICS_PORT' : 'PORT'
    return `El puerto ${failedPort} de ${host} ya está en uso. Detenga al otro programa o elija otro puerto, por ejemplo ${variable}=${failedPort + 1}.`
  }
  if (code === 'EACCES' || code === 'EADDRNOTAVAIL')
    return `No se puede escuchar en ${host}:${failedPort} (${message}). Revise HOST y PORT.`
  return database.tipo === 'externa' ? explainDatabase(error) : undefined
}
