import type { Identities } from '../../../api/http/identity.ts'
import { type Query, statement } from '../../../data/db.ts'
import type { Aprobacion, ContenidoDeAprobacion } from '../../../generated/contract/types/index.ts'
import { Problema } from '../../../platform/errors.ts'
import type { Actor, AuditEntry } from '../../bitacora/bitacora.ts'
import { saveCorreo } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import { requireOwnAlcances } from '../../identities/llave.ts'
import { resetFactors } from '../factors/resetFactor.ts'
import { ADMINISTRATORS, COMPANY, companyAlcances, type PersonaRow } from '../persona.ts'
import { APPROVE_REMEDY, createApprovedLlave, rotateApprovedLlave } from './approvedLlave.ts'
import {
  APROBACION_HOURS,
  closedAprobacion,
  needsThirdPersona,
  openAprobacion,
  presentAprobacion,
  type StoredAprobacionContent,
  type TipoDeAprobacion,
} from './aprobacion.ts'
import { findMember, writeInvitacion } from './invitacion.ts'
import { changeAlcances, findMembresia, removeMembresia } from './membresia.ts'
import { permissionNames } from './permissions.ts'
import { erasePersona } from './prune.ts'

/** Maximum persons who get a mail about one approval. */
const MAX_NOTIFIED_PERSONAS = 20
/** Minutes in which the notice of a decision must leave. */
const DECISION_MINUTES = 1_440

/** Tells what to do when a caller gives scopes that the caller does not have. */
export const ALCANCES_REMEDY = 'Pida en «alcances» solo los suyos.'

type EffectDeps = Pick<Deps, 'clock' | 'secretos' | 'newId' | 'settings'>

/**
 * Carries out an approved change, in the transaction of the decision.
 * @returns lines about the change for the audit record: the company's, and those of merchants
 * @throws Problema 403 if the person who decides lacks a scope that the change would give; 409 if the change is no
 *   longer possible
 */
type Effect = (
  query: Query,
  deps: EffectDeps,
  de: { identity: Pick<Identities['llaveDeOperacion'], 'alcances'>; contenido: StoredAprobacionContent },
) => Promise<readonly Omit<AuditEntry, 'accion'>[]>

const PERSONA = statement<{ persona: string }, Pick<PersonaRow, 'id' | 'nombre' | 'correo'>>(
  'equipo.approvablePersona',
  'central',
  'select id, nombre, correo from persona where persona = :persona',
)

/** Functions that carry out an approved change, by kind of approval. */
export const EFFECTS: Readonly<Record<TipoDeAprobacion, Effect>> = {
  async invitar_persona(query, deps, { identity, contenido }) {
    const { nombre, alcances } = contenido
    const [correo, codigo] = [contenido.correo!, contenido.codigo!]
    requireOwnAlcances(identity, companyAlcances(alcances), APPROVE_REMEDY)
    if (await findMember(query, { correo, ambito: COMPANY })) throw closedAprobacion('Esa persona ya está.')
    const invitedPersona = { correo, nombre, ambito: COMPANY, alcances: [...alcances], lugar: null, codigo }
    return [(await writeInvitacion(query, deps, invitedPersona)).linea]
  },
  async cambiar_membresia(query, _deps, { identity, contenido: { membresia, alcances } }) {
    requireOwnAlcances(identity, companyAlcances(alcances), APPROVE_REMEDY)
    const before = await findMembresia(query, membresia!)
    const changedRow = before && (await changeAlcances(query, { id: before.id, alcances: [...alcances] }))
    if (!changedRow) throw closedAprobacion('Esa membresía ya no está.')
    return [{ sobre: ['persona', before.persona], antes: { alcances: before.alcances }, despues: { alcances } }]
  },
  async quitar_membresia(query, _deps, { contenido: { membresia } }) {
    const before = await findMembresia(query, membresia!)
    if (!before || !(await removeMembresia(query, before))) throw closedAprobacion('Esa membresía ya no está.')
    return [{ sobre: ['persona', before.persona], antes: { alcances: before.alcances }, despues: {} }]
  },
  async eliminar_persona(query, { secretos }, { contenido }) {
    const persona = contenido.persona!
    const [before] = await query(PERSONA, { persona })
    const correo = before?.correo
    const lines = before && correo && (await erasePersona(query, secretos, { ...before, correo, persona }))
    if (!lines) throw closedAprobacion('Esa persona ya no está.')
    return lines
  },
  async restablecer_segundo_factor(query, deps, { contenido }) {
    const persona = contenido.persona!
    const [before] = await query(PERSONA, { persona })
    const correo = before?.correo
    if (!before || !correo) throw closedAprobacion('Esa persona ya no está.')
    return [await resetFactors(query, deps, { ...before, correo, persona })]
  },
  crear_llave: async (query, { clock }, de) => [await createApprovedLlave(query, { ...de, now: clock() })],
  rotar_llave: async (query, { clock }, de) => [await rotateApprovedLlave(query, { ...de, now: clock() })],
}

