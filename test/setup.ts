import { chmod, mkdtemp, rm, statfs } from 'node:fs/promises'
import { freemem, tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { PgBoss } from 'pg-boss'
import type { TestProject } from 'vitest/node'
import { findBrowser, findHeadlessBrowser } from '../scripts/browser.ts'
import { acquirePostgres } from '../server/data/embedded/embedded.ts'
import { prepareDatabase } from '../server/startup/migrations.ts'
import { createQueues } from '../server/startup/workers.ts'
import { closeClusterDatabase, createClusterDatabase, findNodes, removeLeftovers } from './citus.ts'
import { startPooler } from './pooler.ts'
import { TEMPLATE_DATABASE } from './template.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Connection to the server's `postgres` database; on Citus the coordinator's. */
    postgres: string
    /** With `CITUS_URL`, of every node, the coordinator's first. */
    nodeUrls: readonly string[] | undefined
    /** Folder of the run: which answers were seen, and the files of every service. */
    runFolder: string
    /** The same through PgBouncer, with `PGBOUNCER=1`: every service of the tests then goes through it. */
    pooler: string | undefined
    /** Program of a browser of Chromium's kind. */
    browserPath: string | undefined
    /** The same without a camera, where a build exists that needs less of the processor. */
    headlessBrowserPath: string | undefined
  }
}

/** Free memory that a run needs in a file system of memory, in bytes. */
const MEMORY_FREE_BYTES = 6 * 2 ** 30

/**
 * Returns the folder for the files of a run: in memory where Linux has room for it. Each test file makes and drops a
 * database of 350 files, and ext4 searches long for a free inode after so many were deleted.
 */
async function chooseTempFolder(): Promise<string> {
  const memoryFolder = '/dev/shm'
  const freeBytes = await statfs(memoryFolder).then(
    ({ bavail, bsize }) => bavail * bsize,
    () => 0,
  )
  return freeBytes >= MEMORY_FREE_BYTES && freemem() >= MEMORY_FREE_BYTES ? memoryFolder : tmpdir()
}

export default async function prepareTestRun(project: TestProject) {
  const browserPath = findBrowser()
  if (!browserPath) {
    const missing = 'No browser was found: the pages, /docs and the SDK in a page are NOT tested. CHROMIUM names one.'
    if (process.env.CI) throw new Error(missing)
    console.warn(`\n*** ${missing} ***\n`)
  }
  project.provide('browserPath', browserPath)
  project.provide('headlessBrowserPath', findHeadlessBrowser() ?? browserPath)
  const folder = await mkdtemp(join(await chooseTempFolder(), 'guias-test-'))
  await chmod(folder, 0o755) // or root's PostgreSQL would keep its data elsewhere
  // Workers and all programs that tests start: compiled once in a run.
  process.env.NODE_COMPILE_CACHE = join(folder, 'compiled')
  const flags = [
    'fsync=off',
    'synchronous_commit=off',
    'full_page_writes=off',
    'max_connections=300',
    // A test that hangs with a transaction open would hold back the feeds of all other tests.
    'idle_in_transaction_session_timeout=60s',
  ].flatMap((flag) => ['-c', flag])
  const { CITUS_URL, POSTGRES_URL } = process.env
  const nodeUrls = CITUS_URL ? await findNodes(CITUS_URL) : undefined
  const foreignUrl = nodeUrls?.[0] ?? POSTGRES_URL
  const postgresServer = foreignUrl
    ? { superuserUrl: foreignUrl, release: () => removeLeftovers(nodeUrls ?? [foreignUrl], TEMPLATE_DATABASE) }
    : await acquirePostgres({ dataDir: folder, exclusive: false, flags })
  const urlOf = (base: string) => {
    const url = new URL(postgresServer.superuserUrl)
    url.pathname = `/${base}`
    return url.href
  }
  const admin = new pg.Client({ connectionString: urlOf('postgres') })
  await admin.connect()
  if (nodeUrls) await createClusterDatabase(nodeUrls, TEMPLATE_DATABASE)
  else await admin.query(`create database ${TEMPLATE_DATABASE}`)
  const { engine: backend } = await prepareDatabase(urlOf(TEMPLATE_DATABASE))
  const boss = new PgBoss({ connectionString: urlOf(TEMPLATE_DATABASE), backend, supervise: false, schedule: false })
  await boss.start()
  await createQueues(boss)
  await boss.stop({ graceful: false })
  await admin.end()
  if (nodeUrls) await closeClusterDatabase(nodeUrls, TEMPLATE_DATABASE)

  const pooler = process.env.PGBOUNCER ? await startPooler(urlOf('postgres')) : undefined
  project.provide('postgres', urlOf('postgres'))
  project.provide('nodeUrls', nodeUrls)
  project.provide('pooler', pooler?.url(urlOf('postgres')))
  project.provide('runFolder', folder)
  process.env.GUIAS_RUN_FOLDER = folder
  return async () => {
    await pooler?.stop()
    await postgresServer.release()
    // A program that ends now may still write its compiled code.
    await rm(folder, { recursive: true, force: true, maxRetries: 10 })
  }
}
