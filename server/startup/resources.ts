import { Connections, type Pooler } from '../data/connections.ts'
import { type Db, openDb } from '../data/db.ts'
import { acquirePostgres } from '../data/embedded/embedded.ts'
import { type PreparedEngine, whyNoReplica } from '../data/engine.ts'
import { type ReadDb, Replica } from '../data/replica.ts'
import { openStore } from '../domain/archivos/openStore.ts'
import type { Config } from '../platform/config/config.ts'
import type { FileStore } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import { openBackup } from './backup.ts'
import { ownMasterKeys } from './masterKeys.ts'
import { migrate, prepareDatabase } from './migrations.ts'
import { Probe } from './probe.ts'
import type { Teardown } from './teardown.ts'

/** Address that statements use, the pooler at that address (if any), and the database's engine. */
export interface DataRoute extends PreparedEngine {
  url: string
  pooler?: Pooler | undefined
}

/** Database with an up-to-date schema, and the keys that protect its contents. */
interface PreparedDatabase {
  /** URL of PostgreSQL itself, for work that needs a session of its own. */
  databaseUrl: string
  /** Address to which statements go, possibly a pooler's. */
  via: DataRoute
  masterKeys: readonly Buffer[]
  /** Notes for the operator, in Spanish, that the console shows. */
  notas: readonly string[]
  /** Names of the migrations that this start applied. */
  migraciones: readonly string[]
}

/** Resources that every process needs: its database, and the file storage beside it. */
export interface Resources extends Omit<PreparedDatabase, 'migraciones'> {
  db: Db
  /** Database or replica for reads that may be some seconds old. */
  readDb: ReadDb
  /** Database over sessions with a short `lock_timeout`, for statements that other requests wait for. */
  impatientDb: Db
  probe: Probe
  store: FileStore
  /** False if the file storage did not answer the check at start. */
  isStoreAvailable: boolean
}

/**
 * Note for the console when `PUBLIC_URL` is missing. A wrong address stays in signed texts for ever: in manifests, and
 * in the QR codes of documents.
 */
const NO_PUBLIC_URL =
  'Falta PUBLIC_URL: los enlaces que se dan, y los códigos QR de las pruebas, llevan la dirección en que escucha este proceso.'

const NO_MENSAJERIA =
  'MESSAGING=buzon: a los destinatarios de guías reales no se les pregunta su ubicación; sus mensajes esperan a que haya mensajería.'

const NO_MAIL = 'Falta SMTP_URL: los correos a las personas (invitaciones, códigos de entrada) no salen.'

/** Longest wait for a lock by a statement that other requests wait for, in milliseconds. */
const LOCK_PATIENCE_MS = 300

/**
 * Opens the file storage, the database and its connections, and applies missing migrations.
 * @param exclusive true if the embedded PostgreSQL belongs to this process alone; false if any of several processes may
 * start it
 */
export async function openResources(
  config: Config,
  log: Log,
  teardown: Teardown,
  { exclusive, onLoss }: { exclusive: boolean; onLoss: (error: Error) => void },
): Promise<Resources> {
  const { store, nota, close } = await openStore(config)
  teardown.add(close)
  if (nota) log.warn({ nota }, 'file storage is unavailable')
  const { migraciones, ...base } = await openDatabase(config, teardown, { exclusive, log })
  const { url, pooler, engine, shards } = base.via
  log.info({ motor: engine }, 'database engine')
  const db = openDb(url, { pooler, shards, role: 'guias_operacion', onFailure: onLoss })
  teardown.add(() => db.close())
  const impatientDb = openDb(url, {
    pooler,
    shards,
    connections: 3,
    nombre: 'guias creación',
    role: 'guias_operacion',
    settings: { lock_timeout: `${LOCK_PATIENCE_MS}` },
    onFailure: onLoss,
  })
  teardown.add(() => impatientDb.close())
  const probe = new Probe(url, [db.pool, impatientDb.pool], log)
  teardown.add(() => probe.close())
  const noReplicaReason = whyNoReplica(base.via)
  const readDb = noReplicaReason ? db : openReadDb(config, log, { db, teardown, onLoss })
  if (migraciones.length > 0) log.info({ migraciones }, 'migrations applied')
  const notas = [...base.notas, ...(nota ? [nota] : [])]
  if (config.database.tipo === 'externa') {
    if (!config.publicUrl) notas.push(NO_PUBLIC_URL)
    if (config.mensajeria.tipo === 'buzon') notas.push(NO_MENSAJERIA)
    if (!config.correo && !config.buzon) notas.push(NO_MAIL)
    if (noReplicaReason && config.database.readUrl) notas.push(noReplicaReason)
  }
  return { ...base, db, impatientDb, readDb, probe, store, isStoreAvailable: nota === undefined, notas }
}

/** Maximum connections to a replica. Only queries that may be slow read the replica. */
const READ_CONNECTIONS = 4

function openReadDb(
  { database }: Config,
  log: Log,
  { db, teardown, onLoss }: { db: Db; teardown: Teardown; onLoss: (error: Error) => void },
): ReadDb {
  if (database.tipo !== 'externa' || !database.readUrl) return db
  const connections = new Connections(database.readUrl, READ_CONNECTIONS, `guias lectura pid=${process.pid}`, {
    role: 'guias_operacion',
  })
  connections.on('error', onLoss)
  teardown.add(() => connections.end())
  return new Replica(db, connections, log)
}

/** Way in which a process uses the embedded PostgreSQL. */
interface Owner {
  /** True if the server belongs to this process alone; false if any of several processes may start it. */
  exclusive: boolean
  log: Log
}

/**
 * Opens the database, starts the embedded PostgreSQL if the configuration names no other, and applies missing
 * migrations.
 */
export async function openDatabase(config: Config, teardown: Teardown, owner: Owner): Promise<PreparedDatabase> {
  const base = await findDatabase(config, teardown, owner)
  const { database } = config
  const { migraciones, ...kept } =
    database.tipo === 'externa'
      ? await prepareDatabase(base.databaseUrl, database.motor)
      : { migraciones: await migrate(base.databaseUrl), engine: 'postgres' as const }
  return { ...base, via: { ...base.via, ...kept }, migraciones }
}

async function findDatabase(config: Config, teardown: Teardown, { exclusive, log }: Owner) {
  const { database, dataDir, masterKeys } = config
  if (database.tipo === 'externa') {
    const { url, pooler } = database
    return { databaseUrl: url, via: pooler ?? { url }, masterKeys: masterKeys ?? [], notas: [] }
  }
  const postgres = await acquirePostgres({ dataDir, exclusive })
  const { url, notas, release } = postgres
  teardown.add(release)
  if (exclusive) await openBackup(config, postgres, log, teardown)
  return { databaseUrl: url, via: { url }, masterKeys: masterKeys ?? (await ownMasterKeys(dataDir)), notas }
}
