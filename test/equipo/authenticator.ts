import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { beforeEach } from 'vitest'
import { HOUR_MS } from '../../server/platform/time/units.ts'
import { type TestEnvironment, useEnvironment } from '../environment.ts'
import { requestFromPage, type TestPersona, toCookieHeader } from './persona.ts'

/** Chromium's virtual authenticator: the phone's own, which keeps passkeys and verifies its person. */
export const VIRTUAL_AUTHENTICATOR = {
  options: {
    protocol: 'ctap2',
    transport: 'internal',
    hasResidentKey: true,
    hasUserVerification: true,
    isUserVerified: true,
    automaticPresenceSimulation: true,
  },
} as const

/** Path of the operations about passkeys. */
export const PASSKEYS_PATH = '/operaciones/v1/sesion/passkeys'
/** Status and code of the answer to a passkey that is not valid. */
export const WRONG_PASSKEY = [401, 'passkey_incorrecta']
const USER_PRESENT = 0x01
const USER_VERIFIED = 0x04
const CON_CREDENCIAL = 0x40

const sha256 = (datos: string | Uint8Array) => createHash('sha256').update(datos).digest()
const text = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** What a page or an authenticator does otherwise than it should. */
export interface Deviations {
  origen?: string
  dominio?: string
  reto?: string
  tipo?: string
  /** False if the authenticator did not verify the person. */
  isVerified?: boolean
  contador?: number
  fmt?: string
  usuario?: string
  credencial?: string
}

/** Answers that a browser made for another site. */
export const OF_OTHER_SITE: readonly Deviations[] = [{ origen: 'https://malo.example' }, { dominio: 'malo.example' }]

/** An authenticator with one key, as WebAuthn describes it. */
export class Authenticator {
  readonly credencial = text(randomBytes(16))
  readonly #resultsByKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  usuario = ''
  contador = 0

  #datos(
    dominio: string,
    { isVerified = true, contador = this.contador }: Deviations,
    credentialData = Buffer.alloc(0),
  ) {
    const flags = USER_PRESENT | (isVerified ? USER_VERIFIED : 0) | (credentialData.length > 0 ? CON_CREDENCIAL : 0)
    const header = Buffer.alloc(5)
    header.writeUInt8(flags)
    header.writeUInt32BE(contador, 1)
    return Buffer.concat([sha256(dominio), header, credentialData])
  }

  create(
    { reto, dominio, usuario }: Record<'reto' | 'dominio' | 'usuario', string>,
    origen: string,
    bad: Deviations = {},
  ) {
    this.usuario = usuario
    const { x = '', y = '' } = this.#resultsByKey.publicKey.export({ format: 'jwk' })
    const cose = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ])
    const id = Buffer.from(this.credencial, 'base64url')
    const credencial = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, isoCBOR.encode(cose)])
    const authData = this.#datos(bad.dominio ?? dominio, bad, credencial)
    const atestacion = isoCBOR.encode(
      // biome-ignore lint/suspicious/noExplicitAny: a map of CBOR has values of several types
      new Map<string, any>([
        ['fmt', bad.fmt ?? 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    )
    const datos_cliente = this.#client(bad.tipo ?? 'webauthn.create', bad.reto ?? reto, bad.origen ?? origen)
    return { credencial: this.credencial, datos_cliente: text(datos_cliente), atestacion: text(atestacion) }
  }

  answerChallenge({ reto, dominio }: Record<'reto' | 'dominio', string>, origen: string, bad: Deviations = {}) {
    const datos = this.#datos(bad.dominio ?? dominio, bad)
    const client = this.#client(bad.tipo ?? 'webauthn.get', bad.reto ?? reto, bad.origen ?? origen)
    const firma = sign('sha256', Buffer.concat([datos, sha256(client)]), this.#resultsByKey.privateKey)
    return {
      credencial: bad.credencial ?? this.credencial,
      datos_cliente: text(client),
      datos_autenticador: text(datos),
      firma: text(firma),
      usuario: bad.usuario ?? this.usuario,
    }
  }

  #client = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** Address at which persons open the pages of the embedded default. */
export const originOf = ({ url }: Pick<TestEnvironment, 'url'>) => url.replace('127.0.0.1', 'localhost')

/** Begins to add a passkey: the cookies and the body that end it. */
export async function prepareRegistration(
  environment: TestEnvironment,
  persona: TestPersona,
  bad: Deviations = {},
  autenticador = new Authenticator(),
) {
  const { status, body: registro, headers } = await persona.request('POST', `${PASSKEYS_PATH}/registro`)
  if (status !== 200) throw new Error(`beginning a passkey was answered ${status}`)
  const body = autenticador.create(registro, originOf(environment), bad)
  return { autenticador, registro, body, cookie: `${persona.cookie}; ${toCookieHeader(headers)}` }
}

/** Adds a passkey to a person. */
export async function addPasskey(environment: TestEnvironment, persona: TestPersona) {
  const { autenticador, cookie, body } = await prepareRegistration(environment, persona)
  const addResponse = await requestFromPage(environment, cookie, ['POST', PASSKEYS_PATH, body])
  if (addResponse.status !== 201) throw new Error(`adding a passkey was answered ${addResponse.status}`)
  // A session whose second factor was missing goes on with another token.
  const newCookie = /guias_sesion=[\w-]+/.exec(toCookieHeader(addResponse.headers))?.[0] ?? persona.cookie
  const request = (method: string, path: string, sent?: unknown) =>
    requestFromPage(environment, newCookie, [method, path, sent])
  return { autenticador, passkey: addResponse.body.passkey as string, addResponse, cookie: newCookie, request }
}

/** Asks for a challenge in a browser and signs it: the cookie and the body that end it. */
export async function signChallenge(environment: TestEnvironment, autenticador: Authenticator, bad: Deviations = {}) {
  const { status, body: reto, headers } = await requestFromPage(environment, '', ['POST', `${PASSKEYS_PATH}/reto`])
  if (status !== 200) throw new Error(`asking for a challenge was answered ${status}`)
  return { cookie: toCookieHeader(headers), body: autenticador.answerChallenge(reto, originOf(environment), bad) }
}

/** Signs in with what {@link signChallenge} gives. */
export const signInWithPasskey = (
  environment: TestEnvironment,
  { cookie, body }: Awaited<ReturnType<typeof signChallenge>>,
) => requestFromPage(environment, cookie, ['POST', `${PASSKEYS_PATH}/entrada`, body])

type Respuesta = Pick<Awaited<ReturnType<typeof requestFromPage>>, 'status' | 'body'>

/** Status and code of an answer. */
export const toStatusAndCode = ({ status, body }: Respuesta) => [status, body.codigo]

/** An environment in which the limits of networks are full again before each test. Called once at the top of a file. */
export function usePasskeys() {
  const limits = { now: 0 }
  const environment = useEnvironment({ limitsClock: () => limits.now })
  beforeEach(() => {
    limits.now += HOUR_MS
  })
  const agregar = (cookie: string, body: unknown) => requestFromPage(environment, cookie, ['POST', PASSKEYS_PATH, body])
  return { environment, agregar }
}
