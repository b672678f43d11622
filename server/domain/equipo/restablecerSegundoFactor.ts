import { inTransaction } from '../../data/db.ts'
import type { Handler } from '../operation.ts'
import { pedirAprobacion } from './aprobable.ts'
import { avisarSegundoFactor } from './avisar.ts'
import { EMPRESA, exigirPersona, leerMembresias } from './persona.ts'
import { restablecerFactores } from './restablecer.ts'

export const restablecerSegundoFactor: Handler<'restablecerSegundoFactor'> = async ({ path, ...quien }, deps) => {
  const { db, bitacora, avisarTrabajo } = deps
  const { id, persona, nombre, correo } = await exigirPersona(db, path.persona)
  const accion = 'restablecerSegundoFactor'
  const membresias = (await leerMembresias(db, [id])).get(id) ?? []
  const { alcances } = membresias.find(({ ambito }) => ambito === EMPRESA) ?? membresias[0] ?? {}
  const aprobacion = await inTransaction(db.central, async (consultar) => {
    // A person without membership cannot sign in, so nothing can be gained by resetting its factors.
    if (alcances) {
      const contenido = { correo, nombre, persona, membresia: null, llave: null, alcances }
      const tipo = 'restablecer_segundo_factor'
      const pedida = await pedirAprobacion(consultar, deps, quien, { accion, tipo, contenido })
      if (pedida) await avisarSegundoFactor(consultar, deps, { nombre, correo }, { que: 'por_restablecer', quedan: 0 })
      if (pedida) return pedida
    }
    await bitacora.anotar(consultar, quien, {
      accion,
      ...(await restablecerFactores(consultar, deps, { id, persona, nombre, correo })),
    })
    return undefined
  })
  avisarTrabajo()
  return aprobacion ? { status: 202, body: aprobacion } : { status: 204, body: undefined }
}
