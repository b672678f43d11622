import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync } from 'node:fs'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { type Db, openDb } from '../../server/data/db.ts'
import { columnsOf, newComercioCode } from '../../server/domain/comercios/comercio.ts'
import { saveLlave } from '../../server/domain/identities/llave.ts'
import { createIdGenerator } from '../../server/platform/codes/codes.ts'
import { migrate } from '../../server/startup/migrations.ts'
import { fillDisk } from '../disk.ts'
import { startDurablePostgres } from './postgres.ts'
import { launchSupervised, type ScenarioProcess } from './processes.ts'
import { openScenarioReceiver, type ScenarioReceiver } from './receiver.ts'
import { type Paso, withSteps } from './steps.ts'

// A whole installation for one scenario: a PostgreSQL of its own that can be restarted, the bundles as processes of their
// own that can be killed, and a receiver that keeps a ledger of what it got.

const ROOT_FOLDER = join(import.meta.dirname, '..', '..')
/** As `npm start` and `npm run worker` run them. */
const PROGRAM_ARGS: Readonly<Record<'main' | 'worker', readonly string[]>> = (() => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT_FOLDER, 'package.json'), 'utf8'))
  const argsOf = (command: string) => command.split(' ').slice(1)
  return { main: argsOf(scripts.start), worker: argsOf(scripts.worker) }
})()

export interface Harness {
  db: Db
  databaseUrl: string
  receptor: ScenarioReceiver
  comercioId: string
  llave: string
  /** Processes that ended by themselves, and lines of level error or worse of any of them. */
  complaints: string[]
  avisos: Map<string, number>
  api(env?: Readonly<Record<string, string>>): Promise<ScenarioProcess>
  worker(options?: { databaseUrl?: string }): Promise<ScenarioProcess>
  /** A connection of its own, for what a pool can't do. */
  withClient<T>(action: (client: pg.Client) => Promise<T>): Promise<T>
  restartPostgres(modo: 'fast' | 'immediate'): Promise<void>
  /** Fills what is left of the disk, in an installation with one of its own; returns what makes room again. */
  fillFreeSpace(): () => void
  /** Ends every session of the database but the one that does it. */
  cutConnections(): Promise<number>
  /** The database through a proxy that can lose the answer to a settlement's COMMIT. */
  openDatabaseProxy(): Promise<DatabaseProxy>
  /** Registers an endpoint of the receiver's. */
  registrar(api: ScenarioProcess, path: string, tipos?: readonly string[]): Promise<string>
}

export interface DatabaseProxy {
  databaseUrl: string
  /** How many of the next commits happen without their client hearing of it. */
  loseCommits(commitCount: number): void
  lostCount(): number
}

export interface HarnessOptions {
  /** Settings of PostgreSQL. */
  postgres?: readonly string[]
  /** Size of a disk of its own, in bytes. */
  disco?: number
}

export const withHarness = <T>(action: (harness: Harness) => Promise<T>, options: HarnessOptions = {}): Promise<T> =>
  withSteps(async (steps) => action(await open(steps, options)))

