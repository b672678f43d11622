import { Problema } from '../../platform/errors.ts'
import type { Handler } from '../operation.ts'
import { leerRecuperacion, presentarRecuperacion } from './recuperacion.ts'

export const obtenerRecuperacion: Handler<'obtenerRecuperacion'> = async ({ path, identidad }, { db }) => {
  const fila = await leerRecuperacion(db, identidad, path.webhook, path.recuperacion)
  if (!fila) {
    throw new Problema('recuperacion_desconocida', 'Ese webhook no tiene ninguna recuperación con ese identificador.')
  }
  return { status: 200, body: presentarRecuperacion(fila) }
}
