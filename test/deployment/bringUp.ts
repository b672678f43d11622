import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openDb } from '../../server/data/db.ts'
import { createS3Server, S3_CREDENTIALS } from '../archivos/s3.ts'
import { CHILD_ENVIRONMENT } from '../childEnvironment.ts'
import { findFreePort } from '../ports.ts'
import type { Testimony } from '../resilience/ledger.ts'
import { startDurablePostgres } from '../resilience/postgres.ts'
import { launchSupervised, type ScenarioProcess } from '../resilience/processes.ts'
import { openScenarioReceiver } from '../resilience/receiver.ts'
import type { Paso } from '../resilience/steps.ts'
import { COMPOSE_SERVICES, fillVariables, IMAGE_DEFAULTS, OWN_SERVICES } from './compose.ts'
import { startProxy } from './proxy.ts'

// What `despliegue/compose.yaml` starts, started here as processes: what it says of each is read from there.

export interface Deployment extends Testimony {
  /** The service's address, as merchants know it. */
  url: string
  /** The authority of its certificate. */
  ca: string
  llave: string
  databaseUrl: string
  /** Starts one of compose's services from what is built there, and waits until it is well. */
  start(name: string, folder: string): Promise<void>
  /** What `docker compose up --no-deps --wait` does: ends it as compose does, and starts it from what is built there. */
  renew(name: string, folder: string): Promise<void>
  /** Makes a merchant, once there are tables, with endpoints at the receiver, by their path and types. */
  seedComercio(folder: string, typesByPath: Readonly<Record<string, readonly string[]>>): Promise<void>
}

/** Who stands here for an image, by the beginning of its name. */
const STAND_IN_PREFIXES = ['guias:', 'caddy:', 'postgres:', 'chrislusf/seaweedfs:']

/** Receivers of webhooks are on this machine: a process registers them, and sends to them, only where no proxy stands before it. */
const WITHOUT_PROXY = { TRUST_PROXY: '0', WEBHOOKS_LOOPBACK: '1' }

const execFileAsync = promisify(execFile)

/** `postgres -c a=b -c c=d` */
const pickSettings = (command: readonly string[] = []) => command.filter((word) => word.includes('='))

