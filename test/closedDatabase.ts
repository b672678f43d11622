import { waitUntil } from './factories.ts'
import { runOnEachNode } from './postgres.ts'

/** Runs the callback while the database admits no session, as in a restart or a lost network. */
export async function whileDatabaseIsClosed(database: string, run: () => Promise<void>) {
  await runOnEachNode(async (client) => {
    await client.query(`alter database ${database} with allow_connections false`)
    // Until every session has ended, and so has told its pool: a later statement would be the one to learn of it (57P01).
    // A session that is starting has no database yet, and may have passed the check before it was closed.
    await waitUntil(async () => {
      const sessions = `select case when datname = $1 then pg_terminate_backend(pid) end from pg_stat_activity
        where datname = $1 or (datname is null and backend_type = 'client backend')`
      return (await client.query(sessions, [database])).rowCount === 0
    })
  })
  try {
    await run()
  } finally {
    await runOnEachNode((client) => client.query(`alter database ${database} with allow_connections true`))
  }
}
