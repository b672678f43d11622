import { type Query, statement } from '../../../data/db.ts'
import type { AlcanceDePersona, Invitacion } from '../../../generated/contract/types/index.ts'
import { randomBase32 } from '../../../platform/codes/codes.ts'
import { inGroups, normalizeBase32 } from '../../../platform/codes/guideCode.ts'
import { newToken, tokenHash } from '../../../platform/codes/token.ts'
import { HOUR_MS } from '../../../platform/time/units.ts'
import type { AuditEntry } from '../../bitacora/bitacora.ts'
import { saveCorreo } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import { readFactors } from '../factorRules.ts'
import { sealCode } from '../mailCode.ts'
import { COMPANY, comercioOf, type InvitacionRow, type MembresiaRow } from '../persona.ts'

/**
 * Length of the code that an invitation to the courier company needs, in characters of 5 bits each. With five attempts,
 * a guesser has 1 chance in 200,000 million.
 */
const CODE_LETTERS = 8

/** Creates the code that the inviting person tells the invited one, by another way than mail. */
export const newInvitacionCode = () => inGroups(randomBase32(CODE_LETTERS))

/** Hours for which the link of an invitation is valid. */
const LINK_HOURS = 24
/** Stores an invitation. It replaces an open invitation of the same address to the same merchant or company. */
const SAVE = statement<InvitacionRow>(
  'equipo.saveInvitacion',
  'central',
  `with v as (
     delete from invitacion where correo = :correo and ambito = :ambito
   )
   insert into invitacion (huella, codigo_hash, intentos, invitacion, correo, nombre, ambito, alcances, creado_en, vence_en)
   values (:huella, :codigo_hash, :intentos, :invitacion, :correo, :nombre, :ambito, :alcances, :creado_en, :vence_en)`,
)

const sealInvitacionCode = (secrets: Deps['secretos'], code: string) => (digest: Uint8Array) =>
  sealCode(secrets, digest, normalizeBase32(code))

/** Returns the link of an invitation. Opening the link changes nothing: its page first asks for confirmation. */
export const invitacionLink = (publicUrl: string, token: string) => `${publicUrl}/invitacion/${token}`

/**
 * Stores an invitation. The token of its link appears only in this result.
 * @param sealDigest returns the digest of the invitation's code; undefined if accepting needs none
 */
export async function saveInvitacion(
  query: Query,
  { clock }: Pick<Deps, 'clock'>,
  de: Pick<InvitacionRow, 'correo' | 'nombre' | 'ambito'> & { alcances: AlcanceDePersona[] },
  sealDigest?: (digest: Uint8Array) => Uint8Array<ArrayBuffer>,
): Promise<InvitacionRow & { token: string }> {
  const token = newToken()
  const huella = tokenHash(token)
  const creado_en = clock()
  const row: InvitacionRow = {
    ...de,
    huella,
    codigo_hash: sealDigest?.(huella) ?? null,
    intentos: 0,
    invitacion: `inv_${randomBase32(12)}`,
    creado_en,
    vence_en: new Date(creado_en.getTime() + LINK_HOURS * HOUR_MS),
  }
  await query(SAVE, row)
  return { ...row, token }
}

const FIND_MEMBER = statement<
  { correo: string; ambito: string },
  Pick<MembresiaRow, 'alcances'> & { persona_id: string }
>(
  'equipo.findMember',
  'central',
  `select m.persona_id, m.alcances from membresia m join persona p on p.id = m.persona_id
   where p.correo = :correo and m.ambito = :ambito`,
)

/**
 * Returns the scopes that a person already has at the merchant or company; undefined if it is not a member.
 * `lacksFactor`: true if it is a member of the courier company without a second factor. An invitation then lets it add one.
 */
export async function findMember(query: Query, { correo, ambito }: { correo: string; ambito: string }) {
  const [membresia] = await query(FIND_MEMBER, { correo, ambito })
  if (!membresia) return undefined
  const { totp, passkeys } = await readFactors(query, membresia.persona_id)
  return { alcances: membresia.alcances, lacksFactor: ambito === COMPANY && !totp && passkeys === 0 }
}

/** Invitation with validated data. */
export interface InvitedPersona {
  correo: string
  nombre: string
  ambito: string
  alcances: AlcanceDePersona[]
  /** Name of the merchant; null for the courier company. */
  lugar: string | null
  /** Code that accepting needs; null for a merchant. */
  codigo: string | null
}

/** Stores an invitation, and queues its mail. The caller calls `notifyJobs` after the commit. */
export async function writeInvitacion(
  query: Query,
  deps: Pick<Deps, 'clock' | 'secretos' | 'newId' | 'settings'>,
  { lugar, codigo, correo, nombre, ambito, alcances }: InvitedPersona,
): Promise<{ invitacion: Invitacion; enlace: string; linea: Omit<AuditEntry, 'accion'> }> {
  const de = { correo, nombre, ambito, alcances }
  const sealDigest = codigo === null ? undefined : sealInvitacionCode(deps.secretos, codigo)
  const { token, invitacion, creado_en, vence_en } = await saveInvitacion(query, deps, de, sealDigest)
  const enlace = invitacionLink(deps.settings.urlDePersonas, token)
  const datos = { nombre, lugar, enlace, horas: LINK_HOURS }
  await saveCorreo(query, deps, { tipo: 'invitacion', para: correo, datos, lifetimeMinutes: LINK_HOURS * 60 })
  const comercio = comercioOf(ambito)
  const instants = { creado_en: creado_en.toISOString(), vence_en: vence_en.toISOString() }
  return {
    invitacion: { invitacion, codigo, correo, nombre, comercio, alcances, ...instants },
    enlace,
    linea: {
      sobre: ['invitacion', invitacion],
      campos: ['correo', 'nombre', 'alcances'],
      despues: { comercio, alcances },
    },
  }
}
