import { PERSON_CHALLENGE } from '../../api/http/authenticate.ts'
import { inTransaction, type Query, statement } from '../../data/db.ts'
import { normalizeBase32, randomBase32 } from '../../platform/codes/codes.ts'
import { isToken, tokenHash } from '../../platform/codes/token.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import type { Quien } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'
import type { Handler } from '../operation.ts'
import { avisarEntrada } from './avisar.ts'
import { deBitacora } from './cambiarMembresia.ts'
import { esElCodigo } from './codigo.ts'
import { limitarEntradas } from './entradas.ts'
import type { DepsDeEntrada } from './entrar.ts'
import { EMPRESA, exigirCorreo, type FilaInvitacion, type FilaMembresia, type FilaPersona } from './persona.ts'
import { abrirSesionPara, cookiesDeSesion, presentarSesionDePersona } from './sesion.ts'

/** Maximum attempts with the code of an invitation. */
const INTENTOS = 5

/**
 * SQL condition that an invitation can be accepted. The one of the first person ends when there is a person. One to the
 * courier company needs a code, unless it is the first person's, which the console shows.
 */
const VALE = `huella = :huella and vence_en > :ahora and intentos < ${INTENTOS}
  and (correo is not null or not exists (select from persona))
  and (correo is null or codigo_hash is not null or ambito <> '${EMPRESA}')`

const LEER = statement<{ huella: Uint8Array; ahora: Date }, FilaInvitacion>(
  'equipo.leerInvitacion',
  `select * from invitacion where ${VALE}`,
)

/** Counts an attempt, and keeps the row locked, so that parallel attempts come one after another. */
const INTENTAR = statement<
  { huella: Uint8Array; ahora: Date },
  { huella: Uint8Array<ArrayBuffer>; codigo_hash: Uint8Array<ArrayBuffer> | null }
>(
  'equipo.intentarInvitacion',
  `update invitacion set intentos = intentos + 1 where ${VALE} returning huella, codigo_hash`,
)

const TOMAR = statement<{ huella: Uint8Array }>(
  'equipo.tomarInvitacion',
  'delete from invitacion where huella = :huella',
)

/** Returns the person with an address, creating it if necessary. */
const PERSONA = statement<
  Pick<FilaPersona, 'id' | 'persona' | 'nombre' | 'creado_en'> & { correo: string },
  FilaPersona
>(
  'equipo.crearPersona',
  `insert into persona (id, persona, correo, nombre, creado_en) values (:id, :persona, :correo, :nombre, :creado_en)
   on conflict (correo) do update set correo = excluded.correo returning *`,
)

/** Adds a membership. If the person already is a member of the merchant or company, the scopes stay as they are. */
const MEMBRESIA = statement<FilaMembresia, Pick<FilaMembresia, 'id' | 'membresia' | 'ambito' | 'alcances'>>(
  'equipo.crearMembresia',
  `insert into membresia (id, membresia, persona_id, ambito, alcances, creado_en)
   values (:id, :membresia, :persona_id, :ambito, :alcances, :creado_en)
   on conflict (persona_id, ambito) do update set ambito = excluded.ambito returning id, membresia, ambito, alcances`,
)

const CON_FACTOR = statement<{ hash: Uint8Array; persona_id: string; ahora: Date }, { presencia_en: Date }>(
  'equipo.sesionConFactor',
  `select presencia_en from sesion_persona
   where hash = :hash and persona_id = :persona_id and least(vence_en, inactiva_en) > :ahora and segundo_factor`,
)

/**
 * Returns when the person last proved to be present in the browser's session, if that session was opened with a second
 * factor. Otherwise returns undefined.
 */
async function presenciaConFactor(
  consultar: Query,
  { reloj, navegador }: Pick<Deps, 'reloj' | 'navegador'>,
  cookie: string,
  persona_id: string,
): Promise<Date | undefined> {
  const token = navegador.leerSesionDePersona({ headers: { cookie } })
  if (token === undefined) return undefined
  const [fila] = await consultar(CON_FACTOR, { hash: tokenHash(token), persona_id, ahora: reloj() })
  return fila?.presencia_en
}

/** Returns the open invitation to which a link belongs; undefined if the link is not valid. */
export async function leerInvitacion(
  { db, reloj }: Pick<Deps, 'db' | 'reloj'>,
  token: string,
): Promise<FilaInvitacion | undefined> {
  if (!isToken(token)) return undefined
  const [fila] = await db.consultar(LEER, { huella: tokenHash(token), ahora: reloj() })
  return fila
}

/** Returns the 401 for a wrong code of an invitation. */
const codigoDeInvitadoIncorrecto = () =>
  new Problema(
    'codigo_incorrecto',
    'El código no es el de esta invitación. Pregúnteselo a quien le invitó. Al quinto error el enlace deja de valer.',
    { cabeceras: PERSON_CHALLENGE },
  )

