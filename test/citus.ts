import pg from 'pg'

/** A node's `postgres` database. */
export type NodeUrl = string

const en = (url: string, base: string) => Object.assign(new URL(url), { pathname: `/${base}` }).href

async function conectado<T>(url: string, hacer: (cliente: pg.Client) => Promise<T>): Promise<T> {
  const cliente = new pg.Client({ connectionString: url })
  // A database that is cloned sends its sessions away.
  cliente.on('error', () => {})
  await cliente.connect()
  try {
    return await hacer(cliente)
  } finally {
    await cliente.end()
  }
}

const ordenar = (url: string, ...sql: string[]) =>
  conectado(url, async (cliente) => {
    for (const statement of sql) await cliente.query(statement)
  })

/** The nodes of the cluster whose coordinator's database that is, the coordinator first. */
export function findNodes(coordinador: string): Promise<NodeUrl[]> {
  return conectado(coordinador, async (cliente) => {
    const { rows } = await cliente.query<{ nodename: string; nodeport: number }>(
      'select nodename, nodeport from pg_dist_node where isactive order by groupid',
    )
    return rows.map(
      ({ nodename, nodeport }) =>
        Object.assign(new URL(en(coordinador, 'postgres')), { hostname: nodename, port: `${nodeport}` }).href,
    )
  })
}

/** Parts of each table: as many as make every machine have some. */
const PARTES = 4

/** A database of that name on a node, ready to be part of a cluster. */
export async function createNodeDatabase(nodo: NodeUrl, nombre: string): Promise<void> {
  await ordenar(nodo, `drop database if exists ${nombre} with (force)`, `create database ${nombre}`)
  await ordenar(en(nodo, nombre), 'set client_min_messages to error', 'create extension citus')
}

/** A database of that name on every node, which are a cluster in it. */
export async function createClusterDatabase(nodos: readonly NodeUrl[], nombre: string): Promise<void> {
  for (const nodo of nodos) await createNodeDatabase(nodo, nombre)
  const [coordinador, ...workerNodes] = nodos.map((nodo) => new URL(nodo))
  await ordenar(
    en(coordinador!.href, nombre),
    `alter database ${nombre} set citus.shard_count to ${PARTES}`,
    `select citus_set_coordinator_host('${coordinador!.hostname}', ${coordinador!.port})`,
    ...workerNodes.map(({ hostname, port }) => `select citus_add_node('${hostname}', ${port})`),
  )
}

/** Closes a database, so that it can be cloned: not even Citus's own keeper may be in it. */
export const closeClusterDatabase = (nodos: readonly NodeUrl[], nombre: string) =>
  Promise.all(nodos.map((nodo) => ordenar(nodo, `alter database ${nombre} with allow_connections false`)))

/** A copy of a distributed database: of each node's part on that node, for the parts know each other by their node. */
export async function cloneClusterDatabase(
  nodos: readonly NodeUrl[],
  nombre: string,
  plantilla: string,
): Promise<void> {
  await Promise.all(nodos.map((nodo) => clonar(nodo, nombre, plantilla)))
}

async function clonar(nodo: NodeUrl, nombre: string, plantilla: string): Promise<void> {
  const echar = `select pg_terminate_backend(pid) from pg_stat_activity where datname = '${plantilla}'`
  const crear = `create database ${nombre} template ${plantilla} strategy file_copy`
  for (let intento = 1; ; intento++) {
    try {
      return await ordenar(nodo, echar, crear)
    } catch (error) {
      // 55006: somebody is in it still.
      if ((error as { code?: string }).code !== '55006' || intento === 100) throw error
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

/** Takes away what a run leaves behind: its template, and the databases of tests that failed. */
export async function removeLeftovers(nodos: readonly NodeUrl[], plantilla: string): Promise<void> {
  const { rows } = await conectado(nodos[0]!, (cliente) =>
    cliente.query<{ datname: string }>(
      "select datname from pg_database where datname = $1 or datname ~ '^t_[0-9a-f]{12}$'",
      [plantilla],
    ),
  )
  for (const { datname } of rows) await dropClusterDatabase(nodos, datname)
}

export const dropClusterDatabase = (nodos: readonly NodeUrl[], nombre: string) =>
  Promise.all(nodos.map((nodo) => ordenar(nodo, `drop database if exists ${nombre} with (force)`)))
