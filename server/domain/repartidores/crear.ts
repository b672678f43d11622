import { inTransaction } from '../../data/db.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'
import type { Handler } from '../operation.ts'
import { guardarRepartidor } from './repartidor.ts'

export const crearRepartidor: Handler<'crearRepartidor'> = async (
  { body, ...quien },
  { db, nuevoId, secretos, bitacora },
) => {
  const telefono = body.telefono === undefined ? undefined : readTelephone(body.telefono)
  if (telefono && 'error' in telefono) throw new Error('telefono was not validated')
  const de = { nombre: body.nombre, telefono: telefono?.e164 ?? null }
  const creado = await inTransaction(db, async (consultar) => {
    const repartidor = await guardarRepartidor({ db: { consultar }, nuevoId, secretos }, de)
    await bitacora.anotar(consultar, quien, {
      accion: 'crearRepartidor',
      sobre: ['repartidor', repartidor.repartidor],
      campos: Object.keys(body),
    })
    return repartidor
  })
  return { status: 201, body: creado }
}
