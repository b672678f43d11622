import type { Identities } from '../../../api/http/identity.ts'
import { wideNetwork } from '../../../api/http/network.ts'
import { readByDigest } from '../../../data/byDigest.ts'
import { type Db, type Query, type RowOf, statement } from '../../../data/db.ts'
import type { persona, sesion_persona } from '../../../generated/contract/prisma/client.ts'
import type { Modo, Pais, SesionDePersona } from '../../../generated/contract/types/index.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import { newToken, tokenHash } from '../../../platform/codes/token.ts'
import { DAY_MS, HOUR_MS } from '../../../platform/time/units.ts'
import { presentRates } from '../../comercios/comercio.ts'
import type { Deps } from '../../deps.ts'
import { deviceOf, knownBrowserCookie } from '../browsers.ts'
import { LACKS_SECOND_FACTOR } from '../factorRules.ts'
import {
  COMPANY,
  companyAlcances,
  llaveAlcances,
  type MembresiaRow,
  presentMembresia,
  readMembresias,
} from '../persona.ts'
import { idleFrom } from './idleTimeout.ts'

/**
 * Session with its person and membership. For a person of a merchant, also has the merchant's columns that requests
 * need.
 */
export type PersonaSesionRow = RowOf<
  Omit<sesion_persona, 'dispositivo' | 'membresia_id' | 'segundo_factor' | 'alta'>,
  { modo: Modo }
> &
  Pick<persona, 'persona' | 'nombre' | 'correo'> &
  Pick<MembresiaRow, 'membresia' | 'ambito' | 'alcances'> & {
    falta_segundo_factor: boolean
    comercio_id: string | null
    nombre_comercio: string | null
    pais: Pais | null
    estricto: boolean | null
    ritmo_solicitudes: number | null
    ritmo_guias: number | null
  }

/** Duration of a session in milliseconds: a working day at the courier company, 30 days at a merchant. */
const DURATION_MS = { company: 12 * HOUR_MS, comercio: 30 * DAY_MS }

/**
 * Returns when a session ends that began at `creado_en`. The length depends on the membership: courier company or
 * merchant.
 */
export const sesionExpiry = (creado_en: Date, scope: string) =>
  new Date(creado_en.getTime() + (scope === COMPANY ? DURATION_MS.company : DURATION_MS.comercio))

/** Maximum sessions of a person. Another sign-in ends the oldest one. */
const SESIONES = 20

/** SQL that selects sessions. Leaves out sessions whose membership or merchant no longer exists. */
const SELECT_SESION = `select s.hash, s.sesion, s.persona_id, s.modo, s.red, s.presencia_en, s.creado_en, s.vence_en,
     s.inactiva_en,
     ${LACKS_SECOND_FACTOR} as falta_segundo_factor, p.persona, p.nombre, p.correo, m.membresia, m.ambito, m.alcances, c.id as comercio_id, c.nombre as nombre_comercio,
     c.pais, c.estricto, c.ritmo_solicitudes, c.ritmo_guias
   from sesion_persona s join persona p on p.id = s.persona_id
   join membresia m on m.id = s.membresia_id and m.persona_id = s.persona_id
   left join comercio c on c.comercio = m.ambito`

const FIND = statement<{ hash: Buffer }, PersonaSesionRow>(
  'equipo.findSesion',
  'central',
  `${SELECT_SESION} where s.hash = :hash`,
)

const FIND_MANY = statement<{ hashes: readonly Buffer[] }, PersonaSesionRow>(
  'equipo.findMany',
  'central',
  `${SELECT_SESION} where s.hash = any(:hashes::bytea[])`,
)

/** Returns the sessions of persons whose tokens have these digests (base64), by digest, including expired sessions. */
export const findPersonaSesiones = (db: Db, digests: readonly string[]) => readByDigest(db, FIND, FIND_MANY, digests)

