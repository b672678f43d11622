import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Db, openDb } from '../../server/data/db.ts'
import { columnsOf, newComercioCode } from '../../server/domain/comercios/comercio.ts'
import { saveLlave } from '../../server/domain/identities/llave.ts'
import type { Modo, RitmosDeComercio } from '../../server/generated/contract/types/index.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { MINUTE_MS } from '../../server/platform/time/units.ts'
import { prepareDatabase } from '../../server/startup/migrations.ts'
import { type ChildHandle, launch, registerCleanup } from './cleanup.ts'
import type { BenchOptions } from './options.ts'
import { waitForIdle } from './process.ts'

const resolveFromRoot = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))
/** Root folder of the repository, with a final slash. */
export const ROOT_PATH = resolveFromRoot('')

/** Returns the arguments of Node that an npm script of a tree has: flags, and at the end the program. */
export function nodeArgsOf(scriptName: 'start' | 'worker' | 'admin', root = ROOT_PATH): string[] {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return (scripts as Record<string, string>)[scriptName]!.split(' ').slice(1)
}

/** Node flags of `npm start`, for every measured Node process. */
export const FLAGS: readonly string[] = nodeArgsOf('start').slice(0, -1)

/** Resources that all measurements of a run share. */
export interface Bench {
  options: BenchOptions
  /** True if pgbench is installed. */
  pgbench: boolean
  /** Process id of PostgreSQL's postmaster. */
  postgresPid: number
  masterKeys: readonly Buffer[]
  /** Creates an empty database that lives as long as the run, and returns its URL. */
  createDatabase(): Promise<string>
  /** Runs `measure` with a new migrated database, and drops the database afterwards. */
  withDatabase<T>(measure: (base: BenchInstallation) => Promise<T>): Promise<T>
  /**
   * Migrates the empty database at `url` (one PostgreSQL or a cluster) and runs `measure` with it. Does not drop the
   * database.
   */
  withDatabaseAt<T>(url: string, measure: (base: BenchInstallation) => Promise<T>): Promise<T>
  /** Folder for logs during the run. */
  folder: string
}

/** Merchant with an API key. */
export interface BenchComercio {
  id: string
  modo: Modo
  llave: string
}

/** Migrated database, with functions that start programs on it. */
export interface BenchInstallation {
  url: string
  db: Db
  /**
   * Creates merchants.
   * @param ritmos rate limits; by default 100,000 requests and guides, as if an operator had raised the limits
   */
  createComercios(count: number, modo?: Modo, ritmos?: RitmosDeComercio): Promise<BenchComercio[]>
  /**
   * Starts the service as `npm start` does, with additional environment variables. Resolves when the program is ready
   * and idle, like `worker` and `program`.
   */
  service(variables?: Readonly<Record<string, string>>): Promise<RunningProgram>
  /** Starts a worker process as `npm run worker` does. */
  worker(variables?: Readonly<Record<string, string>>): Promise<RunningProgram>
  /** Starts a program of `bench/` with the service's Node flags. The program answers `/readyz` when it is ready. */
  program(file: string, args?: readonly string[]): Promise<RunningProgram>
}

/** Running program. */
export interface RunningProgram {
  url: string
  pid: number
  /** Seconds from the start of the process to its first 200 at `/readyz`. */
  secondsUntilReady: number
  finish(): Promise<void>
}

interface StartOptions {
  flags?: readonly string[]
  variables?: Readonly<Record<string, string>>
  separate?: Parameters<typeof startProgram>[4]
}

/** Starts the PostgreSQL server of the run and returns the resources that measurements share. */
export async function openBench(options: BenchOptions): Promise<Bench> {
  const folder = mkdtempSync(join(tmpdir(), 'guias-bench-'))
  chmodSync(folder, 0o711) // as root, the user of PostgreSQL must be able to traverse this folder
  const postgresUrl = await startPostgres(folder)
  const admin = new pg.Client(postgresUrl)
  admin.on('error', () => {})
  await admin.connect()
  registerCleanup(() => admin.end())
  const masterKeys = [randomBytes(32)]
  const { rows } = await admin.query<{ pid: number }>(
    "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid",
  )
  let databases = 0
  const createTestDatabase = async () => {
    const name = `bench_${++databases}`
    await admin.query(`create database ${name}`)
    return postgresUrl.replace(/\/guias$/, `/${name}`)
  }
  return {
    options,
    folder,
    masterKeys,
    createDatabase: createTestDatabase,
    pgbench: spawnSync('pgbench', ['--version']).status === 0,
    postgresPid: rows[0]!.pid,
    async withDatabase(measure) {
      const url = await createTestDatabase()
      try {
        return await withDatabase(url, { options, masterKeys, folder }, measure)
      } finally {
        await admin.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
      }
    },
    withDatabaseAt: (url, measure) => withDatabase(url, { options, masterKeys, folder }, measure),
  }
}

/** Returns the environment variables of a service on a database, with limits that no load of the bench reaches. */
export const variablesOf = (url: string, masterKeys: readonly Buffer[]) => ({
  DATABASE_URL: url,
  MASTER_KEYS: masterKeys.map((key) => key.toString('base64')).join(','),
  MESSAGING: 'buzon',
  // The receivers of the bench use http on loopback. The variable has no effect without registered endpoints.
  WEBHOOKS_LOOPBACK: '1',
  REQUESTS_PER_NETWORK: '10000',
  REQUESTS_PER_OPERATOR_KEY: '10000',
  CONNECTIONS_PER_NETWORK: '10000',
})

