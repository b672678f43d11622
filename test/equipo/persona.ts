import { openDb } from '../../server/data/db.ts'
import { leerCorreo } from '../../server/domain/correos/correo.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { type Entorno, MASTER_KEY } from '../entorno.ts'
import { type AppDePrueba, nuevaApp } from './totp.ts'

/** Path of the operations about a session. */
export const SESION = '/operaciones/v1/sesion'

type Pedido = NonNullable<Parameters<Entorno['pedir']>[2]>

const secretos = createSecrets([Buffer.from(MASTER_KEY, 'base64')])

/** A mail as its row has it while it waits. */
export async function correoPendiente({ databaseUrl }: Pick<Entorno, 'databaseUrl'>, tipo: string, para: string) {
  const db = openDb(databaseUrl, { conexiones: 1 })
  try {
    const { rows } = await db.pool.query(
      `select id, contenido from correo where tipo = $1 and contenido is not null order by creado_en desc, id desc`,
      [tipo],
    )
    for (const fila of rows) {
      const leido = leerCorreo(secretos, fila)
      // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there
      if (leido?.para === para) return leido.datos as any
    }
    return undefined
  } finally {
    await db.cerrar()
  }
}

/** From `Set-Cookie` to what a browser sends back. */
export const galletas = (cabeceras: Headers) =>
  cabeceras
    .getSetCookie()
    .map((una) => una.split(';')[0]!)
    .join('; ')

let cuantas = 0
export const nuevaDireccion = () => `persona${++cuantas}.${process.pid}@ejemplo.com`

/** A person who accepted an invitation, with its session. */
export interface PersonaDePrueba {
  correo: string
  persona: string
  membresia: string
  sesion: string
  cookie: string
  /** Cookie by which the browser is known. */
  conocido: string
  /** App that gives codes; undefined if the person has none. */
  app: AppDePrueba | undefined
  /** As its pages do. */
  pedir(metodo: string, ruta: string, cuerpo?: unknown, opciones?: Pedido): ReturnType<Entorno['pedir']>
}

/** Calls as the page of a browser with these cookies. */
export const porPagina = (
  entorno: Entorno,
  cookie: string,
  [metodo, ruta, cuerpo]: [string, string, unknown?],
  opciones: Pedido = {},
) =>
  entorno.pedir(metodo, ruta, {
    cuerpo,
    ...opciones,
    cabeceras: { ...(cookie ? { Cookie: cookie } : {}), Origin: entorno.url, ...opciones.cabeceras },
  })

/** Who a person of a test is. */
interface Nueva {
  correo?: string
  nombre?: string
  /** By default all scopes of the courier company. */
  alcances?: string[]
  comercio?: string
  /** False for a person without an app. By default, a person of the courier company has one. */
  conApp?: boolean
}

export async function nuevaPersona(
  entorno: Entorno,
  { correo = nuevaDireccion(), nombre = 'Ana Pérez', conApp, ...a }: Nueva = {},
): Promise<PersonaDePrueba> {
  const alcances = a.alcances ?? ['ver', 'operar', 'caja', 'administrar']
  const invitada = await entorno.operar('POST', '/invitaciones', { correo, nombre, ...a, alcances })
  if (invitada.status !== 201) throw new Error(`an invitation was answered ${invitada.status}`)
  const { enlace } = await correoPendiente(entorno, 'invitacion', correo)
  const token = enlace.split('/').at(-1)
  const codigo = invitada.cuerpo.codigo ?? undefined
  const aceptada = await porPagina(entorno, '', ['POST', '/operaciones/v1/sesion/invitacion', { token, codigo }])
  if (aceptada.status !== 201) throw new Error(`accepting was answered ${aceptada.status}`)
  const { persona, membresia, sesion } = aceptada.cuerpo
  const [primera = '', conocido = ''] = galletas(aceptada.cabeceras).split('; ')
  const hecha = (conApp ?? a.comercio === undefined) ? await agregarApp(entorno, primera) : undefined
  const { app, cookie } = hecha ?? { app: undefined, cookie: primera }
  const pedir: PersonaDePrueba['pedir'] = (metodo, ruta, cuerpo, opciones) =>
    porPagina(entorno, cookie, [metodo, ruta, cuerpo], opciones)
  return { correo, persona, membresia, sesion, cookie, conocido, app, pedir }
}

/** A person of a new merchant, without a second factor. */
export async function personaDeComercio(entorno: Entorno): Promise<PersonaDePrueba> {
  const { comercio } = await entorno.nuevoComercio()
  return nuevaPersona(entorno, { comercio, alcances: ['despacho'] })
}