const invalidInvitation = () =>
  new Problema('enlace_invalido', 'La invitación venció, ya se usó o se copió incompleta. Pida otra a quien le invitó.')

/** Data that a person sends to accept an invitation. */
interface Aceptacion {
  token: string
  codigo?: string | undefined
  correo?: string | undefined
  nombre?: string | undefined
}

/**
 * Accepts an invitation: creates the person or finds it by its address, adds the membership and opens a session. If the
 * person has not used the browser before, queues a mail about the sign-in. The link stands for the mail alone, so a
 * session with a second factor goes on with its last proof of presence.
 *
 * An invitation to the courier company needs a code that its mail does not have. The session may then add the person's
 * first second factor. A wrong code is recorded.
 * @throws Problema 401 if the code is wrong; 403 if the link is not valid; 422 if code, address or name are missing
 */
export async function aceptar(
  deps: DepsDeEntrada & Pick<Deps, 'avisarTrabajo'>,
  { token, ...dicho }: Aceptacion,
  { agente, cookie, ...quien }: Omit<Quien, 'identidad'> & { agente: string; cookie: string },
) {
  const { db, reloj, nuevoId, secretos, bitacora, avisarTrabajo } = deps
  const invitacion = await leerInvitacion(deps, token)
  if (!invitacion) throw invalidInvitation()
  const { ambito, alcances, codigo_hash } = invitacion
  if (codigo_hash && !dicho.codigo?.trim())
    throw problemOfFaults('validacion', [
      { campo: '/codigo', codigo: 'requerido', mensaje: 'falta; se lo da quien le invitó, en persona o por teléfono' },
    ])
  const correo = invitacion.correo ?? exigirCorreo(dicho.correo ?? '')
  const nombre = (invitacion.nombre ?? dicho.nombre)?.trim()
  if (!nombre)
    throw problemOfFaults('validacion', [
      { campo: '/nombre', codigo: 'requerido', mensaje: 'falta; escriba su nombre' },
    ])
  const de = await deBitacora(db, ambito)
  const abierta = await inTransaction(db.central, async (consultar) => {
    const [tomada] = await consultar(INTENTAR, { huella: tokenHash(token), ahora: reloj() })
    if (!tomada) throw invalidInvitation()
    const { huella } = tomada
    const escrito = normalizeBase32((dicho.codigo ?? '').replace(/[\s-]/g, ''))
    if (tomada.codigo_hash && !esElCodigo(secretos, { huella, codigo_hash: tomada.codigo_hash }, escrito)) {
      const sobre = ['invitacion', invitacion.invitacion] as const
      const linea = { accion: 'fallarCodigoDeInvitacion', sobre, ...de, campos: ['codigo'] }
      await bitacora.anotar(consultar, { ...quien, identidad: null }, linea)
      return undefined
    }
    await consultar(TOMAR, { huella })
    const nueva = { ...nuevoId(), persona: `per_${randomBase32(12)}`, correo, nombre }
    const [persona] = await consultar(PERSONA, nueva)
    const suya = { ...nuevoId(), membresia: `mem_${randomBase32(12)}`, persona_id: persona!.id, ambito, alcances }
    const [membresia] = await consultar(MEMBRESIA, suya)
    const red = quien.red
    const presencia_en = await presenciaConFactor(consultar, deps, cookie, persona!.id)
    const abierta = await abrirSesionPara(consultar, deps, {
      persona: persona!,
      membresia: membresia!,
      agente,
      cookie,
      red,
      segundoFactor: presencia_en !== undefined,
      presencia_en,
      alta: ambito === EMPRESA,
    })
    await bitacora.anotar(
      consultar,
      { ...quien, identidad: { persona: persona!.persona } },
      {
        accion: 'aceptarInvitacion',
        sobre: ['invitacion', invitacion.invitacion],
        ...de,
        despues: { alcances },
      },
    )
    const { id } = persona!
    if (id !== nueva.id)
      await avisarEntrada(consultar, deps, { id, nombre: persona!.nombre, correo }, { cookie, agente })
    return abierta
  })
  if (!abierta) throw codigoDeInvitadoIncorrecto()
  avisarTrabajo()
  return abierta
}

export const aceptarInvitacion: Handler<'aceptarInvitacion'> = async (
  { body, agente, cookie, red, idSolicitud },
  deps,
) => {
  const { db } = deps
  const devolver = limitarEntradas(deps, red)
  const { token, vista } = await aceptar(deps, body, { agente, cookie, red, idSolicitud })
  devolver()
  const headers = { 'Set-Cookie': cookiesDeSesion(deps, token, vista) }
  return { status: 201, headers, body: await presentarSesionDePersona(db, vista) }
}