async function open(steps: Paso[], { postgres: ownSettings, disco }: HarnessOptions): Promise<Harness> {
  const postgres = await startDurablePostgres(steps, ownSettings, disco)
  await migrate(postgres.url)
  const db = openDb(postgres.url, { connections: 3 })
  steps.push(() => db.close())
  const receptor = await openScenarioReceiver(steps)
  const complaints: string[] = []
  const avisos = new Map<string, number>()
  const masterKeys = randomBytes(32).toString('base64')
  const { id: comercioId, llave } = await insertComercio(db)
  let processCount = 0

  const startProcess = (program: 'main' | 'worker', moreVariables: Record<string, string>) =>
    launchSupervised(steps, {
      nombre: `${program}#${++processCount}`,
      folder: ROOT_FOLDER,
      args: PROGRAM_ARGS[program],
      env: {
        DATABASE_URL: postgres.url,
        MASTER_KEYS: masterKeys,
        MESSAGING: 'buzon',
        WEBHOOKS_LOOPBACK: '1',
        LOG_LEVEL: 'warn',
        CONNECTIONS_PER_NETWORK: '10000',
        ...moreVariables,
      },
      onComplaint: (complaint) => complaints.push(complaint),
      onNotice: (aviso) => avisos.set(aviso, (avisos.get(aviso) ?? 0) + 1),
    })
  const withClient: Harness['withClient'] = async (action) => {
    const client = new pg.Client(postgres.url)
    client.on('error', () => {})
    await client.connect()
    try {
      return await action(client)
    } finally {
      await client.end().catch(() => {})
    }
  }
  return {
    db,
    databaseUrl: postgres.url,
    receptor,
    comercioId,
    llave,
    complaints,
    avisos,
    api: (moreVariables) => startProcess('main', { PORT: '0', WORKERS: '0', ...moreVariables }),
    worker: ({ databaseUrl } = {}) => startProcess('worker', databaseUrl ? { DATABASE_URL: databaseUrl } : {}),
    withClient,
    restartPostgres: postgres.reset,
    fillFreeSpace() {
      const ballastPath = join(postgres.folder, 'lastre')
      fillDisk(ballastPath)
      return () => rmSync(ballastPath)
    },
    cutConnections: () =>
      withClient(async (client) => {
        const { rowCount } = await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and pid <> pg_backend_pid() and backend_type = 'client backend'`,
        )
        return rowCount ?? 0
      }),
    openDatabaseProxy: () => startDatabaseProxy(steps, postgres.url),
    async registrar(api, path, tipos) {
      const response = await fetch(`${api.url}/api/v1/webhooks`, {
        method: 'POST',
        headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ url: receptor.base + path, ...(tipos ? { tipos } : {}) }),
      })
      const body = (await response.json()) as { webhook: string }
      if (response.status !== 201) throw new Error(`${response.status} ${JSON.stringify(body)}`)
      return body.webhook
    },
  }
}

async function insertComercio(db: Db) {
  const newId = createIdGenerator(() => new Date())
  const comercioRow = await db.prisma.comercio.create({
    data: {
      ...newId(),
      comercio: newComercioCode(),
      ...columnsOf({ nombre: 'Tienda La Ceiba', ritmos: { solicitudes: 100_000, guias: 100_000 } }),
    },
  })
  const { llave } = await saveLlave(db, new Date(), {
    comercioId: comercioRow.id,
    comercio: comercioRow.comercio,
    modo: 'test',
  })
  return { id: comercioRow.id, llave }
}

// --- Between a worker and the database ---

/** `commit` as node-postgres sends it by itself: nothing of pg-boss's looks like it. */
const COMMIT = Buffer.from([0x51, 0, 0, 0, 11, ...Buffer.from('commit\0')])
/** The statement that settles what went well, and commits by itself. */
const SETTLEMENT_STATEMENT = Buffer.from('avisos.settleSuccesses\0')

async function startDatabaseProxy(steps: Paso[], databaseUrl: string): Promise<DatabaseProxy> {
  const url = new URL(databaseUrl)
  const destino = Number(url.port)
  const sockets = new Set<Socket>()
  let commitsToLose = 0
  let lostCount = 0
  const server = createTcpServer((client) => {
    const base = connect(destino, '127.0.0.1')
    let isSwallowing = false
    const close = () => {
      client.destroy()
      base.destroy()
      for (const socket of [client, base]) sockets.delete(socket)
    }
    for (const socket of [client, base]) {
      sockets.add(socket)
      socket.setNoDelay(true).on('error', close).on('close', close)
    }
    client.on('data', (chunk) => {
      if (commitsToLose > 0 && (chunk.includes(COMMIT) || chunk.includes(SETTLEMENT_STATEMENT))) {
        commitsToLose--
        lostCount++
        isSwallowing = true
      }
      base.write(chunk)
    })
    // It was answered, so it was committed.
    base.on('data', (chunk) => void (isSwallowing ? close() : client.write(chunk)))
  }).listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  steps.push(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => server.close(resolve))
  })
  url.port = String((server.address() as AddressInfo).port)
  return {
    databaseUrl: url.href,
    loseCommits: (commitCount) => {
      commitsToLose += commitCount
    },
    lostCount: () => lostCount,
  }
}

/** Until it says something; undefined when the time is over. */
export async function wait<T>(read: () => Promise<T | undefined | false>, timeoutMs: number, intervalMs = 50) {
  for (const limite = Date.now() + timeoutMs; ; await sleep(intervalMs)) {
    // The database may just be away.
    const value = await read().catch(() => undefined)
    if (value) return value
    if (Date.now() > limite) return undefined
  }
}
