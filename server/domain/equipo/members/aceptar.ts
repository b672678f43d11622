import { PERSON_CHALLENGE } from '../../../api/http/authenticate.ts'
import { inTransaction, type Query, statement } from '../../../data/db.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import { normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { isToken, tokenHash } from '../../../platform/codes/token.ts'
import { Problema, problemOfFaults } from '../../../platform/errors.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import { requireCorreo } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { isSameCode } from '../mailCode.ts'
import { notifySignIn } from '../notify.ts'
import { COMPANY, type InvitacionRow, type MembresiaRow, type PersonaRow } from '../persona.ts'
import { openPersonaSesion, presentPersonaSesion, sesionCookies } from '../sessions/sesion.ts'
import type { SignInDeps } from '../signIn/abrirSesion.ts'
import { limitSignIns } from '../signInLimits.ts'
import { bitacoraFields } from './cambiarMembresia.ts'

/** Maximum attempts with the code of an invitation. */
const INTENTOS = 5

/**
 * SQL condition that an invitation can be accepted. The one of the first person ends when there is a person. One to the
 * courier company needs a code, unless it is the first person's, which the console shows.
 */
const VALE = `huella = :huella and vence_en > :now and intentos < ${INTENTOS}
  and (correo is not null or not exists (select from persona))
  and (correo is null or codigo_hash is not null or ambito <> '${COMPANY}')`

const READ = statement<{ huella: Uint8Array; now: Date }, InvitacionRow>(
  'equipo.readInvitacion',
  'central',
  `select * from invitacion where ${VALE}`,
)

/** Counts an attempt, and keeps the row locked, so that parallel attempts come one after another. */
const ATTEMPT = statement<
  { huella: Uint8Array; now: Date },
  { huella: Uint8Array<ArrayBuffer>; codigo_hash: Uint8Array<ArrayBuffer> | null }
>(
  'equipo.attemptInvitacion',
  'central',
  `update invitacion set intentos = intentos + 1 where ${VALE} returning huella, codigo_hash`,
)

const REMOVE_INVITACION = statement<{ huella: Uint8Array }>(
  'equipo.removeInvitacion',
  'central',
  'delete from invitacion where huella = :huella',
)

/** Returns the person with an address, creating it if necessary. */
const PERSONA = statement<Pick<PersonaRow, 'id' | 'persona' | 'nombre' | 'creado_en'> & { correo: string }, PersonaRow>(
  'equipo.createPersona',
  'central',
  `insert into persona (id, persona, correo, nombre, creado_en) values (:id, :persona, :correo, :nombre, :creado_en)
   on conflict (correo) do update set correo = excluded.correo returning *`,
)

/** Adds a membership. If the person already is a member of the merchant or company, the scopes stay as they are. */
const ADD_MEMBRESIA = statement<MembresiaRow, Pick<MembresiaRow, 'id' | 'membresia' | 'ambito' | 'alcances'>>(
  'equipo.addMembresia',
  'central',
  `insert into membresia (id, membresia, persona_id, ambito, alcances, creado_en)
   values (:id, :membresia, :persona_id, :ambito, :alcances, :creado_en)
   on conflict (persona_id, ambito) do update set ambito = excluded.ambito returning id, membresia, ambito, alcances`,
)

const WITH_FACTOR = statement<{ hash: Uint8Array; persona_id: string; now: Date }, { presencia_en: Date }>(
  'equipo.withFactor',
  'central',
  `select presencia_en from sesion_persona
   where hash = :hash and persona_id = :persona_id and least(vence_en, inactiva_en) > :now and segundo_factor`,
)

/**
 * Returns when the person last proved to be present in the browser's session, if that session was opened with a second
 * factor. Otherwise returns undefined.
 */
async function presenceWithFactor(
  query: Query,
  { clock, browser }: Pick<Deps, 'clock' | 'browser'>,
  cookie: string,
  persona_id: string,
): Promise<Date | undefined> {
  const token = browser.readPersonaSesion({ headers: { cookie } })
  if (token === undefined) return undefined
  const [row] = await query(WITH_FACTOR, { hash: tokenHash(token), persona_id, now: clock() })
  return row?.presencia_en
}

/** Returns the open invitation to which a link belongs; undefined if the link is not valid. */
export async function readInvitacion(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  token: string,
): Promise<InvitacionRow | undefined> {
  if (!isToken(token)) return undefined
  const [row] = await db.query(READ, { huella: tokenHash(token), now: clock() })
  return row
}

/** Returns the 401 for a wrong code of an invitation. */
const wrongInvitacionCode = () =>
  new Problema(
    'codigo_incorrecto',
    'El código no es el de esta invitación. Pregúnteselo a quien le invitó. Al quinto error el enlace deja de valer.',
    { headers: PERSON_CHALLENGE },
  )

