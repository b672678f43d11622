import { inTransaction } from '../../data/db.ts'
import { buscarComercio } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { exigirAlcancesPropios } from '../llaves/llave.ts'
import type { Handler } from '../operation.ts'
import { pedirAprobacion, REMEDIO_DE_ALCANCES } from './aprobable.ts'
import { cambiarAlcances } from './membresia.ts'
import {
  alcancesDeEmpresa,
  comercioDe,
  exigirAlcancesDe,
  exigirMembresia,
  presentarMembresia,
  ultimaAdministradora,
} from './persona.ts'

export const cambiarMembresia: Handler<'cambiarMembresia'> = async ({ path, body, ...quien }, deps) => {
  const { db, bitacora, avisarTrabajo } = deps
  const antes = await exigirMembresia(db, path.membresia)
  const { id, ambito, persona, nombre, correo, membresia } = antes
  const alcances = [...body.alcances]
  exigirAlcancesDe(ambito, alcances)
  exigirAlcancesPropios(quien.identidad, alcancesDeEmpresa(alcances), REMEDIO_DE_ALCANCES)
  const de = await deBitacora(db, ambito)
  const accion = 'cambiarMembresia'
  const administra = antes.alcances.includes('administrar')
  const gana = !administra && alcances.includes('administrar')
  const pierde = administra && antes.alcances.some((uno) => !alcances.includes(uno))
  const aprobacion = await inTransaction(db.central, async (consultar) => {
    if (gana || pierde) {
      const contenido = { correo, nombre, persona, membresia, llave: null, alcances }
      const pedida = await pedirAprobacion(consultar, deps, quien, { accion, tipo: 'cambiar_membresia', contenido })
      if (pedida) return pedida
    }
    if (!(await cambiarAlcances(consultar, { id, alcances }))) throw ultimaAdministradora()
    await bitacora.anotar(consultar, quien, {
      accion,
      sobre: ['persona', persona],
      ...de,
      antes: { alcances: antes.alcances },
      despues: { alcances },
    })
    return undefined
  })
  if (!aprobacion) return { status: 200, body: presentarMembresia({ ...antes, alcances }) }
  avisarTrabajo()
  return { status: 202, body: aprobacion }
}

/** Returns the merchant in whose audit record a change of this membership appears; empty for the courier company. */
export async function deBitacora(db: Deps['db'], ambito: string) {
  const codigo = comercioDe(ambito)
  if (codigo === null) return {}
  const comercio = await buscarComercio(db, codigo)
  return comercio ? { de: { comercio_id: comercio.id, modo: null } } : {}
}
