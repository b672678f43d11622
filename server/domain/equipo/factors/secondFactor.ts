import { createHash } from 'node:crypto'
import { PERSON_CHALLENGE } from '../../../api/http/authenticate.ts'
import { type Query, statement } from '../../../data/db.ts'
import type { entrada_a_medias, segundo_factor } from '../../../generated/contract/prisma/client.ts'
import type { SegundoFactor, SegundoFactorPedido } from '../../../generated/contract/types/index.ts'
import { normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { newToken, tokenHash } from '../../../platform/codes/token.ts'
import { Problema } from '../../../platform/errors.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/time/units.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import { type Factors, readFactors } from '../factorRules.ts'
import { recordFailure } from '../failures.ts'
import { NOT_FUTURE } from '../mailCode.ts'
import { type NotifiedPersona, notifySecondFactor } from '../notify.ts'
import { stepOf, withoutSeparators } from './totp.ts'

/** Minutes for which a sign-in waits for the second factor. */
export const PARTIAL_SIGN_IN_MINUTES = 10
/** Maximum attempts to enter the second factor in one sign-in. */
const INTENTOS = 5
/**
 * Maximum attempts of one person within a day, counted over all sign-ins and proofs of presence. A right code resets
 * the count.
 */
export const ATTEMPTS_PER_DAY = 10

type SecondFactorDeps = Pick<Deps, 'clock' | 'secretos' | 'newId' | 'settings' | 'bitacora'>

const START = statement<Omit<entrada_a_medias, 'intentos'>>(
  'equipo.start',
  'central',
  `insert into entrada_a_medias (huella, persona_id, intentos, creado_en, vence_en)
   values (:huella, :persona_id, 0, :creado_en, :vence_en)`,
)

/** Sign-in that waits for the second factor, and the token for the browser's cookie. */
export interface AMedias {
  token: string
  requestedFactor: SegundoFactorPedido
}

/** Stores a sign-in that waits for the second factor, in the transaction that accepts the code of the mail. */
export async function startSignIn(
  query: Query,
  { clock }: Pick<Deps, 'clock'>,
  persona_id: string,
  factors: Factors,
): Promise<AMedias> {
  const token = newToken()
  const creado_en = clock()
  const vence_en = new Date(creado_en.getTime() + PARTIAL_SIGN_IN_MINUTES * MINUTE_MS)
  await query(START, { huella: tokenHash(token), persona_id, creado_en, vence_en })
  return { token, requestedFactor: { formas: factorFormsOf(factors), vence_en: vence_en.toISOString() } }
}

/** Returns the kinds of second factor that a person can use. */
export const factorFormsOf = ({ totp, codigos, passkeys }: Factors): SegundoFactorPedido['formas'] => [
  ...(totp ? (['totp'] as const) : []),
  ...(codigos > 0 ? (['recuperacion'] as const) : []),
  ...(passkeys > 0 ? (['passkey'] as const) : []),
]

const WAITING_SIGN_IN = statement<{ huella: Uint8Array; now: Date }, Pick<entrada_a_medias, 'persona_id' | 'vence_en'>>(
  'equipo.waitingSignIn',
  'central',
  `select persona_id, vence_en from entrada_a_medias
   where huella = :huella and vence_en > :now and ${NOT_FUTURE} and intentos < ${INTENTOS}`,
)

/** Returns the sign-in of a browser that waits for the second factor; undefined if none waits. Changes nothing. */
export async function readPartialSignIn(
  { db, clock, browser }: Pick<Deps, 'db' | 'clock' | 'browser'>,
  cookie: string,
): Promise<SegundoFactorPedido | undefined> {
  const token = browser.readPartialSignIn(cookie)
  if (token === undefined) return undefined
  const [row] = await db.query(WAITING_SIGN_IN, { huella: tokenHash(token), now: clock() })
  if (!row) return undefined
  return { formas: factorFormsOf(await readFactors(db.query, row.persona_id)), vence_en: row.vence_en.toISOString() }
}

const ATTEMPT_SIGN_IN = statement<{ huella: Uint8Array; now: Date }, Pick<entrada_a_medias, 'persona_id'>>(
  'equipo.attemptSignIn',
  'central',
  `update entrada_a_medias set intentos = intentos + 1
   where huella = :huella and vence_en > :now and ${NOT_FUTURE} and intentos < ${INTENTOS} returning persona_id`,
)

/** Counts an attempt of a browser's sign-in. Returns the person who signs in; undefined if no sign-in waits. */
export async function attemptSignIn(
  query: Query,
  { clock }: Pick<Deps, 'clock'>,
  token: string | undefined,
): Promise<string | undefined> {
  if (token === undefined) return undefined
  const [row] = await query(ATTEMPT_SIGN_IN, { huella: tokenHash(token), now: clock() })
  return row?.persona_id
}

const FINISH = statement<{ huella: Uint8Array }>(
  'equipo.finish',
  'central',
  'delete from entrada_a_medias where huella = :huella',
)

/** Deletes the unfinished sign-in of a browser, which waited for the second factor. */
export const finishSignIn = (query: Query, token: string) => query(FINISH, { huella: tokenHash(token) })

type Intento = Pick<segundo_factor, 'secreto' | 'paso' | 'intentos' | 'intentos_desde'> & NotifiedPersona

/** Counts an attempt of a person, and keeps the row locked, so that parallel attempts come one after another. */
const ATTEMPT = statement<{ persona_id: string; now: Date }, Intento>(
  'equipo.attemptSecondFactor',
  'central',
  `insert into segundo_factor as f (persona_id, intentos, intentos_desde) values (:persona_id, 1, :now)
   on conflict (persona_id) do update set
     intentos = case when f.intentos_desde > excluded.intentos_desde - interval '1 day' then f.intentos + 1 else 1 end,
     intentos_desde = case when f.intentos_desde > excluded.intentos_desde - interval '1 day' then f.intentos_desde
       else excluded.intentos_desde end
   returning secreto, paso, intentos, intentos_desde,
     (select nombre from persona where id = f.persona_id) as nombre,
     (select correo from persona where id = f.persona_id) as correo`,
)

/**
 * Stores that a code of the app was right. Changes no row if a code of the same or a later time step was already
 * accepted.
 */
const ACCEPT_TOTP = statement<{ persona_id: string; paso: number; now: Date }, { persona_id: string }>(
  'equipo.acceptTotp',
  'central',
  `update segundo_factor set paso = :paso, usado_en = :now, intentos = 0
   where persona_id = :persona_id and (paso is null or paso < :paso) returning persona_id`,
)

const SPEND_CODE = statement<{ persona_id: string; huella: Uint8Array }, { huella: Uint8Array }>(
  'equipo.spendCode',
  'central',
  'delete from codigo_de_recuperacion where persona_id = :persona_id and huella = :huella returning huella',
)

const FORGIVE = statement<{ persona_id: string }>(
  'equipo.forgive',
  'central',
  'update segundo_factor set intentos = 0 where persona_id = :persona_id',
)

/**
 * Returns the digest of a recovery code. A digest without a secret key is enough, because a code has 80 random bits.
 */
export const recoveryCodeDigest = (persona_id: string, code: string) =>
  new Uint8Array(createHash('sha256').update(`recuperacion ${persona_id} ${code}`).digest())

/**
 * Counts an attempt with a person's second factor, which is a code of the app or a recovery code. A right code is used
 * up. A wrong one is recorded, and the caller commits. The person gets a mail when a recovery code is used, and at the
 * last attempt of a day.
 * @param actor author for the audit record
 * @returns 0 if the code is right; otherwise the person's failures within the hour
 * @throws Problema 429 after too many attempts within a day
 */
export async function spendSecondFactor(
  query: Query,
  deps: SecondFactorDeps,
  actor: Actor,
  { persona_id, codigo }: { persona_id: string; codigo: string },
): Promise<number> {
  const now = deps.clock()
  const [intento] = await query(ATTEMPT, { persona_id, now })
  const { secreto, intentos, intentos_desde, nombre, correo } = intento!
  if (intentos > ATTEMPTS_PER_DAY) throw tooManyAttempts(intentos_desde!, now)
  const typedCode = withoutSeparators(codigo)
  const paso = secreto && (await stepOf(deps, persona_id, secreto, typedCode))
  if (typeof paso === 'number') {
    const [acceptedRow] = await query(ACCEPT_TOTP, { persona_id, paso, now })
    if (acceptedRow) return 0
  } else if (await spendRecoveryCode(query, persona_id, typedCode)) {
    const { codigos } = await readFactors(query, persona_id)
    await notifySecondFactor(query, deps, { nombre, correo }, { que: 'recuperacion', quedan: codigos })
    return 0
  }
  const locks = intentos === ATTEMPTS_PER_DAY
  if (locks) await notifySecondFactor(query, deps, { nombre, correo }, { que: 'bloqueado', quedan: 0 })
  return recordFailure(query, deps, actor, { persona_id, con: 'codigo', locks })
}

async function spendRecoveryCode(query: Query, persona_id: string, typedCode: string): Promise<boolean> {
  const huella = recoveryCodeDigest(persona_id, normalizeBase32(typedCode))
  const [spentRow] = await query(SPEND_CODE, { persona_id, huella })
  if (!spentRow) return false
  await query(FORGIVE, { persona_id })
  return true
}

function tooManyAttempts(from: Date, now: Date): Problema {
  const delaySeconds = Math.max(1, Math.ceil((from.getTime() + DAY_MS - now.getTime()) / 1_000))
  const mensaje = `Falló ${ATTEMPTS_PER_DAY} veces su segundo factor. Entre con una passkey, espere un día, o pida a quien administra que lo restablezca.`
  return new Problema('demasiadas_solicitudes', mensaje, { headers: { 'Retry-After': String(delaySeconds) } })
}

/** Returns the 401 for a second factor that is not valid. The answer does not give the reason. */
export const wrongSecondFactor = () =>
  new Problema(
    'segundo_factor_incorrecto',
    'El código no vale. Espere el siguiente de su app y repita, o use uno de recuperación.',
    { headers: PERSON_CHALLENGE },
  )

/** Returns the 409 for a request that would leave a person without the second factor that the person needs. */
export const lastSecondFactor = () =>
  new Problema(
    'ultimo_segundo_factor',
    'Es su último segundo factor. Agregue antes otro, una passkey o una app de códigos.',
  )

const READ_TOTP = statement<{ persona_id: string }, Pick<segundo_factor, 'creado_en' | 'usado_en'>>(
  'equipo.readTotp',
  'central',
  'select creado_en, usado_en from segundo_factor where persona_id = :persona_id and secreto is not null',
)

/** Returns the second factor of a person in the contract's form. */
export async function presentSecondFactor(query: Query, persona_id: string): Promise<SegundoFactor> {
  const { in_company, passkeys, codigos } = await readFactors(query, persona_id)
  const [app] = await query(READ_TOTP, { persona_id })
  const totp = app ? { creado_en: app.creado_en!.toISOString(), usado_en: app.usado_en?.toISOString() ?? null } : null
  return { obligatorio: in_company, totp, passkeys, codigos_de_recuperacion: codigos }
}
