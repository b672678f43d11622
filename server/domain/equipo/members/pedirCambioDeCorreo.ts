import { randomInt } from 'node:crypto'
import type { Identities } from '../../../api/http/identity.ts'
import { inTransaction, statement } from '../../../data/db.ts'
import type { cambio_de_correo } from '../../../generated/contract/prisma/client.ts'
import { problemOfFaults, tooMany } from '../../../platform/errors.ts'
import { DAY_MS, MINUTE_MS } from '../../../platform/time/units.ts'
import { requireCorreo, saveCorreo } from '../../correos/correo.ts'
import type { Deps } from '../../deps.ts'
import type { Handler } from '../../operation.ts'
import { lockFactors } from '../factorRules.ts'
import { CODE_MINUTES, MAX_CODE_ATTEMPTS, NOT_FUTURE, sealCode } from '../mailCode.ts'
import { limitSignIns } from '../signInLimits.ts'

/** Maximum codes for another address that one person gets within a day, because each is a mail to anybody. */
const MAX_CODES_PER_DAY = 5

const OF_DAY = statement<{ persona_id: string; now: Date }, Pick<cambio_de_correo, 'creado_en'>>(
  'equipo.ofDay',
  'central',
  `select creado_en from cambio_de_correo
   where persona_id = :persona_id and creado_en > :now::timestamptz - interval '1 day' and ${NOT_FUTURE}
   order by creado_en`,
)

/**
 * Stores a code. It ends the earlier ones of the session, also those of a later time: the clock may have been set back.
 */
const SAVE = statement<Omit<cambio_de_correo, 'anterior'>>(
  'equipo.saveCambioDeCorreo',
  'central',
  `with e as (
     update cambio_de_correo set intentos = ${MAX_CODE_ATTEMPTS} where persona_id = :persona_id and huella = :huella
   )
   insert into cambio_de_correo (id, persona_id, huella, correo, codigo_hash, intentos, creado_en, vence_en)
   values (:id, :persona_id, :huella, :correo, :codigo_hash, :intentos, :creado_en, :vence_en)`,
)

/**
 * Mails a code to the address that a person wants. The code is bound to the session. The caller has checked that the
 * person proved to be present recently.
 * @returns the instant until which the code is valid
 * @throws Problema 422 for the present address, or for a text that is no address; 429
 */
export async function requestCorreoChange(
  deps: Pick<Deps, 'db' | 'clock' | 'secretos' | 'newId' | 'signInLimit' | 'notifyJobs'>,
  { identity, red }: { identity: Identities['sesionDePersona']; red: string },
  text: string,
): Promise<Date> {
  const { db, clock, secretos, newId, notifyJobs } = deps
  const { personaId: persona_id, sesion: digest } = identity
  const correo = requireCorreo(text)
  if (correo === identity.correo) throw sameCorreo()
  limitSignIns(deps, red)
  const codigo = String(randomInt(1_000_000)).padStart(6, '0')
  const { id, creado_en } = newId()
  const vence_en = new Date(creado_en.getTime() + CODE_MINUTES * MINUTE_MS)
  await inTransaction(db.central, async (query) => {
    await lockFactors(query, persona_id)
    const now = clock()
    const ofDay = await query(OF_DAY, { persona_id, now })
    if (ofDay.length >= MAX_CODES_PER_DAY)
      throw tooMany(
        `Se mandaron ${MAX_CODES_PER_DAY} códigos en un día`,
        Math.ceil((ofDay[0]!.creado_en.getTime() + DAY_MS - now.getTime()) / 1_000),
      )
    const codigo_hash = new Uint8Array(sealCode(secretos, digest, codigo))
    await query(SAVE, {
      id,
      persona_id,
      huella: new Uint8Array(digest),
      correo,
      codigo_hash,
      intentos: 0,
      creado_en,
      vence_en,
    })
    const datos = { codigo, minutos: CODE_MINUTES }
    await saveCorreo(query, deps, { tipo: 'correo_nuevo', para: correo, datos, lifetimeMinutes: CODE_MINUTES })
  })
  notifyJobs()
  return vence_en
}

const sameCorreo = () =>
  problemOfFaults('validacion', [
    { campo: '/correo', codigo: 'valor_no_admitido', mensaje: 'es la dirección que ya tiene su cuenta' },
  ])

export const pedirCambioDeCorreo: Handler<'pedirCambioDeCorreo'> = async ({ body, ...caller }, deps) => {
  const vence_en = await requestCorreoChange(deps, caller, body.correo)
  return { status: 202, body: { vence_en: vence_en.toISOString() } }
}
