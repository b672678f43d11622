import { readBounces } from '../../correos/correo.ts'
import type { Handler } from '../../operation.ts'
import { readMembresias, requirePersona } from '../persona.ts'
import { presentPersona, readAccesses } from './listar.ts'

export const obtenerPersona: Handler<'obtenerPersona'> = async (
  { path, ...caller },
  { db, clock, bitacora, secretos },
) => {
  const row = await requirePersona(db, path.persona)
  const membresias = (await readMembresias(db, [row.id])).get(row.id) ?? []
  const access = (await readAccesses(db, [row.id], clock())).get(row.id)!
  const bounced = (await readBounces(db.query, secretos, [row.correo])).get(row.correo)
  await bitacora.recordRead(caller, { accion: 'obtenerPersona', sobre: ['persona', row.persona] })
  return { status: 200, body: presentPersona({ ...row, ...access, membresias, bounced }) }
}
