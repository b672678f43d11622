import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as dormir } from 'node:timers/promises'
import { promisify } from 'node:util'
import { openDb } from '../../server/data/db.ts'
import { CREDENCIALES, createS3Server } from '../archivos/s3.ts'
import { CLOCK_ENVIRONMENT } from '../clockEnvironment.ts'
import { findFreePort } from '../ports.ts'
import type { Testimony } from '../resilience/ledger.ts'
import { startDurablePostgres } from '../resilience/postgres.ts'
import { launchSupervised, type ScenarioProcess } from '../resilience/processes.ts'
import { openScenarioReceiver } from '../resilience/receiver.ts'
import type { Paso } from '../resilience/steps.ts'
import { fillVariables, IMAGE_DEFAULTS, OWN_SERVICES, SERVICIOS } from './compose.ts'
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
  start(nombre: string, folder: string): Promise<void>
  /** What `docker compose up --no-deps --wait` does: ends it as compose does, and starts it from what is built there. */
  renew(nombre: string, folder: string): Promise<void>
  /** Makes a merchant, once there are tables, with endpoints at the receiver, by their path and types. */
  poblar(folder: string, rutas: Readonly<Record<string, readonly string[]>>): Promise<void>
}

/** Who stands here for an image, by the beginning of its name. */
const SUPLENTES = ['guias:', 'caddy:', 'postgres:', 'chrislusf/seaweedfs:']

/** Receivers of webhooks are on this machine: a process registers them, and sends to them, only where no proxy stands before it. */
const WITHOUT_PROXY = { TRUST_PROXY: '0', WEBHOOKS_LOOPBACK: '1' }

const ejecutar = promisify(execFile)

/** `postgres -c a=b -c c=d` */
const pickSettings = (command: readonly string[] = []) => command.filter((palabra) => palabra.includes('='))