/**
 * Returns the identity of a session, with the API key that corresponds to its membership. Called once each time the row
 * is read, because limits and scopes are cached by identity object.
 */
export function personaIdentity(row: PersonaSesionRow): Identities['sesionDePersona'] {
  const { persona_id: personaId, persona, nombre, hash, sesion: codigo, membresia, ambito, modo } = row
  const { red, creado_en, vence_en, inactiva_en, presencia_en, falta_segundo_factor: lacksSecondFactor } = row
  const personaFields = { personaId, persona, nombre, correo: row.correo!, sesion: hash, codigo, membresia, modo }
  const correspondingLlave = llaveOf(row, ambito)
  const accessFields = { inactiva_en, ambito, permissions: row.alcances }
  return {
    ...personaFields,
    ...accessFields,
    red,
    creado_en,
    vence_en,
    presencia_en,
    lacksSecondFactor,
    demostracion: false,
    membresiaLlave: correspondingLlave,
  }
}

/** Returns the company's key that corresponds to a session, if it has the scope; undefined otherwise. */
export const companyLlave = (
  { membresiaLlave: correspondingLlave }: Pick<Identities['sesionDePersona'], 'membresiaLlave'>,
  alcance: Identities['llaveDeOperacion']['alcances'][number],
) =>
  correspondingLlave !== undefined && 'operador' in correspondingLlave && correspondingLlave.alcances.includes(alcance)
    ? correspondingLlave
    : undefined

/**
 * Returns the API key that corresponds to a membership. Its rate limits are counted under the person's code, so that
 * all sessions of a person share them.
 */
function llaveOf(row: PersonaSesionRow, scope: string): Identities['sesionDePersona']['membresiaLlave'] {
  const { persona, alcances, vence_en, comercio_id, presencia_en } = row
  const commonFields = { persona, presencia_en, llave: persona, ranges: [], demostracion: false }
  if (scope === COMPANY)
    return { ...commonFields, operadorId: '', operador: persona, alcances: companyAlcances(alcances) }
  if (comercio_id === null) return undefined
  return {
    ...commonFields,
    comercioId: comercio_id,
    comercio: scope,
    modo: row.modo,
    alcances: llaveAlcances(alcances),
    nombre: row.nombre_comercio!,
    pais: row.pais,
    estricto: row.estricto === true,
    ritmos: presentRates(row),
    vence_en,
  }
}

/**
 * Returns the present session of a token; undefined if the session is not valid. Reads the database each time, because
 * pages must show changes at once.
 */
export async function sesionOfToken(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  token: string,
): Promise<Identities['sesionDePersona'] | undefined> {
  const [row] = await db.query(FIND, { hash: tokenHash(token) })
  return row && isOpen(row, clock()) ? personaIdentity(row) : undefined
}

/** Reports whether a session has neither reached its end nor stayed unused for too long. */
export const isOpen = ({ vence_en, inactiva_en }: Record<'vence_en' | 'inactiva_en', Date>, now: Date) =>
  vence_en > now && inactiva_en > now

/** Reports whether a token's session would still be valid if somebody had used it. */
export async function hasIdledOut({ db, clock }: Pick<Deps, 'db' | 'clock'>, token: string): Promise<boolean> {
  const [row] = await db.query(FIND, { hash: tokenHash(token) })
  const now = clock()
  return row !== undefined && row.vence_en > now && row.inactiva_en <= now
}

type SesionView = Pick<
  Identities['sesionDePersona'],
  | 'personaId'
  | 'persona'
  | 'nombre'
  | 'correo'
  | 'codigo'
  | 'membresia'
  | 'modo'
  | 'presencia_en'
  | 'creado_en'
  | 'vence_en'
  | 'inactiva_en'
  | 'lacksSecondFactor'
>

