import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { PERSON_CHALLENGE } from '../../../api/http/authenticate.ts'
import { type Db, statement } from '../../../data/db.ts'
import type { passkey, reto_de_passkey } from '../../../generated/contract/prisma/client.ts'
import type { Passkey, PasskeyParaAgregar, PasskeyParaEntrar } from '../../../generated/contract/types/index.ts'
import { newToken, tokenHash } from '../../../platform/codes/token.ts'
import { Problema } from '../../../platform/errors.ts'
import { MINUTE_MS } from '../../../platform/time/units.ts'
import type { Deps } from '../../deps.ts'
import { NOT_FUTURE } from '../mailCode.ts'

/** Maximum passkeys of a person. */
export const MAX_PASSKEYS = 10
/** Minutes for which a challenge is valid. */
const CHALLENGE_MINUTES = 5

type PasskeyRow = Omit<passkey, 'contador' | 'id'>

/**
 * Returns the domain and origin for which passkeys are valid (the relying party). Undefined if the pages are reached by
 * an IP address, because WebAuthn does not allow it.
 */
export function relyingParty(urlDePersonas: string): { dominio: string; origen: string } | undefined {
  const { hostname, origin } = new URL(urlDePersonas || 'http://localhost')
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? { dominio: hostname, origen: origin } : undefined
}

/**
 * Requires that the pages are reached by a domain.
 * @throws Problema 409
 */
export function requireDomain({ settings }: Pick<Deps, 'settings'>): string {
  const party = relyingParty(settings.urlDePersonas)
  if (party) return party.dominio
  throw passkeyNotAdmitted('La dirección del servicio es un número, y los navegadores no admiten passkeys en ella.')
}

/** Returns the 409 for a person who may have no more passkeys, or a service that cannot have any. */
const passkeyNotAdmitted = (mensaje: string) => new Problema('passkey_no_admitida', mensaje)

/** Returns the 409 for a person who already has the maximum of passkeys. */
export const tooManyPasskeys = () =>
  passkeyNotAdmitted(`Ya tiene ${MAX_PASSKEYS} passkeys. Quite una antes de agregar otra.`)

/** Returns the 401 for a passkey that is not valid. The answer does not give the reason. */
export const wrongPasskey = () =>
  new Problema('passkey_incorrecta', 'La passkey no vale aquí. Pida otro reto y repita, o entre con un código.', {
    headers: PERSON_CHALLENGE,
  })

/**
 * Derives the challenge from a browser's token. The database stores only a digest of the token, from which no challenge
 * can be derived.
 */
const challengeOf = (token: string) => createHash('sha256').update(`passkey ${token}`).digest('base64url')

const REQUEST = statement<Pick<reto_de_passkey, 'huella' | 'persona_id'> & { now: Date; vence_en: Date }>(
  'equipo.requestChallenge',
  'central',
  `insert into reto_de_passkey (huella, persona_id, creado_en, vence_en)
   values (:huella, :persona_id, :now, :vence_en)`,
)

/**
 * Creates a challenge that can be answered once, by the browser that gets the cookie.
 * @param persona_id person who adds a passkey; null for a challenge that any passkey may answer
 */
export async function writeChallenge(
  { db, clock, browser }: Pick<Deps, 'db' | 'clock' | 'browser'>,
  persona_id: string | null,
): Promise<{ reto: string; vence_en: string; headers: { 'Set-Cookie': string } }> {
  const token = newToken()
  const now = clock()
  const vence_en = new Date(now.getTime() + CHALLENGE_MINUTES * MINUTE_MS)
  await db.query(REQUEST, { huella: tokenHash(token), persona_id, now, vence_en })
  const headers = { 'Set-Cookie': browser.setChallenge(token, CHALLENGE_MINUTES * 60) }
  return { reto: challengeOf(token), vence_en: vence_en.toISOString(), headers }
}

/** Deletes a challenge even if it has expired, so that it does not become valid again when the clock is set back. */
const SPEND = statement<Pick<reto_de_passkey, 'huella' | 'persona_id'> & { now: Date }, { is_active: boolean }>(
  'equipo.spendChallenge',
  'central',
  `delete from reto_de_passkey where huella = :huella and persona_id is not distinct from :persona_id::uuid
   returning vence_en > :now and ${NOT_FUTURE} as is_active`,
)

/**
 * Takes the challenge of a browser, so that it can be answered only once, even if the answer turns out wrong. Undefined
 * if the browser has no valid challenge.
 */
async function spendChallenge(
  { db, clock, browser }: Pick<Deps, 'db' | 'clock' | 'browser'>,
  cookie: string,
  persona_id: string | null,
): Promise<string | undefined> {
  const token = browser.readChallenge(cookie)
  if (token === undefined) return undefined
  const huella = tokenHash(token)
  const [spentChallenge] = await db.query(SPEND, { huella, persona_id, now: clock() })
  return spentChallenge?.is_active ? challengeOf(token) : undefined
}

/** Identifier of a person that authenticators store. */
export const userHandleOf = (personaId: string) =>
  Buffer.from(personaId.replaceAll('-', ''), 'hex').toString('base64url')

type PasskeyDeps = Pick<Deps, 'db' | 'clock' | 'browser' | 'settings'>

/** Loads the library at first use, because few requests need it. */
const loadWebAuthn = () => import('@simplewebauthn/server')

/** Formats of attestations without certificates: none, and self-attestation (WebAuthn 3, 5.1.3 and 8.2). */
const WITHOUT_CERTIFICATES: ReadonlySet<string> = new Set(['none', 'packed'])

/** Passkey that an authenticator has just created. */
export type NewPasskey = Pick<PasskeyRow, 'credencial' | 'clave' | 'sincronizada'> & { contador: number }

