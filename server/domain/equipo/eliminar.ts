import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { pedirAprobacion } from './aprobable.ts'
import { borrarPersona } from './borrar.ts'
import { EMPRESA, exigirPersona, leerMembresias, ultimaAdministradora } from './persona.ts'

export const eliminarPersona: Handler<'eliminarPersona'> = async ({ path, ...quien }, deps) => {
  const { db, secretos, bitacora, avisarTrabajo } = deps
  const { id, persona, nombre, correo } = await exigirPersona(db, path.persona)
  const accion = 'eliminarPersona'
  const membresias = (await leerMembresias(db, [id])).get(id) ?? []
  const alcances = membresias.find(({ ambito }) => ambito === EMPRESA)?.alcances ?? []
  const aprobacion = await inTransaction(db.central, async (consultar) => {
    if (alcances.includes('administrar')) {
      const contenido = { correo, nombre, persona, membresia: null, llave: null, alcances }
      const pedida = await pedirAprobacion(consultar, deps, quien, { accion, tipo: 'eliminar_persona', contenido })
      if (pedida) return pedida
    }
    const lineas = await borrarPersona(consultar, secretos, { id, persona, correo })
    if (!lineas) throw ultimaAdministradora()
    await bitacora.anotarVarias(
      consultar,
      quien,
      lineas.map((linea) => ({ accion, ...linea })),
    )
    return undefined
  })
  if (!aprobacion) return { status: 204, body: undefined }
  avisarTrabajo()
  return { status: 202, body: aprobacion }
}
