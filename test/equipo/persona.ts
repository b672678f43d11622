import { openDb } from '../../server/data/db.ts'
import { readCorreo } from '../../server/domain/correos/correo.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { MASTER_KEY, type TestEnvironment } from '../environment.ts'
import { createTestApp, type TestApp } from './totp.ts'

/** Path of the operations about a session. */
export const SESION = '/operaciones/v1/sesion'

type RequestOptions = NonNullable<Parameters<TestEnvironment['request']>[2]>

const secrets = createSecrets([Buffer.from(MASTER_KEY, 'base64')])

/** A mail as its row has it while it waits. */
export async function findPendingCorreo(
  { databaseUrl }: Pick<TestEnvironment, 'databaseUrl'>,
  tipo: string,
  address: string,
) {
  const db = openDb(databaseUrl, { connections: 1 })
  try {
    const { rows } = await db.pool.query(
      `select id, contenido from correo where tipo = $1 and contenido is not null order by creado_en desc, id desc`,
      [tipo],
    )
    for (const row of rows) {
      const opened = readCorreo(secrets, row)
      // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
      if (opened?.para === address) return opened.datos as any
    }
    return undefined
  } finally {
    await db.close()
  }
}

/** From `Set-Cookie` to what a browser sends back. */
export const toCookieHeader = (headers: Headers) =>
  headers
    .getSetCookie()
    .map((setCookie) => setCookie.split(';')[0]!)
    .join('; ')

let correoCount = 0
export const createCorreoAddress = () => `persona${++correoCount}.${process.pid}@ejemplo.com`

/** A person who accepted an invitation, with its session. */
export interface TestPersona {
  correo: string
  persona: string
  membresia: string
  sesion: string
  cookie: string
  /** Cookie by which the browser is known. */
  known: string
  /** App that gives codes; undefined if the person has none. */
  app: TestApp | undefined
  /** As its pages do. */
  request(
    method: string,
    path: string,
    body?: unknown,
    options?: RequestOptions,
  ): ReturnType<TestEnvironment['request']>
}

/** Calls as the page of a browser with these cookies. */
export const requestFromPage = (
  environment: TestEnvironment,
  cookie: string,
  [method, path, body]: [string, string, unknown?],
  options: RequestOptions = {},
) =>
  environment.request(method, path, {
    body,
    ...options,
    headers: { ...(cookie ? { Cookie: cookie } : {}), Origin: environment.url, ...options.headers },
  })

/** Who a person of a test is. */
interface NewPersona {
  correo?: string
  nombre?: string
  /** By default all scopes of the courier company. */
  alcances?: string[]
  comercio?: string
  /** False for a person without an app. By default, a person of the courier company has one. */
  withApp?: boolean
}

export async function createTestPersona(
  environment: TestEnvironment,
  { correo = createCorreoAddress(), nombre = 'Ana Pérez', withApp, ...a }: NewPersona = {},
): Promise<TestPersona> {
  const alcances = a.alcances ?? ['ver', 'operar', 'caja', 'administrar']
  const inviteResponse = await environment.asOperador('POST', '/invitaciones', { correo, nombre, ...a, alcances })
  if (inviteResponse.status !== 201) throw new Error(`an invitation was answered ${inviteResponse.status}`)
  const { enlace } = await findPendingCorreo(environment, 'invitacion', correo)
  const token = enlace.split('/').at(-1)
  const codigo = inviteResponse.body.codigo ?? undefined
  const acceptResponse = await requestFromPage(environment, '', [
    'POST',
    '/operaciones/v1/sesion/invitacion',
    { token, codigo },
  ])
  if (acceptResponse.status !== 201) throw new Error(`accepting was answered ${acceptResponse.status}`)
  const { persona, membresia, sesion } = acceptResponse.body
  const [first = '', knownCookie = ''] = toCookieHeader(acceptResponse.headers).split('; ')
  const addedApp = (withApp ?? a.comercio === undefined) ? await addApp(environment, first) : undefined
  const { app, cookie } = addedApp ?? { app: undefined, cookie: first }
  const request: TestPersona['request'] = (method, path, body, options) =>
    requestFromPage(environment, cookie, [method, path, body], options)
  return { correo, persona, membresia, sesion, cookie, known: knownCookie, app, request }
}

/** A person of a new merchant, without a second factor. */
export async function createComercioPersona(environment: TestEnvironment): Promise<TestPersona> {
  const { comercio } = await environment.createComercio()
  return createTestPersona(environment, { comercio, alcances: ['despacho'] })
}

