import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Guias } from '@guias/sdk'
import { afterAll, afterEach, beforeAll, expect, inject } from 'vitest'
import { loadContract } from '../server/api/contract/load.ts'
import { type Db, openDb } from '../server/data/db.ts'
import { columnsOf, newComercioCode } from '../server/domain/comercios/comercio.ts'
import { saveLlave, saveOperadorLlave } from '../server/domain/identities/llave.ts'
import { requireOperador, saveOperadorWithLlave } from '../server/domain/operadores/operador.ts'
import type { Alcance, AlcanceDeOperacion, Modo, RitmosDeComercio } from '../server/generated/contract/types/index.ts'
import { createIdGenerator } from '../server/platform/codes/codes.ts'
import { readConfig } from '../server/platform/config/config.ts'
import { createLog } from '../server/platform/log.ts'
import { type ServiceOverrides, startService } from '../server/startup/service.ts'
import { findCanaries } from './canaries.ts'
import { createTestDatabase, dropTestDatabase, openShards } from './postgres.ts'
import { waitForQuiet } from './quiescence.ts'
import { createWitness } from './witness.ts'

/** Header of a request with a key; none without a key. */
export const withKey = (key: string | undefined): Record<string, string> =>
  key === undefined ? {} : { 'Idempotency-Key': key }

export const MASTER_KEY = Buffer.alloc(32, 7).toString('base64')

export interface Comercio {
  id: string
  comercio: string
  /** A key of all scopes. */
  llave: string
  modo: Modo
  /** The SDK with that key. */
  api: Guias
}

export interface TestResponse {
  status: number
  headers: Headers
  // A test reads what it expects to be there.
  // biome-ignore lint/suspicious/noExplicitAny: the raw answer of a raw request
  body: any
}

export interface TestEnvironment {
  url: string
  db: Db
  databaseUrl: string
  /** Where the server keeps files. */
  dataDir: string
  /** Lines of the server's log. */
  log: string[]
  /** The server's clock. */
  clock(): Date
  /** @param ritmos without them it may ask as fast as it likes */
  createComercio(modo?: Modo, ritmos?: RitmosDeComercio): Promise<Comercio>
  createLlave(comercio: Comercio, options?: { modo?: Modo; alcances?: Alcance[]; vence_en?: Date }): Promise<string>
  /** A raw request, where rawness is the point or where a merchant has no SDK (operators). */
  request(
    method: string,
    path: string,
    options?: {
      llave?: string
      body?: unknown
      headers?: Record<string, string>
      raw?: string | Uint8Array<ArrayBuffer> | ReadableStream
    },
  ): Promise<TestResponse>
  /** A request with an operator's key. */
  asOperador(method: string, path: string, body?: unknown, key?: string): Promise<TestResponse>
  /** Of all scopes. */
  llaveDeOperacion: string
  /** Another key of the same operator. */
  createOperacionLlave(alcances: AlcanceDeOperacion[]): Promise<string>
  /** Waits until the service has nothing left to do now, or nothing of that merchant's deliveries (`quiescence.ts`). */
  waitForQuiet(comercio?: Comercio): Promise<void>
}

/** An environment that only one file uses: it may move its clock and restart it. */
export interface OwnEnvironment extends TestEnvironment {
  /** Moves the server's clock by that many milliseconds. */
  advance(ms: number): void
  /** From now on the server's clock moves only when it is told to. */
  freezeClock(): void
  /** @param cambios of its configuration, from then on */
  reset(cambios?: Record<string, string>): Promise<void>
}

type EnvironmentOverrides = Pick<ServiceOverrides, 'newCode' | 'resolver' | 'random' | 'limitsClock'>
/** @param databaseUrl where the service's database is */
type Variables = (databaseUrl: string) => Record<string, string> | Promise<Record<string, string>>

const sharedEnvironment = {} as OwnEnvironment
let sharedOpening: Promise<OpenEnvironment> | undefined

