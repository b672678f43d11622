import { crearLog } from '../../server/log.ts'
import { crearSecretos } from '../../server/secretos.ts'
import { limpiarWebhooks } from '../../server/webhooks/limpiar.ts'
import { type Entorno, MASTER_KEY } from '../entorno.ts'
import { ajustesCon } from '../fabricas.ts'

/** A round of housekeeping, now. */
export const limpiarAhora = ({ db, reloj }: Entorno, claves: readonly string[] = [MASTER_KEY]) =>
  limpiarWebhooks({
    db,
    log: crearLog('silent'),
    reloj,
    secretos: crearSecretos(claves.map((clave) => Buffer.from(clave, 'base64'))),
    ajustes: ajustesCon(),
  })
