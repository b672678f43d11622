import * as fs from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { acquirePostgres, type EmbeddedPostgres } from '../../server/data/embedded/embedded.ts'

let base: string
beforeAll(() => {
  base = fs.mkdtempSync(join(fs.realpathSync(tmpdir()), 'guias-pg-'))
  // PostgreSQL's own user must reach the folder if the test runs as root.
  fs.chmodSync(base, 0o755)
})
afterAll(() => fs.rmSync(base, { recursive: true, force: true }))

const tomar = (exclusive = true) =>
  acquirePostgres({
    dataDir: join(base, 'datos'),
    externalFolder: join(base, 'externa'),
    exclusive,
    flags: ['-c', 'fsync=off'],
  })
const lockOf = ({ pgdata }: EmbeddedPostgres) => join(pgdata, 'postmaster.pid')

async function responds({ url }: EmbeddedPostgres): Promise<boolean> {
  const client = new pg.Client(url)
  await client.connect()
  try {
    return (await client.query('select 1 as uno')).rows[0].uno === 1
  } finally {
    await client.end()
  }
}

describe('a postmaster.pid that a power cut broke', () => {
  it('is removed if no process works in the folder', async () => {
    const first = await tomar()
    const lock = lockOf(first)
    await first.release()
    const { uid, gid } = fs.statSync(first.pgdata)
    // The last one has lost all but the pid, which PostgreSQL itself copes with.
    for (const bytes of ['', '\n', '\0'.repeat(4096), '0\n', 'x', '\u0001\u0002', '4194311']) {
      fs.writeFileSync(lock, bytes)
      fs.chownSync(lock, uid, gid)
      const postgres = await tomar()
      expect([bytes.slice(0, 9), await responds(postgres)]).toEqual([bytes.slice(0, 9), true])
      await postgres.release()
    }
  })

  it('stays over a live server, and the error says what to do', async () => {
    const liveEntry = await tomar()
    const good = fs.readFileSync(lockOf(liveEntry))
    fs.writeFileSync(lockOf(liveEntry), '')
    try {
      await expect(tomar(false)).rejects.toThrow(/postmaster\.pid está vacío o dañado.*borre ese archivo/)
      expect([fs.readFileSync(lockOf(liveEntry), 'utf8'), await responds(liveEntry)]).toEqual(['', true])
    } finally {
      fs.writeFileSync(lockOf(liveEntry), good)
      await liveEntry.release()
    }
  })
})
