import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { appendFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import pg from 'pg'
import { CLOCK_ENVIRONMENT } from '../clockEnvironment.ts'
import { hasta } from '../fabricas.ts'
import { puertoLibre } from '../puertos.ts'
import { leerArchivo } from './compose.ts'

const DE_DEBIAN = '/usr/lib/postgresql'
const VERSION = existsSync(DE_DEBIAN) ? readdirSync(DE_DEBIAN).sort((a, b) => Number(b) - Number(a))[0] : undefined

/** Reason why the backups of `despliegue/respaldos/` cannot be rehearsed here; undefined if they can. */
export const findMissingTools = (): string | undefined =>
  VERSION && existsSync('/usr/bin/pgbackrest') && existsSync('/usr/bin/restic')
    ? undefined
    : "Debian's postgresql, pgbackrest and restic are not installed"

/** The only command of the operators' manual that begins like that, without `sudo -u …`. */
export function readManualCommand(comienzo: string): string[] {
  const ordenes = [
    ...leerArchivo('docs/operacion/backing-up.md').matchAll(
      /^ *sudo (?:--preserve-env=\S+ )?-u (?:postgres|guias) (.+)$/gm,
    ),
  ]
  const [orden, ...otras] = ordenes.map(([, texto]) => texto!).filter((texto) => texto.startsWith(comienzo))
  if (!orden || otras.length > 0) throw new Error(`the manual has not exactly one command ${comienzo}`)
  return [...orden.matchAll(/'([^']*)'|(\S+)/g)].map(([todo]) => todo.replaceAll("'", ''))
}

/** The command that a unit of `despliegue/respaldos/` starts. */
export const readUnitCommand = (unidad: string, instancia = ''): string[] =>
  /^ExecStart=(.+)$/m
    .exec(leerArchivo(`despliegue/respaldos/${unidad}`))![1]!
    .replace('%i', instancia)
    .split(' ')

/**
 * A cluster of Debian's PostgreSQL with the settings of `despliegue/respaldos/`. pgBackRest reads its paths from the
 * environment, so the files are used as they are.
 */
export class DebianPostgres {
  readonly #carpeta: string
  readonly #datos: string
  readonly #caller: { uid?: number; gid?: number }
  readonly #env: NodeJS.ProcessEnv
  readonly #puerto: number

  private constructor(carpeta: string, puerto: number) {
    this.#carpeta = carpeta
    this.#datos = join(carpeta, 'pgdata')
    this.#puerto = puerto
    const id = (que: string) => Number(spawnSync('id', [que, 'postgres'], { encoding: 'utf8' }).stdout)
    // PostgreSQL refuses root.
    this.#caller = process.getuid?.() === 0 ? { uid: id('-u'), gid: id('-g') } : {}
    const rutas = { REPO1_PATH: 'repositorio', LOG_PATH: 'log', LOCK_PATH: 'cerrojos', SPOOL_PATH: 'cola' }
    this.#env = {
      PATH: process.env.PATH,
      LC_ALL: 'C',
      TZ: 'UTC',
      PGBACKREST_PG1_PATH: this.#datos,
      ...CLOCK_ENVIRONMENT,
      PGBACKREST_PG1_PORT: `${puerto}`,
      PGBACKREST_PG1_SOCKET_PATH: carpeta,
      PGBACKREST_PG1_USER: 'postgres',
      PGBACKREST_CONFIG: join(carpeta, 'pgbackrest.conf'),
      PGBACKREST_CONFIG_INCLUDE_PATH: join(carpeta, 'conf.d'),
      ...Object.fromEntries(Object.entries(rutas).map(([de, ruta]) => [`PGBACKREST_${de}`, join(carpeta, ruta)])),
    }
    for (const nueva of ['', 'conf.d', ...Object.values(rutas)]) this.#suya(join(carpeta, nueva), mkdirSync)
    this.#suya(join(carpeta, 'pgbackrest.conf'), (ruta) =>
      writeFileSync(ruta, leerArchivo('despliegue/respaldos/pgbackrest.conf')),
    )
    const secretos = leerArchivo('despliegue/respaldos/secretos.ejemplo.conf')
    this.#suya(join(carpeta, 'conf.d', 'secretos.conf'), (ruta) =>
      writeFileSync(ruta, secretos.replace(/^repo1-cipher-pass=$/m, '$&una clave larga de prueba')),
    )
  }

  #suya(ruta: string, crear: (ruta: string) => unknown): void {
    crear(ruta)
    chmodSync(ruta, 0o755)
    if (this.#caller.uid !== undefined) chownSync(ruta, this.#caller.uid, this.#caller.gid!)
  }

  static async create(carpeta: string): Promise<DebianPostgres> {
    const servidor = new DebianPostgres(carpeta, await puertoLibre())
    const datos = servidor.#datos
    await servidor.correr(
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
    await appendFile(join(datos, 'postgresql.conf'), leerArchivo('despliegue/respaldos/postgresql.conf'))
    await servidor.arrancar()
    await servidor.query('create role guias login createrole')
    await servidor.query('create database guias owner guias')
    return servidor
  }

  get url(): string {
    return `postgres://guias@127.0.0.1:${this.#puerto}/guias`
  }

  /** Runs a command as PostgreSQL's user, and returns its output. */
  async correr(programa: string, ...args: string[]): Promise<string> {
    const opciones = { ...this.#caller, env: this.#env, cwd: '/' }
    return (await promisify(execFile)(programa, args, opciones)).stdout
  }

  /** Restores the stopped server to an instant. */
  async restaurarA(instante: string, ...mas: string[]): Promise<void> {
    const [programa = '', ...args] = readManualCommand('pgbackrest --stanza=guias --delta --type=time')
    const suyos = args.map((arg) => arg.replace(/^--target=.*/, `--target=${instante}`))
    await this.correr(programa, ...mas, ...suyos)
  }

  #pgCtl(...args: string[]) {
    return this.correr(join(DE_DEBIAN, VERSION!, 'bin', 'pg_ctl'), ...args, '-D', this.#datos, '-w', '-t', '100')
  }

  /** Starts PostgreSQL, and waits for the end of a recovery. */
  async arrancar(): Promise<void> {
    const ajustes = `-p ${this.#puerto} -h 127.0.0.1 -k ${this.#carpeta} -c max_connections=120`
    await this.#pgCtl('start', '-l', join(this.#carpeta, 'postgres.log'), '-o', ajustes)
    await hasta(async () => (await this.query<{ si: boolean }>('select not pg_is_in_recovery() as si'))[0]!.si)
  }

  async apagar(): Promise<void> {
    await this.#pgCtl('stop', '-m', 'fast')
  }

  /** Loses the machine: PostgreSQL ends at once, and its folder is gone. */
  async perder(): Promise<void> {
    await this.#pgCtl('stop', '-m', 'immediate')
    await rm(this.#datos, { recursive: true })
    this.#suya(this.#datos, mkdirSync)
    chmodSync(this.#datos, 0o700)
  }

  /** Asks as superuser. */
  async query<Fila extends pg.QueryResultRow>(sql: string, base = 'postgres'): Promise<Fila[]> {
    const cliente = new pg.Client({ host: '127.0.0.1', port: this.#puerto, user: 'postgres', database: base })
    cliente.on('error', () => {}) // the query rejects, too
    await cliente.connect()
    try {
      return (await cliente.query<Fila>(sql)).rows
    } finally {
      await cliente.end()
    }
  }

  /** Uses up transaction numbers, as a busy hour does, so that those after a restore are lower than the last ones. */
  async ocupar(): Promise<void> {
    await this.query(`do 'begin for i in 1..20000 loop perform pg_current_xact_id(); commit; end loop; end'`)
  }

  /** Ends the segment of the log that is being written, as `archive_timeout` does, and waits until it is archived. */
  async archivar(): Promise<void> {
    const [{ wal } = { wal: '' }] = await this.query<{ wal: string }>('select pg_walfile_name(pg_switch_wal()) as wal')
    await hasta(async () => {
      const [fila] = await this.query<{ ya: boolean }>(
        `select last_archived_wal >= '${wal}' as ya from pg_stat_archiver`,
      )
      return fila!.ya
    })
  }
}