/** Returns a session in the contract's form, with all memberships of its person. */
export async function presentPersonaSesion(
  db: Pick<Db, 'query'>,
  { personaId, persona, nombre, correo, codigo: sesion, membresia, modo, ...view }: SesionView,
): Promise<SesionDePersona> {
  const membresias = (await readMembresias(db, [personaId])).get(personaId) ?? []
  return {
    sesion,
    persona,
    nombre,
    correo,
    membresia,
    membresias: membresias.map(presentMembresia),
    modo,
    falta_segundo_factor: view.lacksSecondFactor,
    presencia_en: view.presencia_en.toISOString(),
    creado_en: view.creado_en.toISOString(),
    vence_en: view.vence_en.toISOString(),
    inactiva_en: new Date(Math.min(view.inactiva_en.getTime(), view.vence_en.getTime())).toISOString(),
  }
}

/**
 * Opens a session with a membership of a person. Ends the browser's previous session, and the person's oldest sessions
 * beyond the maximum.
 */
const OPEN = statement<
  Pick<
    sesion_persona,
    'hash' | 'sesion' | 'persona_id' | 'membresia_id' | 'modo' | 'dispositivo' | 'red' | 'alta' | 'segundo_factor'
  > & {
    anterior: Uint8Array | null
    presencia_en: Date
    now: Date
    vence_en: Date
    inactiva_en: Date
  }
>(
  'equipo.open',
  'central',
  `with s as (
     insert into sesion_persona (hash, sesion, persona_id, membresia_id, modo, dispositivo, red, alta, segundo_factor,
       presencia_en, creado_en, vence_en, inactiva_en)
     values (:hash, :sesion, :persona_id, :membresia_id, :modo, :dispositivo, :red, :alta, :segundo_factor,
       :presencia_en, :now, :vence_en, :inactiva_en)
   )
   delete from sesion_persona where hash = :anterior::bytea or hash in (
     select hash from sesion_persona where persona_id = :persona_id order by creado_en desc offset ${SESIONES - 1})`,
)

const MISSING_FACTOR = statement<{ hash: Uint8Array }, { missing: boolean }>(
  'equipo.missingFactor',
  'central',
  `select ${LACKS_SECOND_FACTOR} as missing from sesion_persona s where s.hash = :hash`,
)

/** Person who signs in, the membership, and the browser. */
interface SignIn {
  persona: Pick<persona, 'id' | 'persona' | 'nombre' | 'correo'>
  membresia: Pick<MembresiaRow, 'id' | 'membresia' | 'ambito' | 'alcances'>
  userAgent: string
  /** `Cookie` header of the browser. */
  cookie: string
  red: string
  /** True if the person also proved a second factor. */
  secondFactor: boolean
  /** Last proof that the person is present; undefined: the sign-in itself. */
  presencia_en?: Date | undefined
  /** True if the person proved more than the mail, so that the session may add the first second factor. */
  alta?: boolean
}

/** Opens a session in the transaction of the sign-in. The cookie's token appears only in this result. */
export async function openPersonaSesion(
  query: Query,
  { clock, browser, settings }: Pick<Deps, 'clock' | 'browser' | 'settings'>,
  { persona, membresia, userAgent, cookie, red, secondFactor, presencia_en: provenAt, alta = false }: SignIn,
): Promise<{ token: string; view: SesionView }> {
  const token = newToken()
  const previous = browser.readPersonaSesion({ headers: { cookie } })
  const creado_en = clock()
  const presencia_en = provenAt ?? creado_en
  const vence_en = sesionExpiry(creado_en, membresia.ambito)
  const inactiva_en = idleFrom({ clock, settings }, membresia)
  const codigo = `ses_${randomBase32(12)}`
  const modo = 'live'
  const hash = tokenHash(token)
  await query(OPEN, {
    hash,
    sesion: codigo,
    persona_id: persona.id,
    membresia_id: membresia.id,
    modo,
    dispositivo: deviceOf(userAgent),
    red: wideNetwork(red),
    alta,
    segundo_factor: secondFactor,
    anterior: previous === undefined ? null : tokenHash(previous),
    presencia_en,
    now: creado_en,
    vence_en,
    inactiva_en,
  })
  const [{ missing: lacksSecondFactor } = { missing: true }] = await query(MISSING_FACTOR, { hash })
  const { id: personaId, persona: personaCode, nombre, correo } = persona
  const caller = { personaId, persona: personaCode, nombre, correo: correo!, membresia: membresia.membresia }
  return {
    token,
    view: { ...caller, codigo, modo, presencia_en, creado_en, vence_en, inactiva_en, lacksSecondFactor },
  }
}