/** Asks, as a person, to invite another one who administers. Another person has to administer, too. */
export async function requestInvitacionAprobacion(
  { request }: Pick<TestPersona, 'request'>,
  correo = createCorreoAddress(),
) {
  const body = { correo, nombre: 'Eva Ruiz', alcances: ['administrar'] }
  const aprobacionResponse = await request('POST', '/operaciones/v1/invitaciones', body)
  if (aprobacionResponse.status !== 202)
    throw new Error(`asking for an approval was answered ${aprobacionResponse.status}`)
  return { correo, aprobacion: aprobacionResponse.body.aprobacion as string, body: aprobacionResponse.body }
}

/** Asks for a code, and returns it with the cookie of the browser that asked. */
export async function requestCode(environment: TestEnvironment, correo: string, cookie = '') {
  const codeResponse = await requestFromPage(environment, cookie, ['POST', '/operaciones/v1/sesion/codigo', { correo }])
  if (codeResponse.status !== 202) throw new Error(`asking for a code was answered ${codeResponse.status}`)
  const datos = await findPendingCorreo(environment, 'codigo', correo.toLowerCase())
  return { codigo: datos?.codigo as string | undefined, signInCookie: toCookieHeader(codeResponse.headers) }
}

export const signInWithCode = (
  environment: TestEnvironment,
  signInCookie: string,
  codigo: unknown,
  options?: RequestOptions,
) => requestFromPage(environment, signInCookie, ['POST', '/operaciones/v1/sesion', { codigo }], options)

/** Invites, and accepts with the token of the mail. Called once at the top of a test file. */
export function useInvitaciones(environment: TestEnvironment) {
  /** Codes that the inviter got, by the token of the mail. */
  const codigos = new Map<string, string>()
  const tokenOf = async (correo: string): Promise<string> =>
    (await findPendingCorreo(environment, 'invitacion', correo.toLowerCase())).enlace.split('/').at(-1)
  return {
    aceptar: (token: string, moreFields: object = {}, cookie = '') =>
      requestFromPage(environment, cookie, [
        'POST',
        '/operaciones/v1/sesion/invitacion',
        { token, codigo: codigos.get(token), ...moreFields },
      ]),
    async invitar(body: object) {
      const invitation = { nombre: 'Ana Pérez', alcances: ['ver'], ...body }
      const inviteResponse = await environment.asOperador('POST', '/invitaciones', invitation)
      if (inviteResponse.status === 201 && inviteResponse.body.codigo !== null)
        codigos.set(await tokenOf(inviteResponse.body.correo), inviteResponse.body.codigo)
      return inviteResponse
    },
    tokenOf,
  }
}

/** Adds an app to the person of a session. Returns it with the session's new cookie. */
export async function addApp(environment: TestEnvironment, cookie: string) {
  const registration = await requestFromPage(environment, cookie, ['POST', `${SESION}/totp/registro`])
  if (registration.status !== 200) throw new Error(`beginning an app was answered ${registration.status}`)
  const app = createTestApp(environment, registration.body.secreto)
  const addResponse = await requestFromPage(environment, cookie, ['POST', `${SESION}/totp`, { codigo: app.codigo() }])
  if (addResponse.status !== 201) throw new Error(`adding an app was answered ${addResponse.status}`)
  return { app, addResponse, cookie: toCookieHeader(addResponse.headers) || cookie }
}

/** Signs in with a code by mail and, if it is asked for, the next code of the app. */
export async function signInFully(environment: TestEnvironment, { correo, app }: TestPersona, knownCookie = '') {
  const { codigo, signInCookie } = await requestCode(environment, correo)
  const signedIn = await signInWithCode(environment, `${knownCookie}; ${signInCookie}`, codigo)
  if (signedIn.status !== 202) return signedIn
  return endSignIn(environment, `${knownCookie}; ${toCookieHeader(signedIn.headers)}`, app!.codigo())
}

/** Ends a sign-in with the second factor, in the browser with this cookie. */
export const endSignIn = (environment: TestEnvironment, cookie: string, codigo: unknown) =>
  requestFromPage(environment, cookie, ['POST', `${SESION}/segundo-factor`, { codigo }])

/** Makes recovery codes for the person of a session. */
export async function makeRecoveryCodes({ request }: Pick<TestPersona, 'request'>): Promise<string[]> {
  const codesResponse = await request('POST', `${SESION}/codigos-de-recuperacion`)
  if (codesResponse.status !== 201) throw new Error(`making recovery codes was answered ${codesResponse.status}`)
  return codesResponse.body.codigos
}

/** Asks, as a person, to change its address. Returns the code that the new address gets. */
export async function requestOtherCorreo(
  environment: TestEnvironment,
  { request }: Pick<TestPersona, 'request'>,
  correo: string,
): Promise<string> {
  const codeResponse = await request('POST', `${SESION}/correo`, { correo })
  if (codeResponse.status !== 202) throw new Error(`asking for another address was answered ${codeResponse.status}`)
  return (await findPendingCorreo(environment, 'correo_nuevo', correo)).codigo
}
