import { inTransaction, statement } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { exigirPersona } from './persona.ts'

const CERRAR = statement<{ id: string }>('equipo.cerrarSesiones', 'delete from sesion_persona where persona_id = :id')

export const cerrarSesionesDePersona: Handler<'cerrarSesionesDePersona'> = async (
  { path, ...quien },
  { db, bitacora },
) => {
  const { id, persona } = await exigirPersona(db, path.persona)
  await inTransaction(db.central, async (consultar) => {
    await consultar(CERRAR, { id })
    const sobre = ['persona', persona] as const
    await bitacora.anotar(consultar, quien, { accion: 'cerrarSesionesDePersona', sobre, campos: ['sesion'] })
  })
  return { status: 204, body: undefined }
}
