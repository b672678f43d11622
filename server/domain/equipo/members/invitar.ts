import type { Identities } from '../../../api/http/identity.ts'
import { inTransaction, statement } from '../../../data/db.ts'
import type { AprobacionDeInvitacion, Invitacion } from '../../../generated/contract/types/index.ts'
import { ALCANCES_DE_OPERACION } from '../../../generated/contract/vocabulary.ts'
import { Problema } from '../../../platform/errors.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import { requireComercio } from '../../comercios/comercio.ts'
import { requireCorreo } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import { requireOwnAlcances } from '../../identities/llave.ts'
import type { Handler } from '../../operation.ts'
import { COMPANY, companyAlcances, requireAlcancesOf } from '../persona.ts'
import { ALCANCES_REMEDY, requestAprobacion } from './approvable.ts'
import { findMember, invitacionLink, newInvitacionCode, saveInvitacion, writeInvitacion } from './invitacion.ts'

/** Tells who may invite a member again. */
const INVITE_REMEDY = 'Que la invite otra vez quien los tenga todos.'

/** Body of a request that invites a person. */
type InviteBody = Parameters<Handler<'invitarPersona'>>[0]['body']

/** Invitation and the link that its mail contains, or the approval that it first needs. */
type InviteResult = { invitacion: Invitacion; enlace: string } | { aprobacion: AprobacionDeInvitacion }

/**
 * Invites a person by mail. An invitation to the courier company also has a code, which the mail does not have. A member
 * without a second factor is invited again, with its present scopes, to add one. If a person gives the scope
 * `administrar` and another person also has it, opens an approval instead.
 * @throws Problema 404, 409 or 422
 */
export async function invitePersona(
  deps: Pick<Deps, 'db' | 'settings' | 'bitacora' | 'notifyJobs' | 'clock' | 'secretos' | 'newId'>,
  actor: Actor & { identity: Pick<Identities['llaveDeOperacion'], 'alcances' | 'persona'> },
  body: InviteBody,
): Promise<InviteResult> {
  const { db, bitacora, notifyJobs } = deps
  const correo = requireCorreo(body.correo)
  const { nombre, comercio: comercioCode } = body
  const alcances = [...body.alcances]
  const ambito = comercioCode ?? COMPANY
  requireAlcancesOf(ambito, alcances)
  requireOwnAlcances(actor.identity, companyAlcances(alcances), ALCANCES_REMEDY)
  const comercio = comercioCode === undefined ? undefined : await requireComercio(db, comercioCode)
  const existingMember = await findMember(db.query, { correo, ambito })
  if (existingMember && !existingMember.lacksFactor)
    throw new Problema('persona_repetida', 'Esa persona ya está. Cambie los permisos de su membresía.')
  // A caller without these scopes could not give them, so it may not let the member in again.
  if (existingMember) requireOwnAlcances(actor.identity, companyAlcances(existingMember.alcances), INVITE_REMEDY)
  const codigo = ambito === COMPANY ? newInvitacionCode() : null
  const inviteResult = await inTransaction(db.central, async (query): Promise<InviteResult> => {
    const accion = 'invitarPersona'
    if (!existingMember && alcances.includes('administrar')) {
      const contenido = {
        correo,
        nombre,
        persona: null,
        membresia: null,
        llave: null,
        alcances,
        ...(codigo && { codigo }),
      }
      const aprobacion = await requestAprobacion(query, deps, actor, { accion, tipo: 'invitar_persona', contenido })
      if (aprobacion) return { aprobacion: { ...aprobacion, codigo: codigo! } }
    }
    const lugar = comercio?.nombre ?? null
    const invitedPersona = { correo, nombre, ambito, alcances: existingMember?.alcances ?? alcances, lugar, codigo }
    const { linea, ...writtenInvitacion } = await writeInvitacion(query, deps, invitedPersona)
    const de = comercio && { de: { comercio_id: comercio.id, modo: null } }
    await bitacora.record(query, actor, { accion, ...linea, ...de })
    return writtenInvitacion
  })
  notifyJobs()
  return inviteResult
}

export const invitarPersona: Handler<'invitarPersona'> = async ({ body, ...caller }, deps) => {
  const inviteResult = await invitePersona(deps, caller, body)
  return 'aprobacion' in inviteResult
    ? { status: 202, body: inviteResult.aprobacion }
    : { status: 201, body: inviteResult.invitacion }
}

const PERSONAS_EXIST = statement<object, { exists: boolean }>(
  'equipo.personasExist',
  'central',
  'select exists (select from persona) as exists',
)

const REMOVE_FIRST = statement('equipo.removeFirst', 'central', 'delete from invitacion where correo is null')

/**
 * Invites the first person of the courier company; the person enters address and name on the page of the link. The link
 * of an earlier start becomes invalid.
 * @returns the link; undefined if there is a person already
 */
export async function inviteFirstPersona(deps: Pick<Deps, 'db' | 'clock' | 'settings'>): Promise<string | undefined> {
  const [{ exists } = { exists: true }] = await deps.db.query(PERSONAS_EXIST)
  if (exists) return undefined
  const token = await inTransaction(deps.db.central, async (query) => {
    await query(REMOVE_FIRST)
    const invitacionData = { correo: null, nombre: null, ambito: COMPANY, alcances: [...ALCANCES_DE_OPERACION] }
    return (await saveInvitacion(query, deps, invitacionData)).token
  })
  return invitacionLink(deps.settings.urlDePersonas, token)
}
