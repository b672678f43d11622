import { crearLog } from '../../server/log.ts'
import { crearSecretos } from '../../server/secretos.ts'
import { limpiarWebhooks } from '../../server/webhooks/limpiar.ts'
import { type Entorno, MASTER_KEY } from '../entorno.ts'

/** A round of housekeeping, now. */
export const limpiarAhora = ({ db, reloj }: Entorno) =>
  limpiarWebhooks({
    db,
    log: crearLog('silent'),
    reloj,
    secretos: crearSecretos([Buffer.from(MASTER_KEY, 'base64')]),
    retencionDeWebhooks: 90,
  })
