import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { waitUntil } from '../factories.ts'
import { findFreePort } from '../ports.ts'
import { readArchivo } from './compose.ts'

const DE_DEBIAN = '/usr/lib/postgresql'
const VERSION = existsSync(DE_DEBIAN) ? readdirSync(DE_DEBIAN).sort((a, b) => Number(b) - Number(a))[0] : undefined

/** Reason why the backups of `despliegue/respaldos/` cannot be rehearsed here; undefined if they can. */
export const findMissingTools = (): string | undefined =>
  VERSION && existsSync('/usr/bin/pgbackrest') && existsSync('/usr/bin/restic')
    ? undefined
    : "Debian's postgresql, pgbackrest and restic are not installed"

/** The only command of the operators' manual that begins like that, without `sudo -u …`. */
export function readManualCommand(comienzo: string): string[] {
  const commandMatches = [
    ...readArchivo('docs/operacion/backing-up.md').matchAll(
      /^ *sudo (?:--preserve-env=\S+ )?-u (?:postgres|guias) (.+)$/gm,
    ),
  ]
  const [command, ...otherCommands] = commandMatches
    .map(([, text]) => text!)
    .filter((text) => text.startsWith(comienzo))
  if (!command || otherCommands.length > 0) throw new Error(`the manual has not exactly one command ${comienzo}`)
  return [...command.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, ...texts]) => texts.find((one) => one !== undefined)!,
  )
}

/** The command that a unit of `despliegue/respaldos/` starts. */
export const readUnitCommand = (unidad: string, instance = ''): string[] =>
  /^ExecStart=(.+)$/m
    .exec(readArchivo(`despliegue/respaldos/${unidad}`))![1]!
    .replace('%i', instance)
    .split(' ')

/**
 * A cluster of Debian's PostgreSQL with the settings of `despliegue/respaldos/`. pgBackRest reads its paths from the
 * environment, so the files are used as they are.
 */
export class DebianPostgres {
  readonly #folder: string
  readonly #datos: string
  readonly #caller: { uid?: number; gid?: number }
  readonly #env: NodeJS.ProcessEnv
  readonly #port: number

