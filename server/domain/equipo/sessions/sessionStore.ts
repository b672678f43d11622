import { PERSON_CHALLENGE } from '../../../api/http/authenticate.ts'
import type { Identities } from '../../../api/http/identity.ts'
import { type Db, inTransaction, statement } from '../../../data/db.ts'
import type { sesion_persona } from '../../../generated/contract/prisma/client.ts'
import type { Modo, SesionAbierta } from '../../../generated/contract/types/index.ts'
import { Problema } from '../../../platform/errors.ts'
import type { Actor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import { type MembresiaRow, unknownMembresia } from '../persona.ts'
import { idleFrom } from './idleTimeout.ts'
import { sesionExpiry } from './sesion.ts'

type OwnSesion = Identities['sesionDePersona']

const LIST = statement<
  { persona_id: string; now: Date },
  Pick<sesion_persona, 'sesion' | 'dispositivo' | 'red' | 'creado_en' | 'vence_en' | 'inactiva_en'>
>(
  'equipo.listSesiones',
  'central',
  `select sesion, dispositivo, red, creado_en, vence_en, least(vence_en, inactiva_en) as inactiva_en from sesion_persona
   where persona_id = :persona_id and least(vence_en, inactiva_en) > :now order by creado_en desc, sesion`,
)

/** Returns the sessions of a person that are valid now, newest first. */
export async function readSesiones(
  { db, clock }: { db: Pick<Db, 'query'>; clock: () => Date },
  { personaId, codigo }: Pick<OwnSesion, 'personaId' | 'codigo'>,
): Promise<SesionAbierta[]> {
  const rows = await db.query(LIST, { persona_id: personaId, now: clock() })
  return rows.map(({ sesion, dispositivo, red, creado_en, vence_en, inactiva_en }) => ({
    sesion,
    actual: sesion === codigo,
    dispositivo,
    red,
    creado_en: creado_en.toISOString(),
    vence_en: vence_en.toISOString(),
    inactiva_en: inactiva_en.toISOString(),
  }))
}

const CLOSE = statement<{ persona_id: string; sesion: string }, { sesion: string }>(
  'equipo.closeSesion',
  'central',
  'delete from sesion_persona where persona_id = :persona_id and sesion = :sesion returning sesion',
)

/** Ends one of the person's own sessions. Returns false if the person has no such session. */
export const closeSesionOf = (
  { db, bitacora }: Pick<Deps, 'db' | 'bitacora'>,
  actor: Actor & { identity: OwnSesion },
  sesion: string,
  accion: string,
): Promise<boolean> =>
  inTransaction(db.central, async (query) => {
    const { personaId: persona_id, persona } = actor.identity
    const [closedRow] = await query(CLOSE, { persona_id, sesion })
    if (!closedRow) return false
    await bitacora.record(query, actor, { accion, sobre: ['persona', persona], campos: ['sesion'] })
    return true
  })

const OWN_MEMBRESIA = statement<
  { persona_id: string; membresia: string },
  Pick<MembresiaRow, 'id' | 'ambito' | 'alcances'>
>(
  'equipo.ownMembresia',
  'central',
  'select id, ambito, alcances from membresia where persona_id = :persona_id and membresia = :membresia',
)

const CHOOSE = statement<{ hash: Uint8Array; membresia_id: string; modo: string; vence_en: Date; inactiva_en: Date }>(
  'equipo.choose',
  'central',
  `update sesion_persona set membresia_id = :membresia_id, modo = :modo, vence_en = :vence_en, inactiva_en = :inactiva_en
   where hash = :hash`,
)

/**
 * Switches a session to another membership of its person. The session then ends as if it had begun with that
 * membership.
 * @throws Problema 404 if the person has no such membership; 401 if the session would then already be over
 */
export async function chooseMembresia(
  { db, clock, settings, bitacora }: Pick<Deps, 'db' | 'clock' | 'settings' | 'bitacora'>,
  actor: Actor & { identity: OwnSesion },
  { membresia, modo = 'live' }: { membresia: string; modo?: Modo | undefined },
): Promise<OwnSesion> {
  const { identity } = actor
  const { personaId: persona_id, persona, sesion: hash, creado_en } = identity
  const [ownMembresia] = await db.query(OWN_MEMBRESIA, { persona_id, membresia })
  if (!ownMembresia) throw unknownMembresia()
  const vence_en = sesionExpiry(creado_en, ownMembresia.ambito)
  if (vence_en <= clock())
    throw new Problema('sesion_invalida', 'Pasaron más de 12 horas desde que entró. Entre otra vez.', {
      headers: PERSON_CHALLENGE,
    })
  const inactiva_en = idleFrom({ clock, settings }, ownMembresia)
  await inTransaction(db.central, async (query) => {
    await query(CHOOSE, { hash, membresia_id: ownMembresia.id, modo, vence_en, inactiva_en })
    const sobre = ['persona', persona] as const
    const antes = { membresia: identity.membresia, modo: identity.modo }
    await bitacora.record(query, actor, { accion: 'elegirMembresia', sobre, antes, despues: { membresia, modo } })
  })
  return { ...identity, membresia, modo, vence_en, inactiva_en }
}