/** Starts compose's services as processes. One function, because they share addresses, secrets and the places of complaints. */
export async function startDeployment(pasos: Paso[]): Promise<Deployment> {
  for (const [nombre, { image }] of Object.entries(SERVICIOS))
    if (!SUPLENTES.some((inicio) => image.startsWith(inicio))) throw new Error(`nobody stands for ${nombre} (${image})`)
  const postgres = await startDurablePostgres(pasos, pickSettings(SERVICIOS.postgres!.command))
  const s3 = await createS3Server('guias')
  pasos.push(() => s3.close())
  const receptor = await openScenarioReceiver(pasos)
  const puertos = new Map<string, number>()
  for (const { nombre } of OWN_SERVICES) puertos.set(nombre, await findFreePort())
  const direcciones: Record<string, string> = {
    'postgres:5432': `127.0.0.1:${postgres.port}`,
    'archivos:8333': new URL(s3.url).host,
    ...Object.fromEntries([...puertos].map(([nombre, port]) => [`${nombre}:3000`, `127.0.0.1:${port}`])),
  }
  const toLocal = (texto: string) =>
    texto.replace(/\b[a-z][a-z0-9-]*:\d{4}\b/g, (hostAndPort) => direcciones[hostAndPort] ?? hostAndPort)
  const valores = {
    DOMINIO: `localhost:${await findFreePort()}`,
    DOMINIO_ARCHIVOS: `localhost:${await findFreePort()}`,
    POSTGRES_PASSWORD: postgres.clave,
    MASTER_KEYS: randomBytes(32).toString('base64'),
    S3_ACCESS_KEY_ID: CREDENCIALES.accessKeyId,
    S3_SECRET_ACCESS_KEY: CREDENCIALES.secretAccessKey,
    MESSAGING: 'buzon',
  }
  const quejas: string[] = []
  const avisos = new Map<string, number>()
  const onComplaint = (queja: string) => void quejas.push(queja)
  const { DOMINIO, DOMINIO_ARCHIVOS } = valores
  const autoridad = await startProxy(pasos, toLocal, { DOMINIO, DOMINIO_ARCHIVOS }, onComplaint)
  const datos = await mkdtemp(join(tmpdir(), 'guias-ensayo-'))
  pasos.push(() => rm(datos, { recursive: true, force: true }))

  const procesos = new Map<string, ScenarioProcess>()
  const db = openDb(postgres.url, { connections: 3 })
  pasos.push(() => db.close())
  /** Starts what is built there as one of compose's services. */
  const launch = async (nombre: string, folder: string, cambios: Readonly<Record<string, string>>) => {
    const { command, environment } = OWN_SERVICES.find((ownService) => ownService.nombre === nombre)!
    const serviceVariables = Object.entries({ ...IMAGE_DEFAULTS.env, ...environment })
    const METRICS_PORT = `${await findFreePort()}`
    return launchSupervised(pasos, {
      nombre,
      folder,
      args: (command ?? IMAGE_DEFAULTS.order).slice(1),
      env: {
        ...Object.fromEntries(
          serviceVariables.map(([variable, valor]) => [variable, toLocal(fillVariables(valor, valores))]),
        ),
        // Several on one machine.
        HOST: '127.0.0.1',
        METRICS_PORT,
        DATA_DIR: datos,
        LOG_LEVEL: 'warn',
        NODE_EXTRA_CA_CERTS: autoridad,
        ...CLOCK_ENVIRONMENT,
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
      MASTER_KEYS: valores.MASTER_KEYS,
      DATA_DIR: datos,
      ...CLOCK_ENVIRONMENT,
    },
  })
  const despliegue: Deployment = {
    url: `https://${DOMINIO}`,
    ca: await readFile(autoridad, 'utf8'),
    databaseUrl: postgres.url,
    llave: '',
    comercioId: '',
    db,
    receptor,
    quejas,
    avisos,
    async start(nombre, folder) {
      const proxySettings = nombre.startsWith('trabajos') ? WITHOUT_PROXY : {}
      procesos.set(nombre, await launch(nombre, folder, { PORT: `${puertos.get(nombre)}`, ...proxySettings }))
    },
    async renew(nombre, folder) {
      await terminar(procesos.get(nombre)!, nombre, onComplaint)
      await despliegue.start(nombre, folder)
    },
    async poblar(folder, rutas) {
      // By the console of that version: the tables are of that version, and the Prisma client of this one needs its own.
      const administrar = async (...args: string[]) =>
        JSON.parse((await ejecutar(process.execPath, ['scripts/admin.ts', ...args, '--json'], consola(folder))).stdout)
      const ritmos = ['--ritmos', '100000,100000']
      const { comercio } = await administrar('comercios', 'crear', '--nombre', 'Tienda La Ceiba', ...ritmos)
      const { llave } = await administrar('llaves', 'crear', '--comercio', comercio, '--modo', 'test')
      const { rows } = await db.pool.query<{ id: string }>('select id from comercio where comercio = $1', [comercio])
      Object.assign(despliegue, { comercioId: rows[0]!.id, llave })
      const PORT = `${await findFreePort()}`
      const directo = await launch('api-1', folder, { PORT, ...WITHOUT_PROXY })
      for (const [ruta, tipos] of Object.entries(rutas)) {
        const { status } = await fetch(`http://127.0.0.1:${PORT}/api/v1/webhooks`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
          body: JSON.stringify({ url: receptor.base + ruta, tipos }),
        })
        if (status !== 201) throw new Error(`${ruta} wasn't registered: ${status}`)
      }
      await terminar(directo, 'api-1', onComplaint)
    },
  }
  return despliegue
}

/** Compose's own patience, after which it kills. */
async function terminar(proceso: ScenarioProcess, nombre: string, onComplaint: (queja: string) => void): Promise<void> {
  const [, segundos] = /^(\d+)s$/.exec(
    OWN_SERVICES.find((ownService) => ownService.nombre === nombre)!.stop_grace_period!,
  )!
  proceso.matar('SIGTERM')
  const fin = await Promise.race([proceso.fin, dormir(Number(segundos) * 1_000, undefined, { ref: false })])
  if (fin?.codigo !== 0) onComplaint(`${nombre}: ${fin ? JSON.stringify(fin) : 'not ended in time'} after SIGTERM`)
  if (fin) return
  proceso.matar('SIGKILL')
  await proceso.fin
}
