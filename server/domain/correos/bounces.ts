import { statement } from '../../data/db.ts'
import { readBounce } from '../../platform/mail/bounce.ts'
import type { Deps } from '../deps.ts'
import type { CorreoRow } from './correo.ts'

/** The state says that the mail server had accepted the mail, so a repeated report changes nothing. */
const BOUNCED = statement<{ ids: readonly string[]; codigo: string; now: Date }, Pick<CorreoRow, 'id'>>(
  'correos.bounced',
  'central',
  `update correo set estado = 'rebotado', codigo = :codigo, rebotado_en = :now::timestamptz
   where id = any(:ids::uuid[]) and estado = 'enviado' and canal = 'smtp' returning id`,
)

/**
 * Stores that mails bounced after the mail server had accepted them.
 * @param mail delivery report as it came to the sender's address
 * @returns the number of mails that the report is about; 0 for any other mail
 */
export async function recordBounce(
  { db, clock }: Pick<Deps, 'db' | 'clock'>,
  mail: string,
): Promise<{ rebotados: number }> {
  const bounce = readBounce(mail)
  if (!bounce) return { rebotados: 0 }
  const rows = await db.query(BOUNCED, { ids: bounce.ids, codigo: `dsn_${bounce.status}`, now: clock() })
  return { rebotados: rows.length }
}
