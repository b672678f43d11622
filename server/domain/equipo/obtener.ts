import type { Handler } from '../operation.ts'
import { leerAccesos, presentarPersona } from './listar.ts'
import { exigirPersona, leerMembresias } from './persona.ts'

export const obtenerPersona: Handler<'obtenerPersona'> = async ({ path, ...quien }, { db, reloj, bitacora }) => {
  const fila = await exigirPersona(db, path.persona)
  const membresias = (await leerMembresias(db, [fila.id])).get(fila.id) ?? []
  const acceso = (await leerAccesos(db, [fila.id], reloj())).get(fila.id)!
  await bitacora.consultada(quien, { accion: 'obtenerPersona', sobre: ['persona', fila.persona] })
  return { status: 200, body: presentarPersona({ ...fila, ...acceso, membresias }) }
}
