import pg from 'pg'

/** A node's `postgres` database. */
export type NodeUrl = string

const urlOf = (url: string, base: string) => Object.assign(new URL(url), { pathname: `/${base}` }).href

async function withClient<T>(url: string, run: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url })
  // A database that is cloned sends its sessions away.
  client.on('error', () => {})
  await client.connect()
  try {
    return await run(client)
  } finally {
    await client.end()
  }
}

const runStatements = (url: string, ...sql: string[]) =>
  withClient(url, async (client) => {
    for (const statement of sql) await client.query(statement)
  })

/** The nodes of the cluster whose coordinator's database that is, the coordinator first. */
export function findNodes(coordinator: string): Promise<NodeUrl[]> {
  return withClient(coordinator, async (client) => {
    const { rows } = await client.query<{ nodename: string; nodeport: number }>(
      'select nodename, nodeport from pg_dist_node where isactive order by groupid',
    )
    return rows.map(
      ({ nodename, nodeport }) =>
        Object.assign(new URL(urlOf(coordinator, 'postgres')), { hostname: nodename, port: `${nodeport}` }).href,
    )
  })
}

/** Parts of each table: as many as make every machine have some. */
const SHARD_COUNT = 4

/** A database of that name on a node, ready to be part of a cluster. */
export async function createNodeDatabase(node: NodeUrl, name: string): Promise<void> {
  await runStatements(node, `drop database if exists ${name} with (force)`, `create database ${name}`)
  await runStatements(urlOf(node, name), 'set client_min_messages to error', 'create extension citus')
}

/** A database of that name on every node, which are a cluster in it. */
export async function createClusterDatabase(nodes: readonly NodeUrl[], name: string): Promise<void> {
  for (const node of nodes) await createNodeDatabase(node, name)
  const [coordinator, ...workerNodes] = nodes.map((node) => new URL(node))
  await runStatements(
    urlOf(coordinator!.href, name),
    `alter database ${name} set citus.shard_count to ${SHARD_COUNT}`,
    `select citus_set_coordinator_host('${coordinator!.hostname}', ${coordinator!.port})`,
    ...workerNodes.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  )
}

/** Closes a database, so that it can be cloned: not even Citus's own keeper may be in it. */
export const closeClusterDatabase = (nodes: readonly NodeUrl[], name: string) =>
  Promise.all(nodes.map((node) => runStatements(node, `alter database ${name} with allow_connections false`)))

/** A copy of a distributed database: of each node's part on that node, for the parts know each other by their node. */
export async function cloneClusterDatabase(nodes: readonly NodeUrl[], name: string, template: string): Promise<void> {
  await Promise.all(nodes.map((node) => cloneNodeDatabase(node, name, template)))
}

async function cloneNodeDatabase(node: NodeUrl, name: string, template: string): Promise<void> {
  const terminateSql = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${template}'`
  const createSql = `create database ${name} template ${template} strategy file_copy`
  for (let intento = 1; ; intento++) {
    try {
      return await runStatements(node, terminateSql, createSql)
    } catch (error) {
      // 55006: somebody is in it still.
      if ((error as { code?: string }).code !== '55006' || intento === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Takes away what a run leaves behind: its template, and the databases of tests that failed. */
export async function removeLeftovers(nodes: readonly NodeUrl[], template: string): Promise<void> {
  const { rows } = await withClient(nodes[0]!, (client) =>
    client.query<{ datname: string }>(
      "select datname from pg_database where datname = $1 or datname ~ '^t_[0-9a-f]{12}$'",
      [template],
    ),
  )
  for (const { datname } of rows) await dropClusterDatabase(nodes, datname)
}

export const dropClusterDatabase = (nodes: readonly NodeUrl[], name: string) =>
  Promise.all(nodes.map((node) => runStatements(node, `drop database if exists ${name} with (force)`)))
