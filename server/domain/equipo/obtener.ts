import type { Handler } from '../operation.ts'
import { presentPersona, readAccesses } from './listar.ts'
import { readMembresias, requirePersona } from './persona.ts'

export const obtenerPersona: Handler<'obtenerPersona'> = async ({ path, ...quien }, { db, clock, bitacora }) => {
  const fila = await requirePersona(db, path.persona)
  const membresias = (await readMembresias(db, [fila.id])).get(fila.id) ?? []
  const access = (await readAccesses(db, [fila.id], clock())).get(fila.id)!
  await bitacora.recordRead(quien, { accion: 'obtenerPersona', sobre: ['persona', fila.persona] })
  return { status: 200, body: presentPersona({ ...fila, ...access, membresias }) }
}
