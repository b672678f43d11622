import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync } from 'node:fs'
import { get } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as dormir } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { type Db, openDb } from '../../server/data/db.ts'
import { columnasDe, nuevoCodigoDeComercio } from '../../server/domain/comercios/comercio.ts'
import { guardarLlave } from '../../server/domain/llaves/llave.ts'
import type { Modo, RitmosDeComercio } from '../../server/generado/contrato/tipos/index.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { prepareDatabase } from '../../server/startup/migrations.ts'
import { alTerminar, lanzar, type ProcesoHijo } from './limpieza.ts'
import type { OpcionesDeBench } from './opciones.ts'
import { esperarReposo } from './proceso.ts'

const enRaiz = (ruta: string) => fileURLToPath(new URL(`../../${ruta}`, import.meta.url))
/** Root folder of the repository, with a final slash. */
export const RUTA_RAIZ = enRaiz('')

/** Returns the arguments of Node that an npm script of a tree has: flags, and at the end the program. */
export function argumentosDe(guion: 'start' | 'worker' | 'admin', raiz = RUTA_RAIZ): string[] {
  const { scripts } = JSON.parse(readFileSync(join(raiz, 'package.json'), 'utf8'))
  return (scripts as Record<string, string>)[guion]!.split(' ').slice(1)
}

/** Node flags of `npm start`, for every measured Node process. */
export const FLAGS: readonly string[] = argumentosDe('start').slice(0, -1)

/** Resources that all measurements of a run share. */
export interface Banco {
  opciones: OpcionesDeBench
  /** True if pgbench is installed. */
  pgbench: boolean
  /** Process id of PostgreSQL's postmaster. */
  pidDePostgres: number
  masterKeys: readonly Buffer[]
  /** Creates an empty database that lives as long as the run, and returns its URL. */
  crearBase(): Promise<string>
  /** Runs `medir` with a new migrated database, and drops the database afterwards. */
  conBase<T>(medir: (base: Base) => Promise<T>): Promise<T>
  /**
   * Migrates the empty database at `url` (one PostgreSQL or a cluster) and runs `medir` with it. Does not drop the
   * database.
   */
  conBaseDe<T>(url: string, medir: (base: Base) => Promise<T>): Promise<T>
  /** Folder for logs during the run. */
  carpeta: string
}

/** Merchant with an API key. */
export interface ComercioDeBench {
  id: string
  modo: Modo
  llave: string
}

/** Migrated database, with functions that start programs on it. */
export interface Base {
  url: string
  db: Db
  /**
   * Creates merchants.
   * @param ritmos rate limits; by default 100,000 requests and guides, as if an operator had raised the limits
   */
  crearComercios(cuantos: number, modo?: Modo, ritmos?: RitmosDeComercio): Promise<ComercioDeBench[]>
  /**
   * Starts the service as `npm start` does, with additional environment variables. Resolves when the program is ready
   * and idle, like `worker` and `programa`.
   */
  servicio(variables?: Readonly<Record<string, string>>): Promise<Programa>
  /** Starts a worker process as `npm run worker` does. */
  worker(variables?: Readonly<Record<string, string>>): Promise<Programa>
  /** Starts a program of `bench/` with the service's Node flags. The program answers `/readyz` when it is ready. */
  programa(archivo: string, args?: readonly string[]): Promise<Programa>
}

/** Running program. */
export interface Programa {
  url: string
  pid: number
  /** Seconds from the start of the process to its first 200 at `/readyz`. */
  segundosHastaListo: number
  terminar(): Promise<void>
}

interface Arranque {
  flags?: readonly string[]
  variables?: Readonly<Record<string, string>>
  aparte?: Parameters<typeof iniciarPrograma>[4]
}

