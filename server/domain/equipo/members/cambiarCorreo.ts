import { inTransaction, type Query, statement } from '../../../data/db.ts'
import type { cambio_de_correo } from '../../../generated/contract/prisma/client.ts'
import { Problema } from '../../../platform/errors.ts'
import type { PersonaActor } from '../../bitacora/bitacora.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { lockFactors } from '../factorRules.ts'
import { isSameCode, MAX_CODE_ATTEMPTS, NOT_FUTURE, wrongCode } from '../mailCode.ts'
import { notifyCorreoChange } from '../notify.ts'
import { presentPersonaSesion } from '../sessions/sesion.ts'
import { limitSignIns } from '../signInLimits.ts'

/**
 * Counts an attempt with the code of a session, and reads the person's present address. A change in another session may
 * just have ended this one, while a process still remembers it.
 */
const ATTEMPT = statement<
  { persona_id: string; huella: Uint8Array; now: Date },
  Pick<cambio_de_correo, 'id' | 'huella' | 'correo' | 'codigo_hash'> & { actual: string }
>(
  'equipo.attemptCambioDeCorreo',
  'central',
  `update cambio_de_correo set intentos = intentos + 1
   where persona_id = :persona_id and huella = :huella and anterior is null
     and vence_en > :now and ${NOT_FUTURE} and intentos < ${MAX_CODE_ATTEMPTS}
     and exists (select from sesion_persona where hash = :huella)
   returning id, huella, correo, codigo_hash, (select p.correo from persona p where p.id = persona_id) as actual`,
)

/**
 * Changes a person's address. What was sent to the former one is of no use any more: codes, half sign-ins and
 * invitations. All other sessions end, because the reader of the former address may have opened them.
 */
const CHANGE = statement<{ id: string; persona_id: string; huella: Uint8Array; correo: string; anterior: string }>(
  'equipo.change',
  'central',
  `with p as (
     update persona set correo = :correo where id = :persona_id
   ), d as (
     update cambio_de_correo set anterior = :anterior where id = :id
   ), i as (
     delete from invitacion where correo = :anterior
   ), c as (
     update codigo_de_entrada set intentos = ${MAX_CODE_ATTEMPTS} where persona_id = :persona_id
   ), e as (
     delete from entrada_a_medias where persona_id = :persona_id
   )
   delete from sesion_persona where persona_id = :persona_id and hash <> :huella`,
)

/** Returns the change to which a code belongs; undefined if the code is not valid for any reason. */
async function spendCorreoCode(
  query: Query,
  { clock, secretos }: Pick<Deps, 'clock' | 'secretos'>,
  { personaId: persona_id, sesion: huella }: PersonaActor['identity'],
  code: string,
) {
  if (!(await lockFactors(query, persona_id))) return undefined
  const [row] = await query(ATTEMPT, { persona_id, huella, now: clock() })
  return row && isSameCode(secretos, row, code.replace(/\s/g, '')) ? row : undefined
}

/**
 * Changes the address of a person with the code that was mailed to the new one, and tells the former address.
 * @returns the new address
 * @throws Problema 401 if the code is not valid; 409 if another person has the address; 429
 */
export async function changeCorreo(
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'newId' | 'settings' | 'bitacora' | 'signInLimit' | 'notifyJobs'>,
  actor: PersonaActor,
  code: string,
): Promise<string> {
  const { db, bitacora, notifyJobs } = deps
  const { identity, red } = actor
  const { personaId: persona_id, persona, nombre } = identity
  const giveBack = limitSignIns(deps, red)
  const correo = await inTransaction(db.central, async (query) => {
    const change = await spendCorreoCode(query, deps, identity, code)
    if (!change) return undefined
    const { id, huella, actual: anterior } = change
    await query(CHANGE, { id, persona_id, huella, correo: change.correo, anterior })
    const line = { accion: 'cambiarCorreo', sobre: ['persona', persona], campos: ['correo'] } as const
    await bitacora.record(query, actor, line)
    await notifyCorreoChange(query, deps, { nombre, correo: anterior })
    return change.correo
  }).catch((error: unknown) => {
    throw (error as { code?: string }).code === UNIQUE_VIOLATION ? takenCorreo() : error
  })
  if (correo === undefined) throw wrongCode()
  giveBack()
  notifyJobs()
  return correo
}

/** SQLSTATE of a second row with a unique value. */
const UNIQUE_VIOLATION = '23505'

const takenCorreo = () =>
  new Problema(
    'correo_ocupado',
    'Esa dirección ya es de otra cuenta. Use otra, o pida a quien administra que borre esa cuenta.',
  )

export const cambiarCorreo: Handler<'cambiarCorreo'> = async ({ body, ...caller }, deps) => {
  const correo = await changeCorreo(deps, caller, body.codigo)
  return { status: 200, body: await presentPersonaSesion(deps.db, { ...caller.identity, correo }) }
}
