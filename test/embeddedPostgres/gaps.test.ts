// Gaps in the log of a continuous backup, with a real server and its own slot.

import { chmodSync, mkdtempSync, readdirSync, realpathSync, rmSync, statSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listBases, placesIn, readStatus } from '../../server/data/embedded/continuous/folder.ts'
import { type Keeping, keepContinuousBackup } from '../../server/data/embedded/continuous/keep.ts'
import { restoreContinuous } from '../../server/data/embedded/continuous/restore.ts'
import { dropBackupSlot } from '../../server/data/embedded/continuous/slot.ts'
import { acquirePostgres, type EmbeddedPostgres } from '../../server/data/embedded/embedded.ts'
import { withClient } from '../../server/data/embedded/withClient.ts'
import { Passphrase } from '../../server/platform/backup/seal.ts'
import { createLog } from '../../server/platform/log.ts'
import { FULL_RUN_ONLY } from '../factories.ts'

const base = mkdtempSync(join(realpathSync(tmpdir()), 'guias-huecos-'))
chmodSync(base, 0o755) // PostgreSQL's user passes through
const [dataDir, folder] = [join(base, 'datos'), join(base, 'respaldo')]
const passphrase = new Passphrase('una clave larga de prueba')
let postgres: EmbeddedPostgres

beforeAll(async () => {
  postgres = await acquirePostgres({ dataDir, exclusive: false, flags: ['-c', 'fsync=off'] })
})
afterAll(async () => {
  await postgres.release()
  rmSync(base, { recursive: true, force: true, maxRetries: 10 })
})

const start = (): Promise<Keeping> =>
  keepContinuousBackup({
    folder,
    passphrase,
    days: 7,
    dataDir,
    url: postgres.superuserUrl,
    files: undefined,
    log: createLog('silent'),
  })
/** @returns the number of slots that are left */
const dropSlot = async () => {
  await dropBackupSlot(postgres.superuserUrl)
  return withClient({ connectionString: postgres.superuserUrl }, async (client) => {
    const { rows } = await client.query('select from pg_replication_slots')
    return rows.length
  })
}
const copies = () => expect.poll(() => listBases(folder).length, { interval: 50 })

describe('a continuous backup', () => {
  it('copies the cluster anew after a gap, from which nothing could be restored otherwise', FULL_RUN_ONLY, async () => {
    const first = await start()
    await copies().toBe(1)
    const { sin_huecos_desde: gaplessSince } = readStatus(folder)!
    await first.stop()
    const second = await start()
    await second.stop()
    expect([readStatus(folder)!.sin_huecos_desde, listBases(folder).length]).toEqual([gaplessSince, 1])

    // The server forgets what was written meanwhile, once it has noticed that nobody reads the slot any more.
    await expect.poll(dropSlot, { interval: 50 }).toBe(0)
    const third = await start()
    await copies().toBe(2)
    await third.stop()
    const [before, after] = listBases(folder)
    const gap = new Date(readStatus(folder)!.sin_huecos_desde)
    expect([before!.end < gap, gap <= after!.end]).toEqual([true, true])
  })

  it('is not restored beyond a segment that is cut short', async () => {
    const restored = await start()
    await copies().toBeGreaterThan(0)
    const client = new pg.Client(postgres.superuserUrl)
    await client.connect()
    for (let i = 0; i < 2; i++) {
      await client.query('create table if not exists t (n int)')
      await client.query('insert into t values (1)')
      await client.query('select pg_switch_wal()')
    }
    await client.end()
    await restored.stop()
    const { log } = placesIn(folder)
    const cortada = listBases(folder).at(-1)!.segment
    const piece = join(log, readdirSync(log).find((one) => one.startsWith(cortada))!)
    truncateSync(piece, Math.floor(statSync(piece).size / 2))
    await expect(restoreContinuous(folder, passphrase, join(base, 'restaurada'))).rejects.toThrow(
      `Al respaldo le falta una parte después de ${cortada}`,
    )
  })
})