/** Starts the PostgreSQL server of the run and returns the resources that measurements share. */
export async function abrirBanco(opciones: OpcionesDeBench): Promise<Banco> {
  const carpeta = mkdtempSync(join(tmpdir(), 'guias-bench-'))
  chmodSync(carpeta, 0o711) // as root, the user of PostgreSQL must be able to traverse this folder
  const urlDePostgres = await iniciarPostgres(carpeta)
  const admin = new pg.Client(urlDePostgres)
  admin.on('error', () => {})
  await admin.connect()
  alTerminar(() => admin.end())
  const masterKeys = [randomBytes(32)]
  const { rows } = await admin.query<{ pid: number }>(
    "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid",
  )
  let bases = 0
  const crearBase = async () => {
    const nombre = `bench_${++bases}`
    await admin.query(`create database ${nombre}`)
    return urlDePostgres.replace(/\/guias$/, `/${nombre}`)
  }
  return {
    opciones,
    carpeta,
    masterKeys,
    crearBase,
    pgbench: spawnSync('pgbench', ['--version']).status === 0,
    pidDePostgres: rows[0]!.pid,
    async conBase(medir) {
      const url = await crearBase()
      try {
        return await usarBase(url, { opciones, masterKeys, carpeta }, medir)
      } finally {
        await admin.query(`drop database if exists ${new URL(url).pathname.slice(1)} with (force)`)
      }
    },
    conBaseDe: (url, medir) => usarBase(url, { opciones, masterKeys, carpeta }, medir),
  }
}

/** Returns the environment variables of a service on a database, with limits that no load of the bench reaches. */
export const variablesDe = (url: string, masterKeys: readonly Buffer[]) => ({
  DATABASE_URL: url,
  MASTER_KEYS: masterKeys.map((clave) => clave.toString('base64')).join(','),
  MESSAGING: 'buzon',
  // The receivers of the bench use http on loopback. The variable has no effect without registered endpoints.
  WEBHOOKS_LOOPBACK: '1',
  REQUESTS_PER_NETWORK: '10000',
  REQUESTS_PER_OPERATOR_KEY: '10000',
  CONNECTIONS_PER_NETWORK: '10000',
})

async function usarBase<T>(
  url: string,
  { opciones, masterKeys, carpeta }: Pick<Banco, 'opciones' | 'masterKeys' | 'carpeta'>,
  medir: (base: Base) => Promise<T>,
): Promise<T> {
  const { partes } = await prepareDatabase(url)
  const db = openDb(url, { partes })
  const programas: Programa[] = []
  const anotar = async (arranque: Promise<Programa>) => {
    const programa = await arranque
    programas.push(programa)
    await esperarReposo(programa.pid)
    return programa
  }
  const env = variablesDe(url, masterKeys)
  const perfil = opciones.perfil ? ['--cpu-prof', `--cpu-prof-dir=${opciones.perfil}`] : []
  const arrancar = (
    args: readonly string[],
    { flags = FLAGS, variables = {}, aparte }: Arranque = {},
  ): Promise<Programa> =>
    anotar(iniciarPrograma(process.execPath, [...flags, ...perfil, ...args], { ...env, ...variables }, carpeta, aparte))
  try {
    return await medir({
      url,
      db,
      crearComercios: (...args) => crearComercios(db, ...args),
      servicio: (variables = {}) => arrancar([enRaiz('server/generado/main.mjs')], { variables }),
      // A worker listens only on METRICS_PORT, where it answers `/readyz`.
      worker: (variables = {}) =>
        arrancar([enRaiz('server/generado/worker.mjs')], {
          flags: argumentosDe('worker').slice(0, -1),
          variables,
          aparte: { variable: 'METRICS_PORT' },
        }),
      programa: (archivo, args = []) => arrancar([enRaiz(`bench/${archivo}`), ...args]),
    })
  } finally {
    for (const programa of programas) await programa.terminar()
    await db.cerrar()
  }
}

