import pg from 'pg'
import { inject } from 'vitest'
import { Cluster } from '../server/data/citus/cluster.ts'
import { cloneClusterDatabase, dropClusterDatabase } from './citus.ts'
import { TEMPLATE_DATABASE } from './template.ts'

/** Something done on each machine from outside a test's own database. */
export const runOnEachNode = <T>(action: (cliente: pg.Client) => Promise<T>): Promise<T[]> =>
  Promise.all((inject('nodeUrls') ?? [inject('postgres')]).map((nodo) => admin(action, nodo)))

/** Something done from outside a test's own database. */
export async function admin<T>(action: (cliente: pg.Client) => Promise<T>, nodo = inject('postgres')): Promise<T> {
  const cliente = new pg.Client({ connectionString: nodo })
  await cliente.connect()
  try {
    return await action(cliente)
  } finally {
    await cliente.end()
  }
}

/** Does something while a transaction on each machine is under way that has a number: the feed waits for it. */
export async function withOpenTransaction<T>(action: () => Promise<T>): Promise<T> {
  const openClients = await Promise.all(
    (inject('nodeUrls') ?? [inject('postgres')]).map(async (nodo) => {
      const cliente = new pg.Client({ connectionString: nodo })
      await cliente.connect()
      await cliente.query('begin')
      await cliente.query('select pg_current_xact_id()')
      return cliente
    }),
  )
  // The end of the feed counts ended transactions only, so it lies after the open one once a later one has ended.
  await runOnEachNode((cliente) => cliente.query('select pg_current_xact_id()'))
  try {
    return await action()
  } finally {
    await Promise.all(openClients.map((cliente) => cliente.end()))
  }
}

/** The transactions of all databases that have been open for five seconds or more, as JSON. */
export async function listOpenTransactions(): Promise<string> {
  const nodeResults = await runOnEachNode((cliente) =>
    cliente.query(
      `select datname, state, wait_event, backend_xid, now() - xact_start as desde, left(query, 200) as query
       from pg_stat_activity where xact_start < now() - interval '5 seconds' order by xact_start limit 10`,
    ),
  )
  return JSON.stringify(nodeResults.flatMap(({ rows }) => rows))
}

/** A database of its own for somebody, cloned from the template. */
export async function createTestDatabase(nombre: string): Promise<void> {
  const nodeUrls = inject('nodeUrls')
  if (nodeUrls) await cloneClusterDatabase(nodeUrls, nombre, TEMPLATE_DATABASE)
  else
    await admin((cliente) =>
      cliente.query(`create database ${nombre} template ${TEMPLATE_DATABASE} strategy file_copy`),
    )
}

export async function dropTestDatabase(nombre: string): Promise<void> {
  const nodeUrls = inject('nodeUrls')
  if (nodeUrls) await dropClusterDatabase(nodeUrls, nombre)
  else await admin((cliente) => cliente.query(`drop database if exists ${nombre} with (force)`))
}

/** Where merchants' rows lie in a database of the tests. */
export const openShards = async (url: string) => (inject('nodeUrls') ? await Cluster.open(url) : undefined)
