import pg from 'pg'
import { inject } from 'vitest'
import { Cluster } from '../server/data/citus/cluster.ts'
import { cloneClusterDatabase, dropClusterDatabase } from './citus.ts'
import { TEMPLATE_DATABASE } from './template.ts'

/** Something done on each machine from outside a test's own database. */
export const runOnEachNode = <T>(action: (client: pg.Client) => Promise<T>): Promise<T[]> =>
  Promise.all((inject('nodeUrls') ?? [inject('postgres')]).map((node) => admin(action, node)))

/** Something done from outside a test's own database. */
export async function admin<T>(action: (client: pg.Client) => Promise<T>, node = inject('postgres')): Promise<T> {
  const client = new pg.Client({ connectionString: node })
  await client.connect()
  try {
    return await action(client)
  } finally {
    await client.end()
  }
}

/** Does something while a transaction on each machine is under way that has a number: the feed waits for it. */
export async function withOpenTransaction<T>(action: () => Promise<T>): Promise<T> {
  const openClients = await Promise.all(
    (inject('nodeUrls') ?? [inject('postgres')]).map(async (node) => {
      const client = new pg.Client({ connectionString: node })
      await client.connect()
      await client.query('begin')
      await client.query('select pg_current_xact_id()')
      return client
    }),
  )
  // The end of the feed counts ended transactions only, so it lies after the open one once a later one has ended.
  await runOnEachNode((client) => client.query('select pg_current_xact_id()'))
  try {
    return await action()
  } finally {
    await Promise.all(openClients.map((client) => client.end()))
  }
}

/** The transactions of all databases that have been open for five seconds or more, as JSON. */
export async function listOpenTransactions(): Promise<string> {
  const nodeResults = await runOnEachNode((client) =>
    client.query(
      `select datname, state, wait_event, backend_xid, now() - xact_start as desde, left(query, 200) as query
       from pg_stat_activity where xact_start < now() - interval '5 seconds' order by xact_start limit 10`,
    ),
  )
  return JSON.stringify(nodeResults.flatMap(({ rows }) => rows))
}

/** A database of its own for somebody, cloned from the template. */
export async function createTestDatabase(name: string): Promise<void> {
  const nodeUrls = inject('nodeUrls')
  if (nodeUrls) await cloneClusterDatabase(nodeUrls, name, TEMPLATE_DATABASE)
  else await admin((client) => client.query(`create database ${name} template ${TEMPLATE_DATABASE} strategy file_copy`))
}

export async function dropTestDatabase(name: string): Promise<void> {
  const nodeUrls = inject('nodeUrls')
  if (nodeUrls) await dropClusterDatabase(nodeUrls, name)
  else await admin((client) => client.query(`drop database if exists ${name} with (force)`))
}

/** Where merchants' rows lie in a database of the tests. */
export const openShards = async (url: string) => (inject('nodeUrls') ? await Cluster.open(url) : undefined)
