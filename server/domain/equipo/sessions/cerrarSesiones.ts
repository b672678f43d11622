import { inTransaction, statement } from '../../../data/db.ts'
import type { Handler } from '../../operation.ts'
import { requirePersona } from '../persona.ts'

const CLOSE = statement<{ id: string }>(
  'equipo.closeSesiones',
  'central',
  'delete from sesion_persona where persona_id = :id',
)

export const cerrarSesionesDePersona: Handler<'cerrarSesionesDePersona'> = async (
  { path, ...caller },
  { db, bitacora },
) => {
  const { id, persona } = await requirePersona(db, path.persona)
  await inTransaction(db.central, async (query) => {
    await query(CLOSE, { id })
    const sobre = ['persona', persona] as const
    await bitacora.record(query, caller, { accion: 'cerrarSesionesDePersona', sobre, campos: ['sesion'] })
  })
  return { status: 204, body: undefined }
}