/**
 * Verifies the answer of an authenticator that created a passkey, and uses up the challenge.
 * @returns undefined if the answer is not valid for any reason
 */
export async function verifyRegistration(
  deps: PasskeyDeps,
  { cookie, personaId }: { cookie: string; personaId: string },
  { credencial, datos_cliente, atestacion }: PasskeyParaAgregar,
): Promise<NewPasskey | undefined> {
  const party = relyingParty(deps.settings.urlDePersonas)
  const reto = await spendChallenge(deps, cookie, personaId)
  if (!party || reto === undefined) return undefined
  const { verifyRegistrationResponse } = await loadWebAuthn()
  const { decodeAttestationObject, isoBase64URL } = await import('@simplewebauthn/server/helpers')
  try {
    const attestation = decodeAttestationObject(isoBase64URL.toBuffer(atestacion))
    // For an attestation with certificates, the library would ask hosts that the certificates name whether they are
    // revoked.
    if (!WITHOUT_CERTIFICATES.has(attestation.get('fmt')) || attestation.get('attStmt').get('x5c')) return undefined
    const { registrationInfo } = await verifyRegistrationResponse({
      response: {
        id: credencial,
        rawId: credencial,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: datos_cliente, attestationObject: atestacion },
      },
      expectedChallenge: reto,
      expectedOrigin: party.origen,
      expectedRPID: party.dominio,
      requireUserVerification: true,
    })
    if (!registrationInfo) return undefined
    const { credential, credentialBackedUp: sincronizada } = registrationInfo
    const { id, publicKey, counter: contador } = credential
    return { credencial: bytesOf(id), clave: new Uint8Array(publicKey), contador, sincronizada }
  } catch {
    // The library throws an error for each kind of invalid answer.
    return undefined
  }
}

const bytesOf = (text: string) => new Uint8Array(Buffer.from(text, 'base64url'))

const FIND = statement<Pick<PasskeyRow, 'credencial'>, Pick<PasskeyRow, 'persona_id' | 'passkey' | 'clave'>>(
  'equipo.findPasskey',
  'central',
  'select persona_id, passkey, clave from passkey where credencial = :credencial',
)

/** Passkey that signed a challenge, with its new counter. */
export interface Signer {
  persona_id: string
  passkey: string
  contador: number
  sincronizada: boolean
}

/**
 * Verifies a signature with a passkey, and takes the challenge. The counter is compared when it is written
 * ({@link USE}), because of parallel requests.
 * @returns undefined if the signature is not valid, for whatever reason
 */
export async function verifySignature(
  deps: PasskeyDeps,
  cookie: string,
  { credencial, datos_cliente, datos_autenticador, firma, usuario }: PasskeyParaEntrar,
): Promise<Signer | undefined> {
  const party = relyingParty(deps.settings.urlDePersonas)
  const [row] = await deps.db.query(FIND, { credencial: bytesOf(credencial) })
  const reto = await spendChallenge(deps, cookie, null)
  if (!party || reto === undefined || !row || usuario !== userHandleOf(row.persona_id)) return undefined
  const { verifyAuthenticationResponse } = await loadWebAuthn()
  try {
    const { verified, authenticationInfo } = await verifyAuthenticationResponse({
      response: {
        id: credencial,
        rawId: credencial,
        type: 'public-key',
        clientExtensionResults: {},
        response: { clientDataJSON: datos_cliente, authenticatorData: datos_autenticador, signature: firma },
      },
      expectedChallenge: reto,
      expectedOrigin: party.origen,
      expectedRPID: party.dominio,
      credential: { id: credencial, publicKey: new Uint8Array(row.clave), counter: 0 },
      requireUserVerification: true,
    })
    if (!verified) return undefined
    const { newCounter: contador, credentialBackedUp: sincronizada } = authenticationInfo
    return { persona_id: row.persona_id, passkey: row.passkey, contador, sincronizada }
  } catch {
    // The library throws an error for each kind of invalid answer.
    return undefined
  }
}

/**
 * Stores that a passkey was used. Changes no row if the passkey's counter did not grow: the passkey may have been
 * copied. Authenticators without counter always send 0.
 */
export const USE = statement<Omit<Signer, 'persona_id'> & { now: Date }, { passkey: string }>(
  'equipo.usePasskey',
  'central',
  `update passkey set contador = :contador::bigint, sincronizada = :sincronizada, usado_en = :now
   where passkey = :passkey and (contador < :contador::bigint or (contador = 0 and :contador::bigint = 0))
   returning passkey`,
)

/** Columns of a passkey that API responses contain. */
export type PasskeyVisible = Pick<PasskeyRow, 'passkey' | 'dispositivo' | 'sincronizada' | 'creado_en' | 'usado_en'>

const LIST = statement<{ persona_id: string }, PasskeyVisible & Pick<PasskeyRow, 'credencial'>>(
  'equipo.listPasskeys',
  'central',
  `select passkey, dispositivo, sincronizada, creado_en, usado_en, credencial from passkey
   where persona_id = :persona_id order by creado_en, id`,
)

/** Returns the passkeys of a person, oldest first. */
export const readPasskeys = (db: Pick<Db, 'query'>, persona_id: string) => db.query(LIST, { persona_id })

/** Returns a passkey in the contract's form. */
export const presentPasskey = ({
  passkey,
  dispositivo,
  sincronizada,
  creado_en,
  usado_en,
}: PasskeyVisible): Passkey => ({
  passkey,
  dispositivo,
  sincronizada,
  creado_en: creado_en.toISOString(),
  usado_en: usado_en?.toISOString() ?? null,
})