/** Starts compose's services as processes. One function, because they share addresses, secrets and the places of complaints. */
export async function startDeployment(steps: Paso[]): Promise<Deployment> {
  for (const [name, { image }] of Object.entries(COMPOSE_SERVICES))
    if (!STAND_IN_PREFIXES.some((prefix) => image.startsWith(prefix)))
      throw new Error(`nobody stands for ${name} (${image})`)
  const postgres = await startDurablePostgres(steps, pickSettings(COMPOSE_SERVICES.postgres!.command))
  const s3 = await createS3Server('guias')
  steps.push(() => s3.close())
  const receptor = await openScenarioReceiver(steps)
  const ports = new Map<string, number>()
  for (const { nombre } of OWN_SERVICES) ports.set(nombre, await findFreePort())
  const addresses: Record<string, string> = {
    'postgres:5432': `127.0.0.1:${postgres.port}`,
    'archivos:8333': new URL(s3.url).host,
    ...Object.fromEntries([...ports].map(([name, port]) => [`${name}:3000`, `127.0.0.1:${port}`])),
  }
  const toLocal = (text: string) =>
    text.replace(/\b[a-z][a-z0-9-]*:\d{4}\b/g, (hostAndPort) => addresses[hostAndPort] ?? hostAndPort)
  const values = {
    DOMINIO: `localhost:${await findFreePort()}`,
    DOMINIO_ARCHIVOS: `localhost:${await findFreePort()}`,
    POSTGRES_PASSWORD: postgres.clave,
    MASTER_KEYS: randomBytes(32).toString('base64'),
    S3_ACCESS_KEY_ID: S3_CREDENTIALS.accessKeyId,
    S3_SECRET_ACCESS_KEY: S3_CREDENTIALS.secretAccessKey,
    MESSAGING: 'buzon',
  }
  const complaints: string[] = []
  const avisos = new Map<string, number>()
  const onComplaint = (complaint: string) => void complaints.push(complaint)
  const { DOMINIO, DOMINIO_ARCHIVOS } = values
  const authorityPath = await startProxy(steps, toLocal, { DOMINIO, DOMINIO_ARCHIVOS }, onComplaint)
  const datos = await mkdtemp(join(tmpdir(), 'guias-ensayo-'))
  steps.push(() => rm(datos, { recursive: true, force: true }))

  const processes = new Map<string, ScenarioProcess>()
  const db = openDb(postgres.url, { connections: 3 })
  steps.push(() => db.close())
  /** Starts what is built there as one of compose's services. */
  const launch = async (nombre: string, folder: string, cambios: Readonly<Record<string, string>>) => {
    const { command, environment } = OWN_SERVICES.find((ownService) => ownService.nombre === nombre)!
    const serviceVariables = Object.entries({ ...IMAGE_DEFAULTS.env, ...environment })
    const METRICS_PORT = `${await findFreePort()}`
    return launchSupervised(steps, {
      nombre,
      folder,
      args: (command ?? IMAGE_DEFAULTS.order).slice(1),
      env: {
        ...Object.fromEntries(
          serviceVariables.map(([variable, value]) => [variable, toLocal(fillVariables(value, values))]),
        ),
        // Several on one machine.
        HOST: '127.0.0.1',
        METRICS_PORT,
        DATA_DIR: datos,
        LOG_LEVEL: 'warn',
        NODE_EXTRA_CA_CERTS: authorityPath,
        ...CHILD_ENVIRONMENT,
        ...cambios,
      },
      health: `http://127.0.0.1:${METRICS_PORT}/readyz`,
      onComplaint,
      onNotice: (aviso) => avisos.set(aviso, (avisos.get(aviso) ?? 0) + 1),
    })
  }
  const consola = (cwd: string) => ({
    cwd,
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: postgres.url,
      MASTER_KEYS: values.MASTER_KEYS,
      DATA_DIR: datos,
      ...CHILD_ENVIRONMENT,
    },
  })
  const deployment: Deployment = {
    url: `https://${DOMINIO}`,
    ca: await readFile(authorityPath, 'utf8'),
    databaseUrl: postgres.url,
    llave: '',
    comercioId: '',
    db,
    receptor,
    complaints,
    avisos,
    async start(name, folder) {
      const proxySettings = name.startsWith('trabajos') ? WITHOUT_PROXY : {}
      processes.set(name, await launch(name, folder, { PORT: `${ports.get(name)}`, ...proxySettings }))
    },
    async renew(name, folder) {
      await stopProcess(processes.get(name)!, name, onComplaint)
      await deployment.start(name, folder)
    },
    async seedComercio(folder, typesByPath) {
      // By the console of that version: the tables are of that version, and the Prisma client of this one needs its own.
      const administrar = async (...args: string[]) =>
        JSON.parse(
          (await execFileAsync(process.execPath, ['scripts/admin.ts', ...args, '--json'], consola(folder))).stdout,
        )
      const ritmos = ['--ritmos', '100000,100000']
      const { comercio } = await administrar('comercios', 'crear', '--nombre', 'Tienda La Ceiba', ...ritmos)
      const { llave } = await administrar('llaves', 'crear', '--comercio', comercio, '--modo', 'test')
      const { rows } = await db.pool.query<{ id: string }>('select id from comercio where comercio = $1', [comercio])
      Object.assign(deployment, { comercioId: rows[0]!.id, llave })
      const PORT = `${await findFreePort()}`
      const directApi = await launch('api-1', folder, { PORT, ...WITHOUT_PROXY })
      for (const [path, tipos] of Object.entries(typesByPath)) {
        const { status } = await fetch(`http://127.0.0.1:${PORT}/api/v1/webhooks`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ url: receptor.base + path, tipos }),
        })
        if (status !== 201) throw new Error(`${path} wasn't registered: ${status}`)
      }
      await stopProcess(directApi, 'api-1', onComplaint)
    },
  }
  return deployment
}

/** Compose's own patience, after which it kills. */
async function stopProcess(
  scenarioProcess: ScenarioProcess,
  name: string,
  onComplaint: (complaint: string) => void,
): Promise<void> {
  const [, seconds] = /^(\d+)s$/.exec(
    OWN_SERVICES.find((ownService) => ownService.nombre === name)!.stop_grace_period!,
  )!
  scenarioProcess.kill('SIGTERM')
  const end = await Promise.race([scenarioProcess.fin, sleep(Number(seconds) * 1_000, undefined, { ref: false })])
  if (end?.codigo !== 0) onComplaint(`${name}: ${end ? JSON.stringify(end) : 'not ended in time'} after SIGTERM`)
  if (end) return
  scenarioProcess.kill('SIGKILL')
  await scenarioProcess.fin
}