async function iniciarPostgres(carpeta: string): Promise<string> {
  const { hijo } = lanzar(process.execPath, [enRaiz('bench/postgres.ts'), carpeta], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const fin = new Promise<void>((resolve) => hijo.once('exit', () => resolve()))
  alTerminar(() => {
    hijo.stdin?.end()
    return fin
  })
  for await (const linea of createInterface(hijo.stdout!)) return linea
  throw new Error('PostgreSQL no arrancó')
}

/**
 * Starts a process that listens on the port in the variable `variable`, and waits until `/readyz` answers 200. With
 * `grupo`, the process gets its own process group, so that its children stop with it.
 * @throws if the process exits or is not ready within 60 s; the message has the last 20 lines of its log
 */
export async function iniciarPrograma(
  programa: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  carpeta: string,
  {
    grupo = false,
    variable = 'PORT',
    cwd = RUTA_RAIZ,
  }: { grupo?: boolean; variable?: 'PORT' | 'METRICS_PORT'; cwd?: string } = {},
): Promise<Programa> {
  const puerto = await puertoLibreAhora()
  const url = `http://127.0.0.1:${puerto}`
  const bitacora = join(carpeta, `programa-${puerto}.log`)
  const salida = openSync(bitacora, 'a')
  const inicio = performance.now()
  const proceso = lanzar(programa, args, {
    cwd,
    // With npm's variable set, the service stops when its parent dies. It therefore does not outlive a killed bench.
    env: {
      ...process.env,
      npm_lifecycle_event: 'bench',
      LOG_LEVEL: 'warn',
      HOST: '127.0.0.1',
      [variable]: `${puerto}`,
      ...env,
    },
    stdio: ['ignore', salida, salida],
    detached: grupo,
  })
  closeSync(salida)
  try {
    await esperarListo(url, proceso)
  } catch (error) {
    await proceso.terminar()
    throw new Error(`${(error as Error).message}\n${readFileSync(bitacora, 'utf8').split('\n').slice(-20).join('\n')}`)
  }
  return { url, pid: proceso.pid, segundosHastaListo: (performance.now() - inicio) / 1000, terminar: proceso.terminar }
}

async function esperarListo(url: string, { hijo }: ProcesoHijo) {
  for (const limite = performance.now() + 60_000; performance.now() < limite; await dormir(5)) {
    if (hijo.exitCode !== null || hijo.signalCode !== null)
      throw new Error(`${hijo.spawnargs.join(' ')} terminó antes de estar listo`)
    if (await contesta(url)) return
  }
  throw new Error(`${hijo.spawnargs.join(' ')} no estuvo listo en 60 s`)
}

/** Returns true if `/readyz` answers 200. */
export function contesta(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    get(`${url}/readyz`, { agent: false }, (respuesta) => {
      respuesta.resume()
      resolve(respuesta.statusCode === 200)
    }).once('error', () => resolve(false))
  })
}

/** Returns a TCP port that is free on 127.0.0.1 at the moment. */
export function puertoLibreAhora(): Promise<number> {
  return new Promise((resolve, reject) => {
    const sonda = createServer().once('error', reject)
    sonda.listen(0, '127.0.0.1', () => {
      const { port } = sonda.address() as AddressInfo
      sonda.close(() => resolve(port))
    })
  })
}

async function crearComercios(
  db: Db,
  cuantos: number,
  modo: Modo = 'live',
  ritmos = { solicitudes: 100_000, guias: 100_000 },
): Promise<ComercioDeBench[]> {
  const nuevoId = createIdGenerator(() => new Date())
  const { prisma } = db
  const comercios: ComercioDeBench[] = []
  for (let i = 0; i < cuantos; i++) {
    const fila = await prisma.comercio.create({
      data: {
        ...nuevoId(),
        comercio: nuevoCodigoDeComercio(),
        ...columnasDe({ nombre: `Comercio ${i + 1}`, ritmos }),
      },
    })
    const { llave } = await guardarLlave(db, new Date(), { comercioId: fila.id, comercio: fila.comercio, modo })
    comercios.push({ id: fila.id, modo, llave })
  }
  return comercios
}