  private constructor(folder: string, port: number) {
    this.#folder = folder
    this.#datos = join(folder, 'pgdata')
    this.#port = port
    const id = (flag: string) => Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout)
    // PostgreSQL refuses root.
    this.#caller = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {}
    const subfoldersByVariable = {
      REPO1_PATH: 'repositorio',
      LOG_PATH: 'log',
      LOCK_PATH: 'cerrojos',
      SPOOL_PATH: 'cola',
    }
    this.#env = {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      TZ: 'UTC',
      PGBACKREST_PG1_PATH: this.#datos,
      ...CHILD_ENVIRONMENT,
      PGBACKREST_PG1_PORT: `${port}`,
      PGBACKREST_PG1_SOCKET_PATH: folder,
      PGBACKREST_PG1_USER: 'postgres',
      PGBACKREST_CONFIG: join(folder, 'pgbackrest.conf'),
      PGBACKREST_CONFIG_INCLUDE_PATH: join(folder, 'conf.d'),
      ...Object.fromEntries(
        Object.entries(subfoldersByVariable).map(([de, path]) => [`PGBACKREST_${de}`, join(folder, path)]),
      ),
    }
    for (const subfolder of ['', 'conf.d', ...Object.values(subfoldersByVariable)])
      this.#createOwned(join(folder, subfolder), mkdirSync)
    this.#createOwned(join(folder, 'pgbackrest.conf'), (path) =>
      writeFileSync(path, readArchivo('despliegue/respaldos/pgbackrest.conf')),
    )
    const secrets = readArchivo('despliegue/respaldos/secretos.ejemplo.conf')
    this.#createOwned(join(folder, 'conf.d', 'secretos.conf'), (path) =>
      writeFileSync(path, secrets.replace(/^repo1-cipher-pass=$/m, '$&una clave larga de prueba')),
    )
  }

  #createOwned(path: string, create: (path: string) => unknown): void {
    create(path)
    chmodSync(path, 0o755)
    if (this.#caller.uid !== undefined) chownSync(path, this.#caller.uid, this.#caller.gid!)
  }

  static async create(folder: string): Promise<DebianPostgres> {
    const server = new DebianPostgres(folder, await findFreePort())
    const datos = server.#datos
    await server.runAsPostgres(
      join(DE_DEBIAN, VERSION!, 'bin', 'initdb'),
      '-D',
      datos,
      '-U',
      'postgres',
      '-A',
      'trust',
      '-E',
      'UTF8',
    )
    await appendFile(join(datos, 'postgresql.conf'), readArchivo('despliegue/respaldos/postgresql.conf'))
    await server.start()
    await server.query('create role guias login createrole')
    await server.query('create database guias owner guias')
    return server
  }

  get url(): string {
    return `postgres://guias@127.0.0.1:${this.#port}/guias`
  }

  /** Runs a command as PostgreSQL's user, and returns its output. */
  async runAsPostgres(program: string, ...args: string[]): Promise<string> {
    const options = { ...this.#caller, env: this.#env, cwd: '/' }
    return (await promisify(execFile)(program, args, options)).stdout
  }

  /** Restores the stopped server to an instant. */
  async restoreTo(instant: string, ...moreArgs: string[]): Promise<void> {
    const [program = '', ...args] = readManualCommand('pgbackrest --stanza=guias --delta --type=time')
    const restoreArgs = args.map((arg) => arg.replace(/^--target=.*/, `--target=${instant}`))
    await this.runAsPostgres(program, ...moreArgs, ...restoreArgs)
  }

  #pgCtl(...args: string[]) {
    return this.runAsPostgres(join(DE_DEBIAN, VERSION!, 'bin', 'pg_ctl'), ...args, '-D', this.#datos, '-w', '-t', '100')
  }

  /** Starts PostgreSQL, and waits for the end of a recovery. */
  async start(): Promise<void> {
    const settings = `-p ${this.#port} -h 127.0.0.1 -k ${this.#folder} -c max_connections=120`
    await this.#pgCtl('start', '-l', join(this.#folder, 'postgres.log'), '-o', settings)
    await waitUntil(
      async () => (await this.query<{ ready: boolean }>('select not pg_is_in_recovery() as ready'))[0]!.ready,
    )
  }

  async stop(): Promise<void> {
    await this.#pgCtl('stop', '-m', 'fast')
  }

  /** Loses the machine: PostgreSQL ends at once, and its folder is gone. */
  async loseMachine(): Promise<void> {
    await this.#pgCtl('stop', '-m', 'immediate')
    await rm(this.#datos, { recursive: true })
    this.#createOwned(this.#datos, mkdirSync)
    chmodSync(this.#datos, 0o700)
  }

  /** Asks as superuser. */
  async query<Row extends pg.QueryResultRow>(sql: string, base = 'postgres'): Promise<Row[]> {
    const client = new pg.Client({ host: '127.0.0.1', port: this.#port, user: 'postgres', database: base })
    client.on('error', () => {}) // the query rejects, too
    await client.connect()
    try {
      return (await client.query<Row>(sql)).rows
    } finally {
      await client.end()
    }
  }

  /** Uses up transaction numbers, as a busy hour does, so that those after a restore are lower than the last ones. */
  async consumeTransactionIds(): Promise<void> {
    await this.query(`do 'begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end'`)
  }

  /** Ends the segment of the log that is being written, as `archive_timeout` does, and waits until it is archived. */
  async archiveSegment(): Promise<void> {
    const [{ wal } = { wal: '' }] = await this.query<{ wal: string }>('select pg_walfile_name(pg_switch_wal()) as wal')
    await waitUntil(async () => {
      const [row] = await this.query<{ archived: boolean }>(
        `select last_archived_wal >= '${wal}' as archived from pg_stat_archiver`,
      )
      return row!.archived
    })
  }
}
