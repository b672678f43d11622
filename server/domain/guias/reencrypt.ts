import { statement } from '../../data/db.ts'
import { runInEachPart } from '../../data/partQueries.ts'
import type { JobDeps } from '../deps.ts'
import type { EventoRow } from '../eventos/evento.ts'
import { reencryptChanges } from '../records/correccionCipher.ts'

const MAX_EVENTOS_PER_ROUND = 500

type CorreccionKey = Pick<EventoRow, 'comercio_id' | 'modo' | 'guia_id' | 'secuencia'>

const WITH_OTHER_KEY = statement<{ kid: Buffer }, CorreccionKey & Pick<EventoRow, 'cambios'>>(
  'correcciones.withOtherKey',
  'part',
  `select comercio_id, modo, guia_id, secuencia, cambios from evento
   where cambios is not null and substring(cambios from 1 for 4) <> :kid order by random() limit ${MAX_EVENTOS_PER_ROUND}`,
)

/** A person's data may have been erased meanwhile, so the value is replaced only if it is unchanged. */
const STORE_CHANGES = statement<CorreccionKey & { antes: Uint8Array; despues: Uint8Array }>(
  'correcciones.storeChanges',
  'merchant',
  `update evento set cambios = :despues where comercio_id = :comercio_id and modo = :modo and guia_id = :guia_id
     and secuencia = :secuencia and cambios = :antes`,
)

type ReencryptionDeps = Pick<JobDeps, 'db' | 'log' | 'secretos'>

/**
 * Encrypts corrections of an older master key with the present master key, so that the older key is no longer needed.
 * @returns true if there may be more
 */
export async function reencryptCorrections({ db, ...deps }: ReencryptionDeps): Promise<boolean> {
  return (await runInEachPart(db, (shardDb) => reencryptPart({ db: shardDb, ...deps }))).includes(true)
}

async function reencryptPart({ db, log, secretos }: ReencryptionDeps): Promise<boolean> {
  const kid = Buffer.from(secretos.current('correcciones').kid, 'hex')
  const rows = await db.query(WITH_OTHER_KEY, { kid })
  let reencrypted = 0
  for (const { cambios, ...key } of rows) {
    const despues = reencryptChanges(secretos, key, cambios!)
    if (!despues) continue
    await db.query(STORE_CHANGES, { ...key, antes: cambios!, despues })
    reencrypted++
  }
  if (reencrypted > 0) log.info({ correcciones: reencrypted }, 'corrections encrypted with the present master key')
  const unreadable = rows.length - reencrypted
  if (unreadable > 0) log.error({ correcciones: unreadable }, 'MASTER_KEYS lacks the key of corrections')
  // Stops if no row of the batch was readable, because the next round would read the same rows again.
  return rows.length === MAX_EVENTOS_PER_ROUND && reencrypted > 0
}