/** Returns a sentence in Spanish that says what an approval asks for: «Ana pide …». */
export function describeRequest(type: TipoDeAprobacion, content: ContenidoDeAprobacion): string {
  const { nombre, correo, llave, alcances } = content
  const caller = `${nombre} (${correo ?? llave?.operador})`
  const permissions = permissionNames(alcances)
  switch (type) {
    case 'invitar_persona':
      return `invitar a ${caller}, con estos permisos: ${permissions}`
    case 'cambiar_membresia':
      return `cambiar los permisos de ${caller}, que serán: ${permissions}`
    case 'quitar_membresia':
      return `quitar de la empresa a ${caller}`
    case 'eliminar_persona':
      return `borrar la cuenta de ${caller}`
    case 'restablecer_segundo_factor':
      return `restablecer el segundo factor de ${caller}, que entrará con su correo y agregará otro`
    case 'crear_llave':
      return `una llave del operador ${caller}, con estos permisos: ${permissions}`
    case 'rotar_llave':
      return `rotar la llave ${llave?.rota} del operador ${caller}, con estos permisos: ${permissions}`
  }
}

const REQUESTER = statement<{ pide: string }, Pick<PersonaRow, 'nombre' | 'correo'>>(
  'equipo.requester',
  'central',
  'select nombre, correo from persona where persona = :pide and correo is not null',
)

/**
 * Tells the person who asked by mail how an approval ended. The caller calls `notifyJobs` after the commit.
 * @param quien name of the person who decided; null if the approval expired
 */
export async function notifyDecision(
  query: Query,
  deps: EffectDeps,
  { tipo, pide, contenido }: { tipo: TipoDeAprobacion; pide: string; contenido: ContenidoDeAprobacion },
  { quien, razon }: { quien: string | null; razon: string | null },
): Promise<void> {
  const [requester] = await query(REQUESTER, { pide })
  if (!requester) return
  const enlace = `${deps.settings.urlDePersonas}/cuenta`
  const datos = { nombre: requester.nombre, quien, que: describeRequest(tipo, contenido), razon, enlace }
  await saveCorreo(query, deps, { tipo: 'decision', para: requester.correo!, datos, lifetimeMinutes: DECISION_MINUTES })
}

const NOTIFIED_ADMINISTRATORS = statement<object, Pick<PersonaRow, 'persona' | 'nombre' | 'correo'>>(
  'equipo.notifiedAdministrators',
  'central',
  `with ${ADMINISTRATORS}
   select p.persona, p.nombre, p.correo from administradoras a join persona p on p.id = a.persona_id
   order by p.id`,
)

/** Returns the 409 for a request that a third person has to approve, if none administers. */
const nobodyToApprove = () =>
  new Problema(
    'sin_quien_apruebe',
    'Hace falta otra persona que administre, que no sea usted ni la persona de quien se trata. Lo hace quien opera el servicio, en su consola.',
  )

/** Dependencies of a request that may need an approval. */
export type ApprovalRequestDeps = EffectDeps & Pick<Deps, 'bitacora'>
/** Caller whose request may need an approval. */
export type AprobacionRequester = Pick<Identities['llaveDeOperacion'], 'persona'>

/**
 * Opens an approval if the caller is a person, the change is about another person, and another person also has the
 * scope `administrar`. Mails the persons who may decide. The caller calls `notifyJobs` after the commit.
 *
 * A kind that only a third person decides needs an approval from any person, also about the person itself.
 * @returns undefined if no approval is needed
 * @throws Problema 409 if a third person has to decide and none administers
 */
export async function requestAprobacion(
  query: Query,
  deps: ApprovalRequestDeps,
  actor: Actor & { identity: AprobacionRequester },
  { accion, tipo, contenido }: { accion: string; tipo: TipoDeAprobacion; contenido: StoredAprobacionContent },
): Promise<Aprobacion | undefined> {
  const { persona: pide } = actor.identity
  const needsThird = needsThirdPersona(tipo)
  if (pide === undefined || (pide === contenido.persona && !needsThird)) return undefined
  const administrators = await query(NOTIFIED_ADMINISTRATORS)
  const otherAdministrators = administrators.filter(({ persona }) => persona !== pide)
  // The person that the approval is about decides only if no third person has the scope `administrar`.
  const thirdPersonas = otherAdministrators.filter(({ persona }) => persona !== contenido.persona)
  if (needsThird && thirdPersonas.length === 0) throw nobodyToApprove()
  if (otherAdministrators.length === 0) return undefined
  const row = await openAprobacion(query, deps, { tipo, contenido, pide })
  const commonData = {
    quien: administrators.find(({ persona }) => persona === pide)?.nombre ?? pide,
    que: describeRequest(tipo, contenido),
    enlace: `${deps.settings.urlDePersonas}/cuenta`,
    horas: APROBACION_HOURS,
  }
  for (const { nombre, correo } of (thirdPersonas.length > 0 ? thirdPersonas : otherAdministrators).slice(
    0,
    MAX_NOTIFIED_PERSONAS,
  )) {
    const datos = { ...commonData, nombre }
    const lifetimeMinutes = APROBACION_HOURS * 60
    // A person with the scope `administrar` has an address, because erasing a person removes its memberships.
    await saveCorreo(query, deps, { tipo: 'aprobacion', para: correo!, datos, lifetimeMinutes })
  }
  const { alcances, llave } = contenido
  await deps.bitacora.record(query, actor, {
    accion,
    sobre: ['aprobacion', row.aprobacion],
    campos: llave ? ['llave', 'alcances'] : ['correo', 'nombre', 'alcances'],
    despues: { estado: 'pendiente', tipo, alcances, ...(llave && { llave: llave.id }) },
  })
  return presentAprobacion(deps, row)
}