/** Asks, as a person, to invite another one who administers. Another person has to administer, too. */
export async function pedirAprobacion({ pedir }: Pick<PersonaDePrueba, 'pedir'>, correo = nuevaDireccion()) {
  const cuerpo = { correo, nombre: 'Eva Ruiz', alcances: ['administrar'] }
  const pedida = await pedir('POST', '/operaciones/v1/invitaciones', cuerpo)
  if (pedida.status !== 202) throw new Error(`asking for an approval was answered ${pedida.status}`)
  return { correo, aprobacion: pedida.cuerpo.aprobacion as string, cuerpo: pedida.cuerpo }
}

/** Asks for a code, and returns it with the cookie of the browser that asked. */
export async function pedirCodigo(entorno: Entorno, correo: string, cookie = '') {
  const pedido = await porPagina(entorno, cookie, ['POST', '/operaciones/v1/sesion/codigo', { correo }])
  if (pedido.status !== 202) throw new Error(`asking for a code was answered ${pedido.status}`)
  const datos = await correoPendiente(entorno, 'codigo', correo.toLowerCase())
  return { codigo: datos?.codigo as string | undefined, entrada: galletas(pedido.cabeceras) }
}

export const entrarCon = (entorno: Entorno, entrada: string, codigo: unknown, opciones?: Pedido) =>
  porPagina(entorno, entrada, ['POST', '/operaciones/v1/sesion', { codigo }], opciones)

/** Invites, and accepts with the token of the mail. Called once at the top of a test file. */
export function usarInvitaciones(entorno: Entorno) {
  /** Codes that the inviter got, by the token of the mail. */
  const codigos = new Map<string, string>()
  const tokenDe = async (correo: string): Promise<string> =>
    (await correoPendiente(entorno, 'invitacion', correo.toLowerCase())).enlace.split('/').at(-1)
  return {
    aceptar: (token: string, mas: object = {}, cookie = '') =>
      porPagina(entorno, cookie, [
        'POST',
        '/operaciones/v1/sesion/invitacion',
        { token, codigo: codigos.get(token), ...mas },
      ]),
    async invitar(cuerpo: object) {
      const de = { nombre: 'Ana Pérez', alcances: ['ver'], ...cuerpo }
      const invitada = await entorno.operar('POST', '/invitaciones', de)
      if (invitada.status === 201 && invitada.cuerpo.codigo !== null)
        codigos.set(await tokenDe(invitada.cuerpo.correo), invitada.cuerpo.codigo)
      return invitada
    },
    tokenDe,
  }
}

/** Adds an app to the person of a session. Returns it with the session's new cookie. */
export async function agregarApp(entorno: Entorno, cookie: string) {
  const pedido = await porPagina(entorno, cookie, ['POST', `${SESION}/totp/registro`])
  if (pedido.status !== 200) throw new Error(`beginning an app was answered ${pedido.status}`)
  const app = nuevaApp(entorno, pedido.cuerpo.secreto)
  const agregada = await porPagina(entorno, cookie, ['POST', `${SESION}/totp`, { codigo: app.codigo() }])
  if (agregada.status !== 201) throw new Error(`adding an app was answered ${agregada.status}`)
  return { app, agregada, cookie: galletas(agregada.cabeceras) || cookie }
}

/** Signs in with a code by mail and, if it is asked for, the next code of the app. */
export async function entrarDelTodo(entorno: Entorno, { correo, app }: PersonaDePrueba, conocido = '') {
  const { codigo, entrada } = await pedirCodigo(entorno, correo)
  const abierta = await entrarCon(entorno, `${conocido}; ${entrada}`, codigo)
  if (abierta.status !== 202) return abierta
  return terminarCon(entorno, `${conocido}; ${galletas(abierta.cabeceras)}`, app!.codigo())
}

/** Ends a sign-in with the second factor, in the browser with this cookie. */
export const terminarCon = (entorno: Entorno, cookie: string, codigo: unknown) =>
  porPagina(entorno, cookie, ['POST', `${SESION}/segundo-factor`, { codigo }])

/** Makes recovery codes for the person of a session. */
export async function hacerCodigos({ pedir }: Pick<PersonaDePrueba, 'pedir'>): Promise<string[]> {
  const hechos = await pedir('POST', `${SESION}/codigos-de-recuperacion`)
  if (hechos.status !== 201) throw new Error(`making recovery codes was answered ${hechos.status}`)
  return hechos.cuerpo.codigos
}
