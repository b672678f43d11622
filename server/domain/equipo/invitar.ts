import type { Identities } from '../../api/http/identity.ts'
import { inTransaction, statement } from '../../data/db.ts'
import type { AprobacionDeInvitacion, Invitacion } from '../../generado/contrato/tipos/index.ts'
import { ALCANCES_DE_OPERACION } from '../../generado/contrato/vocabulario.ts'
import { Problema } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import { exigirComercio } from '../comercios/comercio.ts'
import type { Deps } from '../deps.ts'
import { exigirAlcancesPropios } from '../llaves/llave.ts'
import type { Handler } from '../operation.ts'
import { pedirAprobacion, REMEDIO_DE_ALCANCES } from './aprobable.ts'
import {
  enlaceDeInvitacion,
  escribirInvitacion,
  guardarInvitacion,
  nuevoCodigoDeInvitado,
  yaEsta,
} from './invitacion.ts'
import { alcancesDeEmpresa, EMPRESA, exigirAlcancesDe, exigirCorreo } from './persona.ts'

/** Tells who may invite a member again. */
const REMEDIO_DE_INVITAR = 'Que la invite otra vez quien los tenga todos.'

/** Body of a request that invites a person. */
type Invitar = Parameters<Handler<'invitarPersona'>>[0]['body']

/** Invitation and the link that its mail contains, or the approval that it first needs. */
type Invitado = { invitacion: Invitacion; enlace: string } | { aprobacion: AprobacionDeInvitacion }

/**
 * Invites a person by mail. An invitation to the courier company also has a code, which the mail does not have. A member
 * without a second factor is invited again, with its present scopes, to add one. If a person gives the scope
 * `administrar` and another person also has it, opens an approval instead.
 * @throws Problema 404, 409 or 422
 */
export async function invitar(
  deps: Pick<Deps, 'db' | 'ajustes' | 'bitacora' | 'avisarTrabajo' | 'reloj' | 'secretos' | 'nuevoId'>,
  quien: Quien & { identidad: Pick<Identities['llaveDeOperacion'], 'alcances' | 'persona'> },
  body: Invitar,
): Promise<Invitado> {
  const { db, bitacora, avisarTrabajo } = deps
  const correo = exigirCorreo(body.correo)
  const { nombre, comercio: deComercio } = body
  const alcances = [...body.alcances]
  const ambito = deComercio ?? EMPRESA
  exigirAlcancesDe(ambito, alcances)
  exigirAlcancesPropios(quien.identidad, alcancesDeEmpresa(alcances), REMEDIO_DE_ALCANCES)
  const comercio = deComercio === undefined ? undefined : await exigirComercio(db, deComercio)
  const esta = await yaEsta(db.consultar, { correo, ambito })
  if (esta && !esta.sinFactor)
    throw new Problema('persona_repetida', 'Esa persona ya está. Cambie los permisos de su membresía.')
  // A caller without these scopes could not give them, so it may not let the member in again.
  if (esta) exigirAlcancesPropios(quien.identidad, alcancesDeEmpresa(esta.alcances), REMEDIO_DE_INVITAR)
  const codigo = ambito === EMPRESA ? nuevoCodigoDeInvitado() : null
  const hecha = await inTransaction(db.central, async (consultar): Promise<Invitado> => {
    const accion = 'invitarPersona'
    if (!esta && alcances.includes('administrar')) {
      const contenido = {
        correo,
        nombre,
        persona: null,
        membresia: null,
        llave: null,
        alcances,
        ...(codigo && { codigo }),
      }
      const aprobacion = await pedirAprobacion(consultar, deps, quien, { accion, tipo: 'invitar_persona', contenido })
      if (aprobacion) return { aprobacion: { ...aprobacion, codigo: codigo! } }
    }
    const lugar = comercio?.nombre ?? null
    const invitada = { correo, nombre, ambito, alcances: esta?.alcances ?? alcances, lugar, codigo }
    const { linea, ...escrita } = await escribirInvitacion(consultar, deps, invitada)
    const de = comercio && { de: { comercio_id: comercio.id, modo: null } }
    await bitacora.anotar(consultar, quien, { accion, ...linea, ...de })
    return escrita
  })
  avisarTrabajo()
  return hecha
}

export const invitarPersona: Handler<'invitarPersona'> = async ({ body, ...quien }, deps) => {
  const hecha = await invitar(deps, quien, body)
  return 'aprobacion' in hecha ? { status: 202, body: hecha.aprobacion } : { status: 201, body: hecha.invitacion }
}

const HAY_PERSONAS = statement<object, { hay: boolean }>(
  'equipo.hayPersonas',
  'select exists (select from persona) as hay',
)

const QUITAR_PRIMERA = statement('equipo.quitarPrimera', 'delete from invitacion where correo is null')

/**
 * Invites the first person of the courier company; the person enters address and name on the page of the link. The link
 * of an earlier start becomes invalid.
 * @returns the link; undefined if there is a person already
 */
export async function invitarALaPrimera(deps: Pick<Deps, 'db' | 'reloj' | 'ajustes'>): Promise<string | undefined> {
  const [{ hay } = { hay: true }] = await deps.db.consultar(HAY_PERSONAS)
  if (hay) return undefined
  const token = await inTransaction(deps.db.central, async (consultar) => {
    await consultar(QUITAR_PRIMERA)
    const a = { correo: null, nombre: null, ambito: EMPRESA, alcances: [...ALCANCES_DE_OPERACION] }
    return (await guardarInvitacion(consultar, deps, a)).token
  })
  return enlaceDeInvitacion(deps.ajustes.urlDePersonas, token)
}