const invalidInvitation = () =>
  new Problema('enlace_invalido', 'La invitación venció, ya se usó o se copió incompleta. Pida otra a quien le invitó.')

/** Data that a person sends to accept an invitation. */
interface Acceptance {
  token: string
  codigo?: string | undefined
  correo?: string | undefined
  nombre?: string | undefined
}

/**
 * Accepts an invitation: creates the person or finds it by its address, adds the membership and opens a session. If the
 * person has not used the browser before, queues a mail about the sign-in. The link stands for the mail alone, so a
 * session with a second factor goes on with its last proof of presence.
 *
 * An invitation to the courier company needs a code that its mail does not have. The session may then add the person's
 * first second factor. A wrong code is recorded.
 * @throws Problema 401 if the code is wrong; 403 if the link is not valid; 422 if code, address or name are missing
 */
export async function acceptInvitacion(
  deps: SignInDeps & Pick<Deps, 'notifyJobs'>,
  { token, ...answer }: Acceptance,
  { userAgent, cookie, ...caller }: Omit<Actor, 'identity'> & { userAgent: string; cookie: string },
) {
  const { db, clock, newId, secretos, bitacora, notifyJobs } = deps
  const invitacion = await readInvitacion(deps, token)
  if (!invitacion) throw invalidInvitation()
  const { ambito, alcances, codigo_hash } = invitacion
  if (codigo_hash && !answer.codigo?.trim())
    throw problemOfFaults('validacion', [
      { campo: '/codigo', codigo: 'requerido', mensaje: 'falta; se lo da quien le invitó, en persona o por teléfono' },
    ])
  const correo = invitacion.correo ?? requireCorreo(answer.correo ?? '')
  const nombre = (invitacion.nombre ?? answer.nombre)?.trim()
  if (!nombre)
    throw problemOfFaults('validacion', [
      { campo: '/nombre', codigo: 'requerido', mensaje: 'falta; escriba su nombre' },
    ])
  const de = await bitacoraFields(db, ambito)
  const abierta = await inTransaction(db.central, async (query) => {
    const [tomada] = await query(ATTEMPT, { huella: tokenHash(token), now: clock() })
    if (!tomada) throw invalidInvitation()
    const { huella } = tomada
    const typedCode = normalizeBase32((answer.codigo ?? '').replace(/[\s-]/g, ''))
    if (tomada.codigo_hash && !isSameCode(secretos, { huella, codigo_hash: tomada.codigo_hash }, typedCode)) {
      const sobre = ['invitacion', invitacion.invitacion] as const
      const line = { accion: 'fallarCodigoDeInvitacion', sobre, ...de, campos: ['codigo'] }
      await bitacora.record(query, { ...caller, identity: null }, line)
      return undefined
    }
    await query(REMOVE_INVITACION, { huella })
    const newPersona = { ...newId(), persona: `per_${randomBase32(12)}`, correo, nombre }
    const [persona] = await query(PERSONA, newPersona)
    const newMembresia = { ...newId(), membresia: `mem_${randomBase32(12)}`, persona_id: persona!.id, ambito, alcances }
    const [membresia] = await query(ADD_MEMBRESIA, newMembresia)
    const red = caller.red
    const presencia_en = await presenceWithFactor(query, deps, cookie, persona!.id)
    const abierta = await openPersonaSesion(query, deps, {
      persona: persona!,
      membresia: membresia!,
      userAgent,
      cookie,
      red,
      secondFactor: presencia_en !== undefined,
      presencia_en,
      alta: ambito === COMPANY,
    })
    await bitacora.record(
      query,
      { ...caller, identity: { persona: persona!.persona } },
      {
        accion: 'aceptarInvitacion',
        sobre: ['invitacion', invitacion.invitacion],
        ...de,
        despues: { alcances },
      },
    )
    const { id } = persona!
    if (id !== newPersona.id)
      await notifySignIn(query, deps, { id, nombre: persona!.nombre, correo }, { cookie, userAgent })
    return abierta
  })
  if (!abierta) throw wrongInvitacionCode()
  notifyJobs()
  return abierta
}

export const aceptarInvitacion: Handler<'aceptarInvitacion'> = async (
  { body, userAgent, cookie, red, requestId },
  deps,
) => {
  const { db } = deps
  const giveBack = limitSignIns(deps, red)
  const { token, view } = await acceptInvitacion(deps, body, { userAgent, cookie, red, requestId })
  giveBack()
  const headers = { 'Set-Cookie': sesionCookies(deps, token, view) }
  return { status: 201, headers, body: await presentPersonaSesion(db, view) }
}
