import { Connections, type Pooler } from '../data/connections.ts'
import { type Db, openDb } from '../data/db.ts'
import { acquirePostgres } from '../data/embedded/embedded.ts'
import { type Kept, whyNoReplica } from '../data/engine.ts'
import { type ReadDb, Replica } from '../data/replica.ts'
import { openStore } from '../domain/archivos/openStore.ts'
import type { Config } from '../platform/config/config.ts'
import type { FileStore } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import { openBackup } from './backup.ts'
import { ownMasterKeys } from './masterKeys.ts'
import { migrate, prepareDatabase } from './migrations.ts'
import { Probe } from './probe.ts'
import type { Teardown } from './teardown.ts'

/** Address that statements use, the pooler at that address (if any), and the database's engine. */
export interface DataRoute extends Kept {
  url: string
  pooler?: Pooler | undefined
}

/** Database with an up-to-date schema, and the keys that protect its contents. */
interface Base {
  /** URL of PostgreSQL itself, for work that needs a session of its own. */
  databaseUrl: string
  /** Address to which statements go, possibly a pooler's. */
  via: DataRoute
  masterKeys: readonly Buffer[]
  /** Notes for the operator, in Spanish, that the console shows. */
  notas: readonly string[]
  /** Names of the migrations that this start applied. */
  migraciones: readonly string[]
}

/** Resources that every process needs: its database, and the file storage beside it. */
export interface Resources extends Omit<Base, 'migraciones'> {
  db: Db
  /** Database or replica for reads that may be some seconds old. */
  dbDeLectura: ReadDb
  /** Database over sessions with a short `lock_timeout`, for statements that other requests wait for. */
  dbImpaciente: Db
  sonda: Probe
  almacen: FileStore
  /** False if the file storage did not answer the check at start. */
  almacenDisponible: boolean
}

/**
 * Note for the console when `PUBLIC_URL` is missing. A wrong address stays in signed texts for ever: in manifests, and
 * in the QR codes of documents.
 */
const SIN_DIRECCION =
  'Falta PUBLIC_URL: los enlaces que se dan, y los códigos QR de las pruebas, llevan la dirección en que escucha este proceso.'

const SIN_MENSAJERIA =
  'MESSAGING=buzon: a los destinatarios de guías reales no se les pregunta su ubicación; sus mensajes esperan a que haya mensajería.'

const SIN_CORREO = 'Falta SMTP_URL: los correos a las personas (invitaciones, códigos de entrada) no salen.'

/** Longest wait for a lock by a statement that other requests wait for, in milliseconds. */
const PACIENCIA = 300

/**
 * Opens the file storage, the database and its connections, and applies missing migrations.
 * @param exclusivo true if the embedded PostgreSQL belongs to this process alone; false if any of several processes may
 * start it
 */
export async function openResources(
  config: Config,
  log: Log,
  deshacer: Teardown,
  { exclusivo, alPerder }: { exclusivo: boolean; alPerder: (error: Error) => void },
): Promise<Resources> {
  const { almacen, nota, cerrar } = await openStore(config)
  deshacer.add(cerrar)
  if (nota) log.warn({ nota }, 'file storage is unavailable')
  const { migraciones, ...base } = await openDatabase(config, deshacer, { exclusivo, log })
  const { url, pooler, engine, partes } = base.via
  log.info({ motor: engine }, 'database engine')
  const db = openDb(url, { pooler, partes, rol: 'guias_operacion', alFallar: alPerder })
  deshacer.add(() => db.cerrar())
  const dbImpaciente = openDb(url, {
    pooler,
    partes,
    conexiones: 3,
    nombre: 'guias creación',
    rol: 'guias_operacion',
    ajustes: { lock_timeout: `${PACIENCIA}` },
    alFallar: alPerder,
  })
  deshacer.add(() => dbImpaciente.cerrar())
  const sonda = new Probe(url, [db.pool, dbImpaciente.pool], log)
  deshacer.add(() => sonda.close())
  const sinReplica = whyNoReplica(base.via)
  const dbDeLectura = sinReplica ? db : abrirLectura(config, log, { db, deshacer, alPerder })
  if (migraciones.length > 0) log.info({ migraciones }, 'migrations applied')
  const notas = [...base.notas, ...(nota ? [nota] : [])]
  if (config.baseDeDatos.tipo === 'externa') {
    if (!config.publicUrl) notas.push(SIN_DIRECCION)
    if (config.mensajeria.tipo === 'buzon') notas.push(SIN_MENSAJERIA)
    if (!config.correo && !config.buzon) notas.push(SIN_CORREO)
    if (sinReplica && config.baseDeDatos.urlDeLectura) notas.push(sinReplica)
  }
  return { ...base, db, dbImpaciente, dbDeLectura, sonda, almacen, almacenDisponible: nota === undefined, notas }
}

/** Maximum connections to a replica. Only queries that may be slow read the replica. */
const DE_LECTURA = 4

function abrirLectura(
  { baseDeDatos }: Config,
  log: Log,
  { db, deshacer, alPerder }: { db: Db; deshacer: Teardown; alPerder: (error: Error) => void },
): ReadDb {
  if (baseDeDatos.tipo !== 'externa' || !baseDeDatos.urlDeLectura) return db
  const conexiones = new Connections(baseDeDatos.urlDeLectura, DE_LECTURA, `guias lectura pid=${process.pid}`, {
    rol: 'guias_operacion',
  })
  conexiones.on('error', alPerder)
  deshacer.add(() => conexiones.end())
  return new Replica(db, conexiones, log)
}

/** Way in which a process uses the embedded PostgreSQL. */
interface Owner {
  /** True if the server belongs to this process alone; false if any of several processes may start it. */
  exclusivo: boolean
  log: Log
}

/**
 * Opens the database, starts the embedded PostgreSQL if the configuration names no other, and applies missing
 * migrations.
 */
export async function openDatabase(config: Config, deshacer: Teardown, owner: Owner): Promise<Base> {
  const base = await hallarBase(config, deshacer, owner)
  const { baseDeDatos } = config
  const { migraciones, ...kept } =
    baseDeDatos.tipo === 'externa'
      ? await prepareDatabase(base.databaseUrl, baseDeDatos.motor)
      : { migraciones: await migrate(base.databaseUrl), engine: 'postgres' as const }
  return { ...base, via: { ...base.via, ...kept }, migraciones }
}

async function hallarBase(config: Config, deshacer: Teardown, { exclusivo, log }: Owner) {
  const { baseDeDatos, dataDir, masterKeys } = config
  if (baseDeDatos.tipo === 'externa') {
    const { url, pooler } = baseDeDatos
    return { databaseUrl: url, via: pooler ?? { url }, masterKeys: masterKeys ?? [], notas: [] }
  }
  const postgres = await acquirePostgres({ dataDir, exclusivo })
  const { url, notas, soltar } = postgres
  deshacer.add(soltar)
  if (exclusivo) await openBackup(config, postgres, log, deshacer)
  return { databaseUrl: url, via: { url }, masterKeys: masterKeys ?? (await ownMasterKeys(dataDir)), notas }
}