const COMPLETE = statement<{ hash: Uint8Array; nuevo: Uint8Array }>(
  'equipo.complete',
  'central',
  'update sesion_persona set hash = :nuevo, segundo_factor = true where hash = :hash',
)

/**
 * Stores that the person of a session has just added a second factor. A session that lacked its second factor gains
 * rights by this, so it gets a new token and the old one becomes invalid.
 * @returns the `Set-Cookie` header of the new token
 */
export async function completeSesion(
  query: Query,
  { clock, browser }: Pick<Deps, 'clock' | 'browser'>,
  { sesion: hash, vence_en, lacksSecondFactor }: Identities['sesionDePersona'],
): Promise<string | undefined> {
  if (!lacksSecondFactor) {
    await query(COMPLETE, { hash, nuevo: hash })
    return undefined
  }
  const token = newToken()
  await query(COMPLETE, { hash, nuevo: tokenHash(token) })
  return browser.setPersonaSesion(token, Math.floor((vence_en.getTime() - clock().getTime()) / 1_000))
}

/** Returns the `Set-Cookie` headers of a new session: its own cookie, and {@link knownBrowserCookie}. */
export const sesionCookies = (
  deps: Pick<Deps, 'browser' | 'secretos'>,
  token: string,
  { personaId, creado_en, vence_en }: Pick<SesionView, 'personaId' | 'creado_en' | 'vence_en'>,
) => [
  deps.browser.setPersonaSesion(token, (vence_en.getTime() - creado_en.getTime()) / 1_000),
  knownBrowserCookie(deps, personaId),
]

const PURGE = [
  statement<{ now: Date }>('equipo.pruneSesiones', 'central', 'delete from sesion_persona where vence_en <= :now'),
  statement<{ now: Date }>('equipo.pruneInvitaciones', 'central', 'delete from invitacion where vence_en <= :now'),
  statement<{ now: Date }>(
    'equipo.pruneHalfDoneSignIns',
    'central',
    'delete from entrada_a_medias where vence_en <= :now',
  ),
  statement<{ now: Date }>(
    'equipo.pruneTotp',
    'central',
    'update segundo_factor set nuevo = null, nuevo_vence_en = null where nuevo_vence_en <= :now',
  ),
  statement<{ now: Date }>('equipo.pruneChallenges', 'central', 'delete from reto_de_passkey where vence_en <= :now'),
  // Codes stay for a day, because each address gets a limited number of codes per day.
  statement<{ now: Date }>(
    'equipo.pruneMailCodes',
    'central',
    `delete from codigo_de_entrada where creado_en <= :now::timestamptz - interval '1 day'`,
  ),
  // Addresses stay as long as their mails, so that erasing a person also finds the mails to a former address.
  statement<{ now: Date }>(
    'equipo.pruneCambiosDeCorreo',
    'central',
    `delete from cambio_de_correo where creado_en <= :now::timestamptz - interval '31 days'`,
  ),
]

/**
 * Deletes expired sessions, invitations, codes, passkey challenges, unfinished sign-ins and unconfirmed secrets of
 * apps, and old changes of addresses.
 */
export async function purgeSignIns({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<void> {
  for (const purgeStatement of PURGE) await db.query(purgeStatement, { now: clock() })
}
