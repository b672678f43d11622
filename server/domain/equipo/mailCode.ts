import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import { PERSON_CHALLENGE } from '../../api/http/authenticate.ts'
import { type Query, statement } from '../../data/db.ts'
import type { codigo_de_entrada } from '../../generated/contract/prisma/client.ts'
import { newToken, tokenHash } from '../../platform/codes/token.ts'
import { Problema } from '../../platform/errors.ts'
import { MINUTE_MS } from '../../platform/time/units.ts'
import { sealCorreo } from '../correos/correo.ts'
import type { Deps } from '../deps.ts'

/** Minutes for which a code is valid. */
export const CODE_MINUTES = 10
/** Maximum attempts with one code. A million codes and these limits give a guesser 1 chance in 55 a year. */
export const MAX_CODE_ATTEMPTS = 5
/** Maximum codes for one person within an hour and within a day. */
const MAX_CODES = { hora: 5, dia: 10 }

/**
 * SQL condition that a row is not dated in the future. Clocks of processes may differ by a minute. If the clock was set
 * back, a code dated in the future would be valid too long, and count against the limits of later codes.
 */
export const NOT_FUTURE = `creado_en <= :now::timestamptz + interval '1 minute'`

/**
 * Stores a sign-in code for a browser. If a person with a membership has the address, also queues the mail with the
 * code. Both cases run the same statement, so a stranger cannot tell them apart. A code beyond the limit is stored, but
 * not sent.
 */
const REQUEST = statement<
  Pick<codigo_de_entrada, 'huella' | 'codigo_hash'> & {
    correo: string
    now: Date
    vence_en: Date
    mail_id: string
    mail_digest: Uint8Array
    mail_content: Uint8Array
  }
>(
  'equipo.requestMailCode',
  'central',
  `with p as (
     select id from persona where correo = :correo and exists (select from membresia where persona_id = persona.id)
   ), c as (
     insert into codigo_de_entrada (huella, persona_id, codigo_hash, intentos, creado_en, vence_en)
     values (:huella, (select id from p), :codigo_hash, 0, :now::timestamptz, :vence_en::timestamptz)
   )
   insert into correo (id, huella, tipo, contenido, estado, intentos, creado_en, proximo_en, vence_en)
   select :mail_id, :mail_digest, 'codigo', :mail_content, 'pendiente', 0, :now, :now, :vence_en from p
   where (select count(*) from codigo_de_entrada o where o.persona_id = p.id
       and o.creado_en > :now::timestamptz - interval '1 hour' and o.${NOT_FUTURE}) < ${MAX_CODES.hora}
     and (select count(*) from codigo_de_entrada o where o.persona_id = p.id
       and o.creado_en > :now::timestamptz - interval '1 day' and o.${NOT_FUTURE}) < ${MAX_CODES.dia}`,
)

type CodeDeps = Pick<Deps, 'db' | 'clock' | 'secretos' | 'newId' | 'notifyJobs'>

/**
 * Returns the digest of a code.
 * @param digest row to which the code is bound: digest of the token of a browser, or of an invitation's link
 */
const codeDigest = (key: Buffer, digest: Uint8Array, code: string) =>
  new Uint8Array(createHmac('sha256', key).update(digest).update(code).digest())

/**
 * Stores a six-digit code for an address. The result does not reveal whether the address belongs to a person.
 * @returns the token for the cookie of the browser, to which the code is bound
 */
export async function writeCode(
  { db, clock, secretos, newId, notifyJobs }: CodeDeps,
  correo: string,
): Promise<{ token: string; vence_en: Date }> {
  const token = newToken()
  const huella = tokenHash(token)
  const codigo = String(randomInt(1_000_000)).padStart(6, '0')
  const now = clock()
  const vence_en = new Date(now.getTime() + CODE_MINUTES * MINUTE_MS)
  const { id } = newId()
  const datos = { codigo, minutos: CODE_MINUTES }
  const { huella: mail_digest, contenido: mail_content } = sealCorreo(secretos, id, { para: correo, datos })
  await db.query(REQUEST, {
    correo,
    huella,
    codigo_hash: sealCode(secretos, huella, codigo),
    now,
    vence_en,
    mail_id: id,
    mail_digest,
    mail_content,
  })
  notifyJobs()
  return { token, vence_en }
}

/** Returns the digest under which a code of a row is stored. */
export const sealCode = (secrets: Deps['secretos'], digest: Uint8Array, code: string) =>
  codeDigest(secrets.current('entradas').clave, digest, code)

/** Reports whether a code is the one of a row, also if an older master key made its digest. */
export const isSameCode = (
  secrets: Deps['secretos'],
  { huella, codigo_hash }: Pick<codigo_de_entrada, 'huella' | 'codigo_hash'>,
  code: string,
): boolean =>
  secrets
    .todas('entradas')
    .map(({ clave }) => timingSafeEqual(codeDigest(clave, huella, code), codigo_hash))
    .includes(true)

const ATTEMPT = statement<{ huella: Uint8Array; now: Date }, Pick<codigo_de_entrada, 'persona_id' | 'codigo_hash'>>(
  'equipo.attemptMailCode',
  'central',
  `update codigo_de_entrada set intentos = intentos + 1
   where huella = :huella and vence_en > :now and ${NOT_FUTURE} and intentos < ${MAX_CODE_ATTEMPTS} returning persona_id, codigo_hash`,
)

/** Ends a code, so that no further attempt finds it. Its row stays, because the codes of a day are counted. */
const SPEND = statement<{ huella: Uint8Array }>(
  'equipo.spendMailCode',
  'central',
  `update codigo_de_entrada set intentos = ${MAX_CODE_ATTEMPTS} where huella = :huella`,
)

/**
 * Counts an attempt with a code, and ends the code if it is right. The row stays locked until the end of the
 * transaction, so parallel attempts come one after another.
 * @param token cookie of the browser; undefined if it has none
 * @returns the id of the person; undefined if the code is not valid for any reason
 */
export async function spendCode(
  query: Query,
  { clock, secretos }: Pick<Deps, 'clock' | 'secretos'>,
  token: string | undefined,
  code: string,
): Promise<string | undefined> {
  if (token === undefined) return undefined
  const huella = tokenHash(token)
  const [row] = await query(ATTEMPT, { huella, now: clock() })
  if (!row) return undefined
  const typedCode = code.replace(/\s/g, '')
  const isRight = isSameCode(secretos, { huella, ...row }, typedCode)
  if (!isRight || row.persona_id === null) return undefined
  await query(SPEND, { huella })
  return row.persona_id
}

/** Returns the 401 for a code that is not valid. The answer does not give the reason. */
export const wrongCode = () =>
  new Problema('codigo_incorrecto', 'El código no vale. Revíselo, o pida otro en este mismo navegador.', {
    headers: PERSON_CHALLENGE,
  })
