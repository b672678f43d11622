import { statement } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import { keyIdOf } from '../../platform/sealing.ts'
import { DAY_MS, MINUTE_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { reencryptSecret, type SecretoRow } from './secret.ts'

type CleanupDeps = Pick<Deps, 'db' | 'log' | 'clock' | 'secretos' | 'settings'>

/** Maximum number of rows per statement, which keeps all transactions short. */
const MAX_ROWS_PER_STATEMENT = 2_000

/**
 * Ends the waiting deliveries of disabled endpoints; the merchant can recover them later. Tests and resends are still
 * sent.
 */
const CLOSE_DISABLED = statement<{ now: Date }>(
  'upkeep.closeDisabled',
  'part',
  `update webhook_aviso e set estado = 'fallido', ultimo_error = 'webhook_deshabilitado', turno = e.turno + 1,
     terminado_en = :now
   from (
     select p.* from webhook w cross join lateral (
       select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, e.turno from webhook_aviso e
       where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and e.estado = 'pendiente'
         and e.proximo_en > timestamptz '1970-01-01Z' order by e.proximo_en, e.guia_id, e.secuencia limit ${MAX_ROWS_PER_STATEMENT}) p
     where w.estado = 'deshabilitado' limit ${MAX_ROWS_PER_STATEMENT}) p
   where e.comercio_id = p.comercio_id and e.modo = p.modo and e.webhook = p.webhook and e.guia_id = p.guia_id
     and e.secuencia = p.secuencia and e.turno = p.turno and e.estado = 'pendiente' returning 1`,
)

/** Condition for deliveries of some endpoints, with the order of an index that keeps these deliveries together. */
interface AvisoSelection {
  condition: string
  order: string
}

/**
 * SQL of a CTE `v` with a batch of the deliveries that fulfil a condition. Without the order, PostgreSQL would read the
 * table from its beginning, with the dead rows of earlier batches each time. That costs ten times as much for each row.
 */
const batchSql = ({ condition, order }: AvisoSelection) => `v as (
       select p.* from webhook w cross join lateral (
         select e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia from webhook_aviso e
         where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook and ${condition}
         order by ${order} limit ${MAX_ROWS_PER_STATEMENT}) p
       limit ${MAX_ROWS_PER_STATEMENT}
     )`
const SAME_ROW = (a: string) =>
  `${a}.comercio_id = v.comercio_id and ${a}.modo = v.modo and ${a}.webhook = v.webhook and ${a}.guia_id = v.guia_id
     and ${a}.secuencia = v.secuencia`

/** SQL that deletes a batch of attempts of the deliveries in `v`, however many attempts a delivery has. */
const deleteIntentosSql = (selection: AvisoSelection) => `with ${batchSql(selection)}, i as (
     select i.* from v join webhook_intento i on ${SAME_ROW('i')} limit ${MAX_ROWS_PER_STATEMENT}
   ) delete from webhook_intento n using i where n.comercio_id = i.comercio_id and n.modo = i.modo and n.webhook = i.webhook
     and n.guia_id = i.guia_id and n.secuencia = i.secuencia and n.id = i.id returning 1`

/** SQL that deletes the deliveries of the batch that have no attempts left. */
const deleteAvisosSql = (
  selection: AvisoSelection,
) => `with ${batchSql(selection)} delete from webhook_aviso e using v where ${SAME_ROW('e')}
     and not exists (select from webhook_intento i where ${SAME_ROW('i')}) returning 1`

const OF_DELETED = { condition: `w.estado = 'eliminado'`, order: 'e.guia_id, e.secuencia' }
const DELETE_INTENTOS_OF_DELETED = statement('upkeep.deleteIntentosOfDeleted', 'part', deleteIntentosSql(OF_DELETED))
const DELETE_AVISOS_OF_DELETED = statement('upkeep.deleteAvisosOfDeleted', 'part', deleteAvisosSql(OF_DELETED))

const OLD_AVISOS = {
  condition: `e.creado_en < :before and e.estado <> 'pendiente' and e.terminado_en < :before`,
  order: 'e.creado_en, e.guia_id, e.secuencia',
}
const DELETE_OLD_INTENTOS = statement<{ before: Date }>(
  'upkeep.deleteOldIntentos',
  'part',
  deleteIntentosSql(OLD_AVISOS),
)
const DELETE_OLD_AVISOS = statement<{ before: Date }>('upkeep.deleteOldAvisos', 'part', deleteAvisosSql(OLD_AVISOS))

/**
 * Deletes the rows of endpoints some time after the endpoints were deleted. By then, deliveries that were written at
 * the same time are visible and are deleted, too.
 */
const DELETE_WEBHOOKS = statement<{ before: Date }>(
  'upkeep.deleteWebhooks',
  'part',
  `delete from webhook w where estado = 'eliminado' and estado_en < :before and not exists (
     select from webhook_aviso e where e.comercio_id = w.comercio_id and e.modo = w.modo and e.webhook = w.webhook)`,
)
const DELETE_RECOVERIES = statement<{ before: Date }>(
  'upkeep.deleteRecoveries',
  'part',
  `delete from recuperacion r where (estado <> 'en_curso' and terminado_en < :before) or not exists (
     select from webhook w where w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook)`,
)
const DELETE_SECRETOS = statement<{ before: Date }>(
  'upkeep.deleteSecretos',
  'part',
  `delete from webhook_secreto s where vence_en < :before or not exists (select from webhook w
     where w.comercio_id = s.comercio_id and w.modo = s.modo and w.webhook = s.webhook and w.estado <> 'eliminado')`,
)

const OLDER_CIPHERTEXTS = statement<
  { kid: Buffer },
  Pick<SecretoRow, 'comercio_id' | 'modo' | 'webhook' | 'version' | 'cifrado'>
>(
  'upkeep.olderCiphertexts',
  'part',
  `select comercio_id, modo, webhook, version, cifrado from webhook_secreto
   where substring(cifrado from 1 for 4) <> :kid order by random() limit ${MAX_ROWS_PER_STATEMENT}`,
)

/**
 * Deletes data of webhooks that is no longer kept, one batch of each kind. Two processes may run it at the same time.
 * @returns true if there is more to delete
 */
export async function cleanWebhooks({ db, ...deps }: CleanupDeps): Promise<boolean> {
  return (await runInEachPart(db, (shardDb) => cleanShard({ db: shardDb, ...deps }))).includes(true)
}

async function cleanShard({ db, log, clock, secretos, settings }: CleanupDeps): Promise<boolean> {
  const now = clock()
  const ago = (ms: number) => new Date(now.getTime() - ms)
  const retentionLimit = { before: ago(settings.webhookRetention * DAY_MS) }
  const steps: (() => Promise<readonly unknown[]>)[] = [
    () => db.query(CLOSE_DISABLED, { now }),
    () => db.query(DELETE_INTENTOS_OF_DELETED),
    () => db.query(DELETE_AVISOS_OF_DELETED),
    () => db.query(DELETE_OLD_INTENTOS, retentionLimit),
    () => db.query(DELETE_OLD_AVISOS, retentionLimit),
    () => db.query(DELETE_WEBHOOKS, { before: ago(10 * MINUTE_MS) }),
    () => db.query(DELETE_RECOVERIES, retentionLimit),
    () => db.query(DELETE_SECRETOS, { before: ago(DAY_MS) }),
  ]
  let mayHaveMore = false
  const onError = (err: unknown) => log.warn({ err }, 'webhook housekeeping step failed')
  // A step that fails must not stop the others.
  for (const step of steps) {
    const deletedRows = await step().catch(onError)
    if (deletedRows && deletedRows.length >= MAX_ROWS_PER_STATEMENT) mayHaveMore = true
  }
  await reencryptSecretos({ db, log, secretos }).catch(onError)
  return mayHaveMore
}

/** Encrypts secrets of an older master key with the current master key, so that the older key is no longer needed. */
async function reencryptSecretos({ db, log, secretos }: Pick<CleanupDeps, 'db' | 'log' | 'secretos'>) {
  const currentKid = Buffer.from(secretos.current('webhooks').kid, 'hex')
  const olderRows = await db.query(OLDER_CIPHERTEXTS, { kid: currentKid })
  let reencryptedCount = 0
  for (const { comercio_id, modo, webhook, version, cifrado } of olderRows) {
    const nuevo = reencryptSecret(secretos, { webhook, version }, cifrado)
    if (!nuevo) {
      log.error({ webhook, version, kid: keyIdOf(cifrado) }, 'MASTER_KEYS lacks the key of this signing secret')
      continue
    }
    await db.prisma.webhook_secreto.updateMany({
      where: { comercio_id, modo, webhook, version, cifrado },
      data: { cifrado: nuevo },
    })
    reencryptedCount++
  }
  if (reencryptedCount > 0)
    log.info({ secretos: reencryptedCount }, 'signing secrets encrypted with the present master key')
}
