import type { JobInsert } from 'pg-boss'
import { type Db, statement } from '../../data/db.ts'
import { letterHtml, letterText } from '../../platform/mail/letter.ts'
import type { MailResult } from '../../platform/mail/smtp.ts'
import { HANDOVER_WAITS } from '../../platform/time/backoff.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { JobDeps } from '../deps.ts'
import { type CorreoRow, readCorreo } from './correo.ts'
import { composeLetter } from './templates.ts'

type CorreoDeps = Pick<JobDeps, 'db' | 'log' | 'clock' | 'secretos' | 'settings' | 'metrics' | 'mailClient'>

/** Maximum mails that are sent at the same time. */
const CONCURRENCY = 4
/** Delay of a mail, in milliseconds, while no mail server or mailbox is configured, or while the mail account fails. */
const ACCOUNT_DELAY_MS = 600_000
/** Days for which the row of a mail is kept, for operators and for the local mailbox. */
const RETENTION_DAYS = 30

const PENDING = statement<{ now: Date; count: number }, Pick<CorreoRow, 'id'> & { correo: CorreoRow['id'] }>(
  'correos.pending',
  'central',
  `select id as correo, md5(id::text || ':' || estado || proximo_en)::uuid as id from correo
   where estado in ('pendiente', 'enviando') and proximo_en <= :now order by proximo_en limit :count`,
)

/** Returns due mails as jobs: pending mails, and mails whose sending process died. */
export async function pendingCorreos(
  { db, clock }: Pick<CorreoDeps, 'db' | 'clock'>,
  count: number,
): Promise<JobInsert[]> {
  const rows = await db.query(PENDING, { now: clock(), count })
  return rows.map(({ id, correo }) => ({ id, data: { correo } }))
}

const BRING_FORWARD = statement<{ now: Date }>(
  'correos.bringForward',
  'central',
  `update correo set proximo_en = :now::timestamptz where estado = 'pendiente' and intentos = 0
     and proximo_en > :now and creado_en > :now`,
)

/** Corrects the due time of mails that were written before the clock was set back. */
export const bringForwardCorreos = ({ db, clock }: Pick<CorreoDeps, 'db' | 'clock'>) =>
  db.query(BRING_FORWARD, { now: clock() })

/** Claims due mails for two minutes. */
const CLAIM = statement<
  { correos: readonly string[]; now: Date },
  Pick<CorreoRow, 'id' | 'tipo' | 'contenido' | 'intentos' | 'vence_en'>
>(
  'correos.claim',
  'central',
  `update correo set estado = 'enviando', intentos = intentos + 1, proximo_en = :now::timestamptz + interval '2 minutes'
   where id = any(:correos::uuid[]) and estado in ('pendiente', 'enviando') and proximo_en <= :now
   returning id, tipo, contenido, intentos, vence_en`,
)

type ClaimedCorreo = Pick<CorreoRow, 'id' | 'tipo' | 'contenido' | 'intentos' | 'vence_en'>

/** Sends the mails of these jobs. Repeating a job has no effect. */
export async function sendCorreos(deps: CorreoDeps, jobs: readonly { data: object }[]): Promise<void> {
  const ids = jobs.map(({ data }) => (data as { correo: string }).correo)
  for (let i = 0; i < ids.length; i += CONCURRENCY) {
    const correos = await deps.db.query(CLAIM, { correos: ids.slice(i, i + CONCURRENCY), now: deps.clock() })
    await Promise.all(correos.map((claimed) => sendOne(deps, claimed)))
  }
}

