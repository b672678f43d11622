import { type Db, statement } from '../../../data/db.ts'
import type { segundo_factor } from '../../../generated/contract/prisma/client.ts'
import { keyIdOf, reseal, seal, unsealIfKnown } from '../../../platform/sealing.ts'
import type { Deps } from '../../deps.ts'

/** Seconds of a time step (RFC 6238, 4.1). */
const STEP = 30
/** Bytes of a secret: the length of a SHA-1 digest (RFC 4226, 4). */
const BYTES = 20

/** Loads the library at first use, because few requests need it. */
const loadOtplib = () => import('otplib')

const sealPlaceOf = (persona_id: string) => `totp ${persona_id}`

/** Encrypts an app's secret for the row of its person. */
const sealSecret = (secrets: Deps['secretos'], persona_id: string, secret: string) =>
  seal(secrets, 'segundo_factor', sealPlaceOf(persona_id), Buffer.from(secret))

/** Creates a secret for an app. Returns it in base32, as the text of a QR code, and encrypted. */
export async function newTotpSecret(
  { secretos, settings }: Pick<Deps, 'secretos' | 'settings'>,
  { personaId, correo }: { personaId: string; correo: string },
) {
  const { generateSecret } = await loadOtplib()
  const secreto = generateSecret({ length: BYTES })
  return {
    secreto,
    uri: await uriOf(settings.brand.nombre, correo, secreto),
    sealed: sealSecret(secretos, personaId, secreto),
  }
}

const uriOf = async (issuer: string, label: string, secret: string) =>
  (await loadOtplib()).generateURI({ issuer, label, secret })

/**
 * Returns the time step of a code: the present one, the one before or the next. Undefined if the code is wrong, or if
 * the master key of the secret no longer exists.
 * @throws Error if the secret was altered
 */
export async function stepOf(
  { secretos, clock }: Pick<Deps, 'secretos' | 'clock'>,
  persona_id: string,
  sealed: Uint8Array,
  code: string,
): Promise<number | undefined> {
  if (!/^[0-9]{6}$/.test(code)) return undefined
  const secret = unsealIfKnown(secretos, 'segundo_factor', sealPlaceOf(persona_id), sealed)?.toString()
  if (secret === undefined) return undefined
  const { verify } = await loadOtplib()
  const epoch = Math.floor(clock().getTime() / 1_000)
  const verified = await verify({
    strategy: 'totp',
    secret,
    token: code,
    epoch,
    period: STEP,
    epochTolerance: STEP,
  })
  return verified.valid ? Math.floor(epoch / STEP) + verified.delta : undefined
}

/** Removes spaces and hyphens, which apps insert for readability. */
export const withoutSeparators = (code: string) => code.replace(/[\s-]/g, '')

const ALL_SECRETOS = statement<object, Pick<segundo_factor, 'persona_id' | 'secreto'>>(
  'equipo.allSecretos',
  'central',
  'select persona_id, secreto from segundo_factor where secreto is not null',
)

const REENCRYPT = statement<{ persona_id: string; antes: Uint8Array; secreto: Uint8Array }>(
  'equipo.reencrypt',
  'central',
  'update segundo_factor set secreto = :secreto where persona_id = :persona_id and secreto = :antes',
)

/** Re-encrypts secrets of apps that an older master key encrypted. */
export async function reencryptTotp({ db, secretos, log }: Pick<Deps, 'secretos' | 'log'> & { db: Db }): Promise<void> {
  const { kid } = secretos.current('segundo_factor')
  let reencryptedCount = 0
  for (const { persona_id, secreto: antes } of await db.query(ALL_SECRETOS)) {
    if (antes === null || keyIdOf(antes) === kid) continue
    const secreto = reseal(secretos, 'segundo_factor', sealPlaceOf(persona_id), antes)
    if (secreto) await db.query(REENCRYPT, { persona_id, antes, secreto })
    else log.error({ kid: keyIdOf(antes) }, 'MASTER_KEYS lacks the key of the secret of an app')
    if (secreto) reencryptedCount++
  }
  if (reencryptedCount > 0)
    log.info({ secretos: reencryptedCount }, 'secrets of apps encrypted with the present master key')
}
