import { limpiarWebhooks } from '../../server/domain/webhooks/sweeper.ts'
import { createLog } from '../../server/platform/log.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { type Entorno, MASTER_KEY } from '../entorno.ts'
import { ajustesCon } from '../fabricas.ts'

/** A round of housekeeping, now. */
export const limpiarAhora = ({ db, reloj }: Entorno, claves: readonly string[] = [MASTER_KEY]) =>
  limpiarWebhooks({
    db,
    log: createLog('silent'),
    reloj,
    secretos: createSecrets(claves.map((clave) => Buffer.from(clave, 'base64'))),
    ajustes: ajustesCon(),
  })
