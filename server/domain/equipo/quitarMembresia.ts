import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { pedirAprobacion } from './aprobable.ts'
import { deBitacora } from './cambiarMembresia.ts'
import { quitarLaMembresia } from './membresia.ts'
import { exigirMembresia, ultimaAdministradora } from './persona.ts'

export const quitarMembresia: Handler<'quitarMembresia'> = async ({ path, ...quien }, deps) => {
  const { db, bitacora, avisarTrabajo } = deps
  const { id, ambito, persona, nombre, correo, membresia, alcances } = await exigirMembresia(db, path.membresia)
  const de = await deBitacora(db, ambito)
  const accion = 'quitarMembresia'
  const aprobacion = await inTransaction(db.central, async (consultar) => {
    if (alcances.includes('administrar')) {
      const contenido = { correo, nombre, persona, membresia, llave: null, alcances }
      const pedida = await pedirAprobacion(consultar, deps, quien, { accion, tipo: 'quitar_membresia', contenido })
      if (pedida) return pedida
    }
    if (!(await quitarLaMembresia(consultar, { id }))) throw ultimaAdministradora()
    const sobre = ['persona', persona] as const
    await bitacora.anotar(consultar, quien, { accion, sobre, ...de, antes: { alcances }, despues: {} })
    return undefined
  })
  if (!aprobacion) return { status: 204, body: undefined }
  avisarTrabajo()
  return { status: 202, body: aprobacion }
}
