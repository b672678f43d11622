import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { presentRecovery, readRecovery } from './recuperacion.ts'

export const obtenerRecuperacion: Handler<'obtenerRecuperacion'> = async ({ path, identity }, { db }) => {
  const fila = await readRecovery(db, identity, path.webhook, path.recuperacion)
  if (!fila) {
    throw new Problema('recuperacion_desconocida', 'Ese webhook no tiene ninguna recuperación con ese identificador.')
  }
  return { status: 200, body: presentRecovery(fila) }
}
