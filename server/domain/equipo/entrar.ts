import { inTransaction, type Query, statement } from '../../data/db.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarEntrada } from './avisar.ts'
import { codigoIncorrecto, gastarCodigo } from './codigo.ts'
import { limitarEntradas } from './entradas.ts'
import { type Factores, leerFactores, pideSegundoFactor } from './factores.ts'
import type { FilaMembresia, FilaPersona } from './persona.ts'
import { type AMedias, empezarEntrada, MINUTOS_A_MEDIAS } from './segundoFactor.ts'
import { abrirSesionPara, cookiesDeSesion, presentarSesionDePersona } from './sesion.ts'

/** Reads a person and the person's oldest membership. A person without membership cannot sign in. */
const QUIEN = statement<
  { id: string },
  Pick<FilaPersona, 'persona' | 'nombre' | 'correo'> &
    Pick<FilaMembresia, 'membresia' | 'ambito' | 'alcances'> & { id: string; membresia_id: string }
>(
  'equipo.quienEntra',
  `select p.id, p.persona, p.nombre, p.correo, m.id as membresia_id, m.membresia, m.ambito, m.alcances
   from persona p join membresia m on m.persona_id = p.id where p.id = :id and p.correo is not null
   order by m.creado_en, m.id limit 1`,
)

/** Dependencies of a sign-in. */
export type DepsDeEntrada = Pick<Deps, 'db' | 'reloj' | 'secretos' | 'bitacora' | 'navegador' | 'nuevoId' | 'ajustes'>

/**
 * Opens a session for a person who has just proved the identity, in the transaction of that proof. If the person has
 * not used the browser before, queues a mail about the sign-in.
 * @param segundoFactor true if the proof included a second factor
 * @returns undefined if the person was erased or has no membership
 */
export async function abrirPara(
  consultar: Query,
  deps: DepsDeEntrada,
  id: string,
  { accion, cookie, agente, ...quien }: Omit<Quien, 'identidad'> & Record<'accion' | 'cookie' | 'agente', string>,
  segundoFactor: boolean,
) {
  const [fila] = await consultar(QUIEN, { id })
  if (!fila) return undefined
  const membresia = { id: fila.membresia_id, membresia: fila.membresia, ambito: fila.ambito, alcances: fila.alcances }
  const entrada = { persona: fila, membresia, agente, cookie, red: quien.red, segundoFactor }
  const abierta = await abrirSesionPara(consultar, deps, entrada)
  const autor = { ...quien, identidad: { persona: fila.persona } }
  const sobre = ['persona', fila.persona] as const
  await deps.bitacora.anotar(consultar, autor, { accion, sobre, campos: ['sesion'] })
  await avisarEntrada(consultar, deps, { id, nombre: fila.nombre, correo: fila.correo! }, { cookie, agente })
  return abierta
}

/**
 * Stores a sign-in that still needs the second factor. It gets a line in the audit record, because the code of the mail
 * was right.
 */
async function empezarPara(
  consultar: Query,
  deps: DepsDeEntrada,
  id: string,
  factores: Factores,
  quien: Omit<Quien, 'identidad'>,
): Promise<Entrado | undefined> {
  const [fila] = await consultar(QUIEN, { id })
  if (!fila) return undefined
  const autor = { ...quien, identidad: { persona: fila.persona } }
  const sobre = ['persona', fila.persona] as const
  await deps.bitacora.anotar(consultar, autor, { accion: 'abrirSesionDePersona', sobre, campos: ['entrada_a_medias'] })
  return { aMedias: await empezarEntrada(consultar, deps, id, factores) }
}

/** Result of entering the code of a mail: a session, or a sign-in that still needs the second factor. */
type Entrado = NonNullable<Awaited<ReturnType<typeof abrirPara>>> | { aMedias: AMedias }

/**
 * Opens a session with the code that was mailed. If the person has a second factor, the sign-in waits for it. The
 * attempt counts even if it fails.
 * @param cookie `Cookie` header, with the token of the browser that asked for the code
 * @throws Problema 401
 */
export async function entrar(
  deps: DepsDeEntrada & Pick<Deps, 'avisarTrabajo'>,
  { cookie, codigo }: { cookie: string; codigo: string },
  { agente, ...quien }: Omit<Quien, 'identidad'> & { agente: string },
): Promise<Entrado> {
  const abierta = await inTransaction(deps.db.central, async (consultar): Promise<Entrado | undefined> => {
    const id = await gastarCodigo(consultar, deps, deps.navegador.leerEntrada(cookie), codigo)
    if (id === undefined) return undefined
    const factores = await leerFactores(consultar, id)
    if (pideSegundoFactor(factores)) return empezarPara(consultar, deps, id, factores, quien)
    return abrirPara(consultar, deps, id, { accion: 'abrirSesionDePersona', cookie, agente, ...quien }, false)
  })
  if (!abierta) throw codigoIncorrecto()
  deps.avisarTrabajo()
  return abierta
}

export const abrirSesionDePersona: Handler<'abrirSesionDePersona'> = async (
  { body, cookie, agente, red, idSolicitud },
  deps,
) => {
  const { db, navegador } = deps
  const devolver = limitarEntradas(deps, red)
  const entrado = await entrar(deps, { cookie, codigo: body.codigo }, { agente, red, idSolicitud })
  devolver()
  const sinCodigo = navegador.ponerEntrada('', 0)
  if ('aMedias' in entrado) {
    const { token, pedido } = entrado.aMedias
    const galletas = [navegador.ponerEntradaAMedias(token, MINUTOS_A_MEDIAS * 60), sinCodigo]
    return { status: 202, headers: { 'Set-Cookie': galletas }, body: pedido }
  }
  const { token, vista } = entrado
  const cookies = [...cookiesDeSesion(deps, token, vista), sinCodigo]
  return { status: 201, headers: { 'Set-Cookie': cookies }, body: await presentarSesionDePersona(db, vista) }
}