/**
 * The environment that all files of a worker share, for tests that live among merchants of their own. It lasts as long as
 * the worker.
 */
export function shareEnvironment(): TestEnvironment {
  let opened: OpenEnvironment
  beforeAll(async () => {
    sharedOpening ??= openEnvironment(sharedEnvironment)
    opened = await sharedOpening.catch((error) => {
      sharedOpening = undefined
      throw error
    })
  })
  afterEach(() => opened.check())
  return sharedEnvironment
}

/** A database of its own, cloned from the template, and the real server over it. Called once at the top of a test file. */
export function useEnvironment(
  overrides?: EnvironmentOverrides,
  /** More configuration, asked for when the service starts. */
  env?: Variables,
): OwnEnvironment {
  const environment = {} as OwnEnvironment
  let opened: OpenEnvironment | undefined
  let fallo = false
  beforeAll(async () => {
    opened = await openEnvironment(environment, overrides, env)
  })
  afterEach(({ task }) => {
    fallo ||= task.result?.state === 'fail'
    opened?.check()
  })
  afterAll(() => opened?.close(fallo))
  return environment
}

/** Where the service's statements go, if all tests shall go through a pooler. */
function poolerAddress({ pathname }: URL): Record<string, string> {
  const pooler = inject('pooler')
  return pooler ? { DATABASE_POOLER_URL: new URL(pathname, pooler).href, DATABASE_PREPARED: '0' } : {}
}

interface OpenEnvironment {
  /** Throws what went wrong since the last time: an answer that breaks the contract, an error or a canary in the log. */
  check(): void
  close(keepDatabase: boolean): Promise<void>
}

