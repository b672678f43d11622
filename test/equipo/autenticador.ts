import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { isoCBOR } from '@simplewebauthn/server/helpers'
import { beforeEach } from 'vitest'
import { HORA } from '../duraciones.ts'
import { type Entorno, usarEntorno } from '../entorno.ts'
import { galletas, type PersonaDePrueba, porPagina } from './persona.ts'

/** Chromium's virtual authenticator: the phone's own, which keeps passkeys and verifies its person. */
export const AUTENTICADOR = {
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
export const RUTA = '/operaciones/v1/sesion/passkeys'
/** Status and code of the answer to a passkey that is not valid. */
export const INCORRECTA = [401, 'passkey_incorrecta']
const PRESENTE = 0x01
const VERIFICADA = 0x04
const CON_CREDENCIAL = 0x40

const sha256 = (datos: string | Uint8Array) => createHash('sha256').update(datos).digest()
const texto = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

/** What a page or an authenticator does otherwise than it should. */
export interface Desvios {
  origen?: string
  dominio?: string
  reto?: string
  tipo?: string
  /** False if the authenticator did not verify the person. */
  verificada?: boolean
  contador?: number
  fmt?: string
  usuario?: string
  credencial?: string
}

/** An authenticator with one key, as WebAuthn describes it. */
export class Autenticador {
  readonly credencial = texto(randomBytes(16))
  readonly #claves = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  usuario = ''
  contador = 0

  #datos(dominio: string, { verificada = true, contador = this.contador }: Desvios, mas = Buffer.alloc(0)) {
    const banderas = PRESENTE | (verificada ? VERIFICADA : 0) | (mas.length > 0 ? CON_CREDENCIAL : 0)
    const cabeza = Buffer.alloc(5)
    cabeza.writeUInt8(banderas)
    cabeza.writeUInt32BE(contador, 1)
    return Buffer.concat([sha256(dominio), cabeza, mas])
  }

  crear({ reto, dominio, usuario }: Record<'reto' | 'dominio' | 'usuario', string>, origen: string, mal: Desvios = {}) {
    this.usuario = usuario
    const { x = '', y = '' } = this.#claves.publicKey.export({ format: 'jwk' })
    const cose = new Map<number, number | Uint8Array>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, 'base64url')],
      [-3, Buffer.from(y, 'base64url')],
    ])
    const id = Buffer.from(this.credencial, 'base64url')
    const credencial = Buffer.concat([Buffer.alloc(16), Buffer.from([0, id.length]), id, isoCBOR.encode(cose)])
    const authData = this.#datos(mal.dominio ?? dominio, mal, credencial)
    const atestacion = isoCBOR.encode(
      // biome-ignore lint/suspicious/noExplicitAny: a map of CBOR has values of several types
      new Map<string, any>([
        ['fmt', mal.fmt ?? 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]),
    )
    const datos_cliente = this.#cliente(mal.tipo ?? 'webauthn.create', mal.reto ?? reto, mal.origen ?? origen)
    return { credencial: this.credencial, datos_cliente: texto(datos_cliente), atestacion: texto(atestacion) }
  }

  firmar({ reto, dominio }: Record<'reto' | 'dominio', string>, origen: string, mal: Desvios = {}) {
    const datos = this.#datos(mal.dominio ?? dominio, mal)
    const cliente = this.#cliente(mal.tipo ?? 'webauthn.get', mal.reto ?? reto, mal.origen ?? origen)
    const firma = sign('sha256', Buffer.concat([datos, sha256(cliente)]), this.#claves.privateKey)
    return {
      credencial: mal.credencial ?? this.credencial,
      datos_cliente: texto(cliente),
      datos_autenticador: texto(datos),
      firma: texto(firma),
      usuario: mal.usuario ?? this.usuario,
    }
  }

  #cliente = (type: string, challenge: string, origin: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }))
}

/** Address at which persons open the pages of the embedded default. */
export const origenDe = ({ url }: Pick<Entorno, 'url'>) => url.replace('127.0.0.1', 'localhost')

/** Begins to add a passkey: the cookies and the body that end it. */
export async function prepararRegistro(
  entorno: Entorno,
  persona: PersonaDePrueba,
  mal: Desvios = {},
  autenticador = new Autenticador(),
) {
  const { status, cuerpo: registro, cabeceras } = await persona.pedir('POST', `${RUTA}/registro`)
  if (status !== 200) throw new Error(`beginning a passkey was answered ${status}`)
  const cuerpo = autenticador.crear(registro, origenDe(entorno), mal)
  return { autenticador, registro, cuerpo, cookie: `${persona.cookie}; ${galletas(cabeceras)}` }
}

/** Adds a passkey to a person. */
export async function agregarPasskey(entorno: Entorno, persona: PersonaDePrueba) {
  const { autenticador, cookie, cuerpo } = await prepararRegistro(entorno, persona)
  const agregada = await porPagina(entorno, cookie, ['POST', RUTA, cuerpo])
  if (agregada.status !== 201) throw new Error(`adding a passkey was answered ${agregada.status}`)
  // A session whose second factor was missing goes on with another token.
  const nueva = /guias_sesion=[\w-]+/.exec(galletas(agregada.cabeceras))?.[0] ?? persona.cookie
  const pedir = (metodo: string, ruta: string, enviado?: unknown) => porPagina(entorno, nueva, [metodo, ruta, enviado])
  return { autenticador, passkey: agregada.cuerpo.passkey as string, agregada, cookie: nueva, pedir }
}

/** Asks for a challenge in a browser and signs it: the cookie and the body that end it. */
export async function firmar(entorno: Entorno, autenticador: Autenticador, mal: Desvios = {}) {
  const { status, cuerpo: reto, cabeceras } = await porPagina(entorno, '', ['POST', `${RUTA}/reto`])
  if (status !== 200) throw new Error(`asking for a challenge was answered ${status}`)
  return { cookie: galletas(cabeceras), cuerpo: autenticador.firmar(reto, origenDe(entorno), mal) }
}

/** Signs in with what {@link firmar} gives. */
export const entrarConPasskey = (entorno: Entorno, { cookie, cuerpo }: Awaited<ReturnType<typeof firmar>>) =>
  porPagina(entorno, cookie, ['POST', `${RUTA}/entrada`, cuerpo])

type Respuesta = Pick<Awaited<ReturnType<typeof porPagina>>, 'status' | 'cuerpo'>

/** Status and code of an answer. */
export const dicho = ({ status, cuerpo }: Respuesta) => [status, cuerpo.codigo]

/** An environment in which the limits of networks are full again before each test. Called once at the top of a file. */
export function usarPasskeys() {
  const limites = { ahora: 0 }
  const entorno = usarEntorno({ relojDeLimites: () => limites.ahora })
  beforeEach(() => {
    limites.ahora += HORA
  })
  const agregar = (cookie: string, cuerpo: unknown) => porPagina(entorno, cookie, ['POST', RUTA, cuerpo])
  return { entorno, agregar }
}
