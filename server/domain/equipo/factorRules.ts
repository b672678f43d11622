import { type Query, statement } from '../../data/db.ts'
import { Problema, uniformProblem } from '../../platform/errors.ts'
import { COMPANY } from './persona.ts'

/** Factors of a person's account besides the mail. */
export interface Factors {
  /** True if the person has a membership of the courier company. */
  in_company: boolean
  /** True if the person has an app that gives codes. */
  totp: boolean
  passkeys: number
  /** Number of unused recovery codes. */
  codigos: number
}

const READ = statement<{ persona_id: string }, Factors>(
  'equipo.readFactors',
  'central',
  `select exists (select from membresia where persona_id = :persona_id and ambito = '${COMPANY}') as in_company,
     exists (select from segundo_factor where persona_id = :persona_id and secreto is not null) as totp,
     (select count(*)::int from passkey where persona_id = :persona_id) as passkeys,
     (select count(*)::int from codigo_de_recuperacion where persona_id = :persona_id) as codigos`,
)

export async function readFactors(query: Query, persona_id: string): Promise<Factors> {
  const [factors] = await query(READ, { persona_id })
  return factors!
}

/**
 * Reports whether signing in needs a second factor besides the code sent by mail. True for a person with an
 * authenticator app, and for the courier company's people with a passkey.
 */
export const needsSecondFactor = ({ in_company, totp, passkeys }: Factors) => totp || (in_company && passkeys > 0)

/** SQL condition that a session `s` still lacks a required second factor. */
export const LACKS_SECOND_FACTOR = `not s.segundo_factor and (
  exists (select from segundo_factor f where f.persona_id = s.persona_id and f.secreto is not null)
  or exists (select from membresia e where e.persona_id = s.persona_id and e.ambito = '${COMPANY}'))`

const LOCK_FACTORS = statement<{ persona_id: string }, { id: string }>(
  'equipo.lockFactors',
  'central',
  'select id from persona where id = :persona_id and correo is not null for no key update',
)

/**
 * Locks a person until the end of the transaction, so that changes of the person's factors come one after another.
 * Returns false if the person was erased.
 */
export const lockFactors = async (query: Query, persona_id: string): Promise<boolean> =>
  (await query(LOCK_FACTORS, { persona_id })).length > 0

const CAN_ADD = statement<
  { hash: Uint8Array; persona_id: string },
  { missing: boolean; alta: boolean; has_factor: boolean }
>(
  'equipo.canAdd',
  'central',
  `select ${LACKS_SECOND_FACTOR} as missing, s.alta,
     exists (select from segundo_factor f where f.persona_id = s.persona_id and f.secreto is not null)
       or exists (select from passkey k where k.persona_id = s.persona_id) as has_factor
   from sesion_persona s where s.hash = :hash and s.persona_id = :persona_id`,
)

/**
 * Returns the reason why a session may not add a factor; undefined if it may. `hasFactor`: the person must first sign
 * in with the existing second factor. `correo`: the session was opened with only a code sent by mail.
 */
export async function findImpediment(
  query: Query,
  hash: Uint8Array,
  persona_id: string,
): Promise<'hasFactor' | 'correo' | undefined> {
  const [row] = await query(CAN_ADD, { hash, persona_id })
  if (row && !row.missing) return undefined
  if (!row || row.has_factor) return 'hasFactor'
  return row.alta ? undefined : 'correo'
}

/**
 * Requires that a session may add a factor. A session that lacks its second factor adds only the person’s very first
 * one, and only if it was opened with more than the mail. The caller has locked the person ({@link lockFactors}).
 * @throws Problema 403
 */
export async function requireCanAdd(query: Query, hash: Uint8Array, persona_id: string): Promise<void> {
  const impediment = await findImpediment(query, hash, persona_id)
  if (impediment === 'hasFactor') throw uniformProblem('segundo_factor_requerido')
  if (impediment === 'correo') throw new Problema('segundo_factor_requerido', MAIL_ONLY_TEXT)
}

const MAIL_ONLY_TEXT =
  'Entró solo con su correo, y no basta para agregar el primer segundo factor. Pida a quien administra que le invite otra vez: le da un código, y con él lo agrega.'

/** Reports whether removing one factor would leave a person without the second factor that the person needs. */
export const isLastNeededFactor = ({ in_company, totp, passkeys }: Factors) =>
  in_company && passkeys + (totp ? 1 : 0) <= 1