/** Starts a service with its own database. One function, because its parts share the service, which may restart, and its clock. */
async function openEnvironment(
  environment: OwnEnvironment,
  overrides: EnvironmentOverrides = {},
  env: Variables = () => ({}),
): Promise<OpenEnvironment> {
  // Compiling blocks for as long as a busy machine likes; while it does, connections would time out.
  await loadContract()
  const name = `t_${randomBytes(6).toString('hex')}`
  await createTestDatabase(name)
  const url = new URL(inject('postgres'))
  url.pathname = `/${name}`
  const dataDir = await mkdtemp(join(inject('runFolder'), 'datos-'))
  const lines: string[] = []
  const witnessErrors: Error[] = []
  let clockOffset = 0
  let frozenAt: number | undefined
  let checkedLineCount = 0
  const clock = () => new Date((frozenAt ?? Date.now()) + clockOffset)
  const ownVariables = await env(url.href)
  const variables: Record<string, string> = {
    DATABASE_URL: url.href,
    MASTER_KEYS: MASTER_KEY,
    MESSAGING: 'buzon',
    DATA_DIR: dataDir,
    PORT: '0',
    LOG_LEVEL: 'info',
    // Recipients may choose any day, whatever day it is.
    REST_DAYS: 'none',
    // Refused behind a proxy.
    ...(ownVariables.TRUST_PROXY ? {} : { WEBHOOKS_LOOPBACK: '1' }),
    // All of them come from this machine. What limits do is looked at where it is told.
    REQUESTS_PER_NETWORK: '10000',
    REQUESTS_PER_OPERATOR_KEY: '10000',
    // Tests that move the clock by hours look at something else. `test/equipo/idleTimeout.test.ts` has the defaults.
    OFFICE_IDLE_MINUTES: '720',
    CASHIER_IDLE_MINUTES: '720',
    SHOP_IDLE_HOURS: '720',
    ...poolerAddress(url),
    ...ownVariables,
  }
  const log = createLog('info', { write: (line) => lines.push(line) })
  const witness = createWitness(inject('runFolder'), (error) => witnessErrors.push(error))
  const startTestService = () =>
    startService(readConfig(variables, process.cwd()), log, undefined, {
      clock,
      witness,
      farewellMs: 0,
      ...overrides,
    })
  let service = await startTestService()
  const db = openDb(url.href, { connections: 4, shards: await openShards(url.href) })
  const newId = createIdGenerator(() => new Date())
  const { llave: llaveDeOperacion, operador } = await saveOperadorWithLlave({ db, newId }, 'Pruebas')
  const { id: operadorId } = await requireOperador(db, operador)
  Object.assign(environment, {
    url: service.url,
    db,
    databaseUrl: url.href,
    dataDir,
    log: lines,
    llaveDeOperacion,
    clock,
    advance: (ms) => {
      clockOffset += ms
      service.notify()
    },
    freezeClock: () => {
      frozenAt ??= Date.now()
    },
    async createComercio(modo = 'test', ritmos = { solicitudes: 100_000, guias: 100_000 }) {
      const comercioRow = await db.prisma.comercio.create({
        data: {
          ...newId(),
          comercio: newComercioCode(),
          // Most tests deliver without a signature. Tests of evidence policies set their own.
          ...columnsOf({ nombre: 'Tienda La Ceiba', pais: 'GT', ritmos, evidencia: { firma: 'opcional' } }),
        },
      })
      const { llave } = await saveLlave(db, new Date(), {
        comercioId: comercioRow.id,
        comercio: comercioRow.comercio,
        modo,
      })
      // Tests look at each answer of the server, however long a slow machine takes for it.
      const api = new Guias({ llave, baseUrl: environment.url, reintentos: 0, tiempoLimite: 120_000 })
      return { id: comercioRow.id, comercio: comercioRow.comercio, llave, modo, api }
    },
    async createLlave(comercio, { modo = comercio.modo, alcances, vence_en } = {}) {
      const { llave } = await saveLlave(db, new Date(), {
        comercioId: comercio.id,
        comercio: comercio.comercio,
        modo,
        alcances,
        vence_en: vence_en ?? null,
      })
      return llave
    },
    createOperacionLlave: async (alcances) =>
      (await saveOperadorLlave(db, new Date(), { operadorId, operador, alcances })).llave,
    async request(method, path, { llave, body, headers = {}, raw } = {}) {
      const response = await fetch(environment.url + path, {
        method,
        headers: {
          ...(llave ? { Authorization: `Bearer ${llave}` } : {}),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: raw ?? (body === undefined ? null : JSON.stringify(body)),
        ...(raw instanceof ReadableStream ? { duplex: 'half' } : {}),
      })
      const text = await response.text()
      const isText = response.headers.get('content-type')?.startsWith('text/plain')
      return {
        status: response.status,
        headers: response.headers,
        body: text === '' || isText ? text || undefined : JSON.parse(text),
      }
    },
    asOperador: (method, path, body, key) =>
      environment.request(method, `/operaciones/v1${path}`, {
        llave: llaveDeOperacion,
        body,
        headers: withKey(key),
      }),
    waitForQuiet: (comercio) => waitForQuiet(db, clock, comercio?.id),
    async reset(cambios = {}) {
      await service.stop()
      Object.assign(variables, cambios)
      service = await startTestService()
      environment.url = service.url
    },
  } satisfies OwnEnvironment)
  return {
    check() {
      const [witnessError] = witnessErrors.splice(0)
      if (witnessError) throw witnessError
      const newLines = environment.log.slice(checkedLineCount)
      const errores = newLines.filter((line) => line.includes('"level":50') && !line.includes('"status":503'))
      checkedLineCount = environment.log.length
      expect(
        errores.map((line) => line.slice(0, 1_000)),
        'errors in the log',
      ).toEqual([])
      expect(newLines.flatMap(findCanaries), 'personal or secret values in the log').toEqual([])
    },
    async close(keepDatabase) {
      await service.stop()
      await db.close()
      await rm(dataDir, { recursive: true, force: true })
      if (keepDatabase) console.warn(`the database ${name} is kept until the run ends`)
      else await dropTestDatabase(name)
    },
  }
}
