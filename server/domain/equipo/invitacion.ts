import { type Query, statement } from '../../data/db.ts'
import type { AlcanceDePersona, Invitacion } from '../../generado/contrato/tipos/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { newToken, tokenHash } from '../../platform/codes/token.ts'
import type { Anotacion } from '../bitacora/bitacora.ts'
import { guardarCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'
import { comercioDe, type FilaInvitacion } from './persona.ts'

/** Hours for which the link of an invitation is valid. */
const HORAS = 24
/** Stores an invitation. It replaces an open invitation of the same address to the same merchant or company. */
const GUARDAR = statement<FilaInvitacion>(
  'equipo.invitar',
  `with v as (
     delete from invitacion where correo = :correo and ambito = :ambito
   )
   insert into invitacion (huella, invitacion, correo, nombre, ambito, alcances, creado_en, vence_en)
   values (:huella, :invitacion, :correo, :nombre, :ambito, :alcances, :creado_en, :vence_en)`,
)

/** Returns the link of an invitation. Opening the link changes nothing: its page first asks for confirmation. */
export const enlaceDeInvitacion = (urlPublica: string, token: string) => `${urlPublica}/invitacion/${token}`

/** Stores an invitation. The token of its link appears only in this result. */
export async function guardarInvitacion(
  consultar: Query,
  { reloj }: Pick<Deps, 'reloj'>,
  de: Pick<FilaInvitacion, 'correo' | 'nombre' | 'ambito'> & { alcances: AlcanceDePersona[] },
): Promise<FilaInvitacion & { token: string }> {
  const token = newToken()
  const creado_en = reloj()
  const fila: FilaInvitacion = {
    ...de,
    huella: tokenHash(token),
    invitacion: `inv_${randomBase32(12)}`,
    creado_en,
    vence_en: new Date(creado_en.getTime() + HORAS * 3_600_000),
  }
  await consultar(GUARDAR, fila)
  return { ...fila, token }
}

const YA_ESTA = statement<{ correo: string; ambito: string }, { id: string }>(
  'equipo.yaEsta',
  `select m.id from membresia m join persona p on p.id = m.persona_id where p.correo = :correo and m.ambito = :ambito`,
)

/** Reports whether a person already has a membership of the merchant or company. */
export const yaEsta = async (consultar: Query, de: { correo: string; ambito: string }) =>
  (await consultar(YA_ESTA, de)).length > 0

/** Invitation with validated data. */
export interface Invitada {
  correo: string
  nombre: string
  ambito: string
  alcances: AlcanceDePersona[]
  /** Name of the merchant; null for the courier company. */
  lugar: string | null
}

/** Stores an invitation, and queues its mail. The caller calls `avisarTrabajo` after the commit. */
export async function escribirInvitacion(
  consultar: Query,
  deps: Pick<Deps, 'reloj' | 'secretos' | 'nuevoId' | 'ajustes'>,
  { lugar, correo, nombre, ambito, alcances }: Invitada,
): Promise<{ invitacion: Invitacion; enlace: string; linea: Omit<Anotacion, 'accion'> }> {
  const de = { correo, nombre, ambito, alcances }
  const { token, invitacion, creado_en, vence_en } = await guardarInvitacion(consultar, deps, de)
  const enlace = enlaceDeInvitacion(deps.ajustes.urlDePersonas, token)
  const datos = { nombre, lugar, enlace, horas: HORAS }
  await guardarCorreo(consultar, deps, { tipo: 'invitacion', para: correo, datos, minutos: HORAS * 60 })
  const comercio = comercioDe(ambito)
  const instantes = { creado_en: creado_en.toISOString(), vence_en: vence_en.toISOString() }
  return {
    invitacion: { invitacion, correo, nombre, comercio, alcances, ...instantes },
    enlace,
    linea: {
      sobre: ['invitacion', invitacion],
      campos: ['correo', 'nombre', 'alcances'],
      despues: { comercio, alcances },
    },
  }
}
