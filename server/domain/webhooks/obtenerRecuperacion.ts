import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { presentRecovery, readRecovery } from './recovery.ts'

export const obtenerRecuperacion: Handler<'obtenerRecuperacion'> = async ({ path, identity }, { db }) => {
  const row = await readRecovery(db, identity, path.webhook, path.recuperacion)
  if (!row) {
    throw new Problema('recuperacion_desconocida', 'Ese webhook no tiene ninguna recuperación con ese identificador.')
  }
  return { status: 200, body: presentRecovery(row) }
}
