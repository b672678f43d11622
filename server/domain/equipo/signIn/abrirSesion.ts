import { inTransaction, type Query, statement } from '../../../data/db.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { type Factors, needsSecondFactor, readFactors } from '../factorRules.ts'
import { type AMedias, PARTIAL_SIGN_IN_MINUTES, startSignIn } from '../factors/secondFactor.ts'
import { spendCode, wrongCode } from '../mailCode.ts'
import { notifySignIn } from '../notify.ts'
import type { MembresiaRow, PersonaRow } from '../persona.ts'
import { openPersonaSesion, presentPersonaSesion, sesionCookies } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'

/** Reads a person and the person's oldest membership. A person without membership cannot sign in. */
const FIND_PERSONA = statement<
  { id: string },
  Pick<PersonaRow, 'persona' | 'nombre' | 'correo'> &
    Pick<MembresiaRow, 'membresia' | 'ambito' | 'alcances'> & { id: string; membresia_id: string }
>(
  'equipo.findPersona',
  'central',
  `select p.id, p.persona, p.nombre, p.correo, m.id as membresia_id, m.membresia, m.ambito, m.alcances
   from persona p join membresia m on m.persona_id = p.id where p.id = :id and p.correo is not null
   order by m.creado_en, m.id limit 1`,
)

/** Dependencies of a sign-in. */
export type SignInDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'bitacora' | 'browser' | 'newId' | 'settings'>

/**
 * Opens a session for a person who has just proved the identity, in the transaction of that proof. If the person has
 * not used the browser before, queues a mail about the sign-in.
 * @param secondFactor true if the proof included a second factor
 * @returns undefined if the person was erased or has no membership
 */
export async function openSesionOf(
  query: Query,
  deps: SignInDeps,
  id: string,
  { accion, cookie, userAgent, ...caller }: Omit<Actor, 'identity'> & Record<'accion' | 'cookie' | 'userAgent', string>,
  secondFactor: boolean,
) {
  const [row] = await query(FIND_PERSONA, { id })
  if (!row) return undefined
  const membresia = { id: row.membresia_id, membresia: row.membresia, ambito: row.ambito, alcances: row.alcances }
  const signIn = { persona: row, membresia, userAgent, cookie, red: caller.red, secondFactor }
  const abierta = await openPersonaSesion(query, deps, signIn)
  const autor = { ...caller, identity: { persona: row.persona } }
  const sobre = ['persona', row.persona] as const
  await deps.bitacora.record(query, autor, { accion, sobre, campos: ['sesion'] })
  await notifySignIn(query, deps, { id, nombre: row.nombre, correo: row.correo! }, { cookie, userAgent })
  return abierta
}

/**
 * Stores a sign-in that still needs the second factor. It gets a line in the audit record, because the code of the mail
 * was right.
 */
async function startSignInOf(
  query: Query,
  deps: SignInDeps,
  id: string,
  factors: Factors,
  actor: Omit<Actor, 'identity'>,
): Promise<SignInResult | undefined> {
  const [row] = await query(FIND_PERSONA, { id })
  if (!row) return undefined
  const autor = { ...actor, identity: { persona: row.persona } }
  const sobre = ['persona', row.persona] as const
  await deps.bitacora.record(query, autor, { accion: 'abrirSesionDePersona', sobre, campos: ['entrada_a_medias'] })
  return { halfDone: await startSignIn(query, deps, id, factors) }
}

/** Result of entering the code of a mail: a session, or a sign-in that still needs the second factor. */
type SignInResult = NonNullable<Awaited<ReturnType<typeof openSesionOf>>> | { halfDone: AMedias }

/**
 * Opens a session with the code that was mailed. If the person has a second factor, the sign-in waits for it. The
 * attempt counts even if it fails.
 * @param cookie `Cookie` header, with the token of the browser that asked for the code
 * @throws Problema 401
 */
export async function enterWithCode(
  deps: SignInDeps & Pick<Deps, 'notifyJobs'>,
  { cookie, codigo }: { cookie: string; codigo: string },
  { userAgent, ...caller }: Omit<Actor, 'identity'> & { userAgent: string },
): Promise<SignInResult> {
  const abierta = await inTransaction(deps.db.central, async (query): Promise<SignInResult | undefined> => {
    const id = await spendCode(query, deps, deps.browser.readSignIn(cookie), codigo)
    if (id === undefined) return undefined
    const factors = await readFactors(query, id)
    if (needsSecondFactor(factors)) return startSignInOf(query, deps, id, factors, caller)
    return openSesionOf(query, deps, id, { accion: 'abrirSesionDePersona', cookie, userAgent, ...caller }, false)
  })
  if (!abierta) throw wrongCode()
  deps.notifyJobs()
  return abierta
}

export const abrirSesionDePersona: Handler<'abrirSesionDePersona'> = async (
  { body, cookie, userAgent, red, requestId },
  deps,
) => {
  const { db, browser } = deps
  const giveBack = limitSignIns(deps, red)
  const result = await enterWithCode(deps, { cookie, codigo: body.codigo }, { userAgent, red, requestId })
  giveBack()
  const clearedCodeCookie = browser.setSignIn('', 0)
  if ('halfDone' in result) {
    const { token, requestedFactor } = result.halfDone
    const setCookies = [browser.setPartialSignIn(token, PARTIAL_SIGN_IN_MINUTES * 60), clearedCodeCookie]
    return { status: 202, headers: { 'Set-Cookie': setCookies }, body: requestedFactor }
  }
  const { token, view } = result
  const cookies = [...sesionCookies(deps, token, view), clearedCodeCookie]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentPersonaSesion(db, view) }
}