async function withDatabase<T>(
  url: string,
  { options, masterKeys, folder }: Pick<Bench, 'options' | 'masterKeys' | 'folder'>,
  measure: (base: BenchInstallation) => Promise<T>,
): Promise<T> {
  const { shards } = await prepareDatabase(url)
  const db = openDb(url, { shards })
  const programs: RunningProgram[] = []
  const track = async (starting: Promise<RunningProgram>) => {
    const program = await starting
    programs.push(program)
    await waitForIdle(program.pid)
    return program
  }
  const env = variablesOf(url, masterKeys)
  const profileFlags = options.profileFolder ? ['--cpu-prof', `--cpu-prof-dir=${options.profileFolder}`] : []
  const startTracked = (
    args: readonly string[],
    { flags = FLAGS, variables = {}, separate }: StartOptions = {},
  ): Promise<RunningProgram> =>
    track(
      startProgram(process.execPath, [...flags, ...profileFlags, ...args], { ...env, ...variables }, folder, separate),
    )
  try {
    return await measure({
      url,
      db,
      createComercios: (...args) => createComercios(db, ...args),
      service: (variables = {}) => startTracked([resolveFromRoot('server/generated/main.mjs')], { variables }),
      // A worker listens only on METRICS_PORT, where it answers `/readyz`.
      worker: (variables = {}) =>
        startTracked([resolveFromRoot('server/generated/worker.mjs')], {
          flags: nodeArgsOf('worker').slice(0, -1),
          variables,
          separate: { variable: 'METRICS_PORT' },
        }),
      program: (file, args = []) => startTracked([resolveFromRoot(`bench/${file}`), ...args]),
    })
  } finally {
    for (const program of programs) await program.finish()
    await db.close()
  }
}

async function startPostgres(folder: string): Promise<string> {
  const { child } = launch(process.execPath, [resolveFromRoot('bench/postgres.ts'), folder], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  registerCleanup(() => {
    child.stdin?.end()
    return exited
  })
  for await (const line of createInterface(child.stdout!)) return line
  throw new Error('PostgreSQL no arrancó')
}

/**
 * Starts a process that listens on the port in the variable `variable`, and waits until `/readyz` answers 200. With
 * `group`, the process gets its own process group, so that its children stop with it.
 * @throws if the process exits or is not ready within 60 s; the message has the last 20 lines of its log
 */
export async function startProgram(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  folder: string,
  {
    group = false,
    variable = 'PORT',
    cwd = ROOT_PATH,
  }: { group?: boolean; variable?: 'PORT' | 'METRICS_PORT'; cwd?: string } = {},
): Promise<RunningProgram> {
  const port = await findFreePort()
  const url = `http://127.0.0.1:${port}`
  const bitacora = join(folder, `programa-${port}.log`)
  const logFd = openSync(bitacora, 'a')
  const startedAt = performance.now()
  const childHandle = launch(program, args, {
    cwd,
    // With npm's variable set, the service stops when its parent dies. It therefore does not outlive a killed bench.
    env: {
      ...process.env,
      npm_lifecycle_event: 'bench',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      [variable]: `${port}`,
      ...env,
    },
    stdio: ['ignore', logFd, logFd],
    detached: group,
  })
  closeSync(logFd)
  try {
    await waitUntilReady(url, childHandle)
  } catch (error) {
    await childHandle.finish()
    throw new Error(`${(error as Error).message}\n${readFileSync(bitacora, 'utf8').split('\n').slice(-20).join('\n')}`)
  }
  return {
    url,
    pid: childHandle.pid,
    secondsUntilReady: (performance.now() - startedAt) / 1000,
    finish: childHandle.finish,
  }
}

async function waitUntilReady(url: string, { child }: ChildHandle) {
  for (const limit = performance.now() + MINUTE_MS; performance.now() < limit; await sleep(5)) {
    if (child.exitCode !== null || child.signalCode !== null)
      throw new Error(`${child.spawnargs.join(' ')} terminó antes de estar listo`)
    if (await isReady(url)) return
  }
  throw new Error(`${child.spawnargs.join(' ')} no estuvo listo en 60 s`)
}

/** Returns true if `/readyz` answers 200. */
export function isReady(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${url}/readyz`, { agent: false }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    }).once('error', () => resolve(false))
  })
}

/** Returns a TCP port that is free on 127.0.0.1 at the moment. */
export function findFreePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo
      probe.close(() => resolve(port))
    })
  })
}

async function createComercios(
  db: Db,
  count: number,
  modo: Modo = 'live',
  ritmos = { solicitudes: 100_000, guias: 100_000 },
): Promise<BenchComercio[]> {
  const newId = createIdGenerator(() => new Date())
  const { prisma } = db
  const comercios: BenchComercio[] = []
  for (let i = 0; i < count; i++) {
    const comercioRow = await prisma.comercio.create({
      data: {
        ...newId(),
        comercio: newComercioCode(),
        ...columnsOf({ nombre: `Comercio ${i + 1}`, ritmos }),
      },
    })
    const { llave } = await saveLlave(db, new Date(), {
      comercioId: comercioRow.id,
      comercio: comercioRow.comercio,
      modo,
    })
    comercios.push({ id: comercioRow.id, modo, llave })
  }
  return comercios
}
