import { type Query, statement } from '../../data/db.ts'
import type { AlcanceDePersona, Invitacion } from '../../generado/contrato/tipos/index.ts'
import { inGroups, normalizeBase32, randomBase32 } from '../../platform/codes/codes.ts'
import { newToken, tokenHash } from '../../platform/codes/token.ts'
import type { Anotacion } from '../bitacora/bitacora.ts'
import { guardarCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'
import { sellarCodigo } from './codigo.ts'
import { leerFactores } from './factores.ts'
import { comercioDe, EMPRESA, type FilaInvitacion, type FilaMembresia } from './persona.ts'

/**
 * Length of the code that an invitation to the courier company needs, in characters of 5 bits each. With five attempts,
 * a guesser has 1 chance in 200,000 million.
 */
const LETRAS = 8

/** Creates the code that the inviting person tells the invited one, by another way than mail. */
export const nuevoCodigoDeInvitado = () => inGroups(randomBase32(LETRAS))

/** Hours for which the link of an invitation is valid. */
const HORAS = 24
/** Stores an invitation. It replaces an open invitation of the same address to the same merchant or company. */
const GUARDAR = statement<FilaInvitacion>(
  'equipo.invitar',
  `with v as (
     delete from invitacion where correo = :correo and ambito = :ambito
   )
   insert into invitacion (huella, codigo_hash, intentos, invitacion, correo, nombre, ambito, alcances, creado_en, vence_en)
   values (:huella, :codigo_hash, :intentos, :invitacion, :correo, :nombre, :ambito, :alcances, :creado_en, :vence_en)`,
)

const sellarInvitado = (secretos: Deps['secretos'], codigo: string) => (huella: Uint8Array) =>
  sellarCodigo(secretos, huella, normalizeBase32(codigo))

/** Returns the link of an invitation. Opening the link changes nothing: its page first asks for confirmation. */
export const enlaceDeInvitacion = (urlPublica: string, token: string) => `${urlPublica}/invitacion/${token}`

/**
 * Stores an invitation. The token of its link appears only in this result.
 * @param sellar returns the digest of the invitation's code; undefined if accepting needs none
 */
export async function guardarInvitacion(
  consultar: Query,
  { reloj }: Pick<Deps, 'reloj'>,
  de: Pick<FilaInvitacion, 'correo' | 'nombre' | 'ambito'> & { alcances: AlcanceDePersona[] },
  sellar?: (huella: Uint8Array) => Uint8Array<ArrayBuffer>,
): Promise<FilaInvitacion & { token: string }> {
  const token = newToken()
  const huella = tokenHash(token)
  const creado_en = reloj()
  const fila: FilaInvitacion = {
    ...de,
    huella,
    codigo_hash: sellar?.(huella) ?? null,
    intentos: 0,
    invitacion: `inv_${randomBase32(12)}`,
    creado_en,
    vence_en: new Date(creado_en.getTime() + HORAS * 3_600_000),
  }
  await consultar(GUARDAR, fila)
  return { ...fila, token }
}

const YA_ESTA = statement<{ correo: string; ambito: string }, Pick<FilaMembresia, 'alcances'> & { persona_id: string }>(
  'equipo.yaEsta',
  `select m.persona_id, m.alcances from membresia m join persona p on p.id = m.persona_id
   where p.correo = :correo and m.ambito = :ambito`,
)

/**
 * Returns the scopes that a person already has at the merchant or company; undefined if it is not a member.
 * `sinFactor`: true if it is a member of the courier company without a second factor. An invitation then lets it add one.
 */
export async function yaEsta(consultar: Query, { correo, ambito }: { correo: string; ambito: string }) {
  const [suya] = await consultar(YA_ESTA, { correo, ambito })
  if (!suya) return undefined
  const { totp, passkeys } = await leerFactores(consultar, suya.persona_id)
  return { alcances: suya.alcances, sinFactor: ambito === EMPRESA && !totp && passkeys === 0 }
}

/** Invitation with validated data. */
export interface Invitada {
  correo: string
  nombre: string
  ambito: string
  alcances: AlcanceDePersona[]
  /** Name of the merchant; null for the courier company. */
  lugar: string | null
  /** Code that accepting needs; null for a merchant. */
  codigo: string | null
}

/** Stores an invitation, and queues its mail. The caller calls `avisarTrabajo` after the commit. */
export async function escribirInvitacion(
  consultar: Query,
  deps: Pick<Deps, 'reloj' | 'secretos' | 'nuevoId' | 'ajustes'>,
  { lugar, codigo, correo, nombre, ambito, alcances }: Invitada,
): Promise<{ invitacion: Invitacion; enlace: string; linea: Omit<Anotacion, 'accion'> }> {
  const de = { correo, nombre, ambito, alcances }
  const sellar = codigo === null ? undefined : sellarInvitado(deps.secretos, codigo)
  const { token, invitacion, creado_en, vence_en } = await guardarInvitacion(consultar, deps, de, sellar)
  const enlace = enlaceDeInvitacion(deps.ajustes.urlDePersonas, token)
  const datos = { nombre, lugar, enlace, horas: HORAS }
  await guardarCorreo(consultar, deps, { tipo: 'invitacion', para: correo, datos, minutos: HORAS * 60 })
  const comercio = comercioDe(ambito)
  const instantes = { creado_en: creado_en.toISOString(), vence_en: vence_en.toISOString() }
  return {
    invitacion: { invitacion, codigo, correo, nombre, comercio, alcances, ...instantes },
    enlace,
    linea: {
      sobre: ['invitacion', invitacion],
      campos: ['correo', 'nombre', 'alcances'],
      despues: { comercio, alcances },
    },
  }
}