async function sendOne(deps: CorreoDeps, correo: ClaimedCorreo): Promise<void> {
  const { db, log, clock, settings, metrics, mailClient } = deps
  const { id, tipo, intentos, vence_en } = correo
  const opened = readCorreo(deps.secretos, correo)
  if (!opened || vence_en <= clock()) return void (await db.query(EXPIRED, keyOf(correo)))
  if (!mailClient) {
    if (settings.buzon) return deliverToBuzon(db, correo, clock())
    return postpone(db, correo, new Date(clock().getTime() + ACCOUNT_DELAY_MS), 'sin_servidor')
  }
  const { brand } = settings
  const letter = composeLetter(tipo, opened.datos, brand.nombre)
  const mailResult = await mailClient.send({
    id,
    to: opened.para,
    de: brand.nombre,
    subject: letter.subject,
    texto: letterText(letter, brand),
    html: letterHtml(letter, brand),
  })
  metrics.correo(mailResult.resultado)
  const level = mailResult.resultado === 'aceptado' ? 'info' : 'warn'
  log[level]({ correo: id, tipo, intentos, ...mailResult }, 'mail attempt')
  await settle(deps, correo, mailResult)
}

async function settle({ db, log, clock }: CorreoDeps, correo: ClaimedCorreo, mailResult: MailResult): Promise<void> {
  switch (mailResult.resultado) {
    case 'aceptado':
      return void (await db.query(ACCEPTED, { ...keyOf(correo), now: clock() }))
    case 'rebotado':
      return void (await db.query(REFUSED, { ...keyOf(correo), codigo: mailResult.codigo, now: clock() }))
    case 'pasajero': {
      if (mailResult.cuenta) log.error({ codigo: mailResult.codigo, motivo: mailResult.motivo }, 'mail account error')
      const delayMs = HANDOVER_WAITS[correo.intentos - 1] ?? ACCOUNT_DELAY_MS
      return postpone(db, correo, new Date(clock().getTime() + delayMs), mailResult.codigo)
    }
  }
}

type Key = Pick<CorreoRow, 'id' | 'intentos'>
const keyOf = ({ id, intentos }: Key): Key => ({ id, intentos })

/** SQL condition that the attempt that stores its result still holds the mail. */
const CLAIMED = `id = :id and estado = 'enviando' and intentos = :intentos`

/** The statement also erases the content, because it may contain a code or a link. */
const ACCEPTED = statement<Key & { now: Date }>(
  'correos.accepted',
  'central',
  `update correo set estado = 'enviado', canal = 'smtp', enviado_en = :now::timestamptz, contenido = null, codigo = null
   where ${CLAIMED}`,
)
const IN_BUZON = statement<Key & { now: Date }>(
  'correos.inBuzon',
  'central',
  `update correo set estado = 'enviado', canal = 'buzon', enviado_en = :now::timestamptz where ${CLAIMED}`,
)
const EXPIRED = statement<Key>(
  'correos.expired',
  'central',
  `update correo set estado = 'caducado', contenido = null where ${CLAIMED}`,
)
const REFUSED = statement<Key & { codigo: string; now: Date }>(
  'correos.refused',
  'central',
  `update correo set estado = 'rebotado', codigo = :codigo, rebotado_en = :now::timestamptz, contenido = null
   where ${CLAIMED}`,
)
const POSTPONE = statement<Key & { proximo_en: Date; codigo: string }>(
  'correos.postpone',
  'central',
  `update correo set estado = 'pendiente', codigo = :codigo, proximo_en = least(:proximo_en::timestamptz, vence_en)
   where ${CLAIMED}`,
)

const postpone = async (db: Db, correo: Key, proximo_en: Date, codigo: string): Promise<void> =>
  void (await db.query(POSTPONE, { ...keyOf(correo), proximo_en, codigo }))
const deliverToBuzon = async (db: Db, correo: Key, now: Date): Promise<void> =>
  void (await db.query(IN_BUZON, { ...keyOf(correo), now }))

const PURGE = statement<{ antes: Date }>('correos.purge', 'central', 'delete from correo where creado_en < :antes')

/** Deletes mails that are older than 30 days. */
export const purgeCorreos = ({ db, clock }: Pick<CorreoDeps, 'db' | 'clock'>) =>
  db.query(PURGE, { antes: new Date(clock().getTime() - RETENTION_DAYS * DAY_MS) })
