import { Conexiones, type Pooler } from '../data/connections.ts'
import { abrirDb, type Db } from '../data/db.ts'
import { tomarPostgres } from '../data/embedded/embedded.ts'
import { type Kept, whyNoReplica } from '../data/engine.ts'
import { type Lectura, Replica } from '../data/replica.ts'
import { abrirAlmacen } from '../domain/archivos/openStore.ts'
import { exigirFlujoVigente } from '../domain/eventos/flujo.ts'
import type { Config } from '../platform/config/config.ts'
import type { Almacen } from '../platform/files/store.ts'
import type { Log } from '../platform/log.ts'
import { clavesDeLaCasa } from './masterKeys.ts'
import { migrar, prepararBase } from './migrations.ts'
import { Sonda } from './probe.ts'
import type { Deshacer } from './teardown.ts'

/** Address to which statements go, the pooler at that address, if any, and the database's engine. */
export interface Via extends Kept {
  url: string
  pooler?: Pooler | undefined
}

/** Database with an up-to-date schema, and the keys that protect its contents. */
interface Base {
  /** URL of PostgreSQL itself, for work that needs a session of its own. */
  databaseUrl: string
  /** Address to which statements go, possibly a pooler's. */
  via: Via
  masterKeys: readonly Buffer[]
  /** Notes for the operator, in Spanish, that the console shows. */
  notas: readonly string[]
  /** Names of the migrations that this start applied. */
  migraciones: readonly string[]
}

/** Resources that every process needs: its database, and the file storage beside it. */
export interface Plataforma extends Omit<Base, 'migraciones'> {
  db: Db
  /** Database or replica for reads that may be some seconds old. */
  dbDeLectura: Lectura
  /** Database over sessions with a short `lock_timeout`, for statements that other requests wait for. */
  dbImpaciente: Db
  sonda: Sonda
  almacen: Almacen
}

/**
 * Note for the console when `PUBLIC_URL` is missing. A wrong address stays in signed texts for ever: in manifests, and
 * in the QR codes of documents.
 */
const SIN_DIRECCION =
  'Falta PUBLIC_URL: los enlaces que se dan, y los códigos QR de las pruebas, llevan la dirección en que escucha este proceso.'

const SIN_MENSAJERIA =
  'MESSAGING=buzon: a los destinatarios de guías reales no se les pregunta su ubicación; sus mensajes esperan a que haya mensajería.'

/** Longest wait for a lock by a statement that other requests wait for, in milliseconds. */
const PACIENCIA = 300

/**
 * Opens the file storage, the database and its connections, and applies missing migrations.
 * @param exclusivo true if the embedded PostgreSQL belongs to this process alone; false if any of several processes may
 * start it
 */
export async function levantarPlataforma(
  config: Config,
  log: Log,
  deshacer: Deshacer,
  { exclusivo, alPerder }: { exclusivo: boolean; alPerder: (error: Error) => void },
): Promise<Plataforma> {
  const { almacen, nota, cerrar } = await abrirAlmacen(config)
  deshacer.al(cerrar)
  if (nota) log.warn({ nota }, 'file storage is unavailable')
  const { migraciones, ...base } = await levantarBase(config, deshacer, exclusivo)
  const { url, pooler, engine, partes } = base.via
  log.info({ motor: engine }, 'database engine')
  const db = abrirDb(url, { pooler, partes, rol: 'guias_operacion', alFallar: alPerder })
  deshacer.al(() => db.cerrar())
  const dbImpaciente = abrirDb(url, {
    pooler,
    partes,
    conexiones: 3,
    nombre: 'guias creación',
    rol: 'guias_operacion',
    ajustes: { lock_timeout: `${PACIENCIA}` },
    alFallar: alPerder,
  })
  deshacer.al(() => dbImpaciente.cerrar())
  const sonda = new Sonda(url, [db.pool, dbImpaciente.pool], log)
  deshacer.al(() => sonda.cerrar())
  const sinReplica = whyNoReplica(base.via)
  const dbDeLectura = sinReplica ? db : abrirLectura(config, log, { db, deshacer, alPerder })
  await exigirFlujoVigente(db)
  if (migraciones.length > 0) log.info({ migraciones }, 'migrations applied')
  const notas = [...base.notas, ...(nota ? [nota] : [])]
  if (config.baseDeDatos.tipo === 'externa') {
    if (!config.publicUrl) notas.push(SIN_DIRECCION)
    if (config.mensajeria.tipo === 'buzon') notas.push(SIN_MENSAJERIA)
    if (sinReplica && config.baseDeDatos.urlDeLectura) notas.push(sinReplica)
  }
  return { ...base, db, dbImpaciente, dbDeLectura, sonda, almacen, notas }
}

/** Connections to a replica at most. Only queries that may be slow read the replica. */
const DE_LECTURA = 4

function abrirLectura(
  { baseDeDatos }: Config,
  log: Log,
  { db, deshacer, alPerder }: { db: Db; deshacer: Deshacer; alPerder: (error: Error) => void },
): Lectura {
  if (baseDeDatos.tipo !== 'externa' || !baseDeDatos.urlDeLectura) return db
  const conexiones = new Conexiones(baseDeDatos.urlDeLectura, DE_LECTURA, `guias lectura pid=${process.pid}`, {
    rol: 'guias_operacion',
  })
  conexiones.on('error', alPerder)
  deshacer.al(() => conexiones.end())
  return new Replica(db, conexiones, log)
}

/**
 * Opens the database, starts the embedded PostgreSQL if the configuration names no other, and applies missing
 * migrations.
 * @param exclusivo true if the embedded PostgreSQL belongs to this process alone; false if any of several processes may
 * start it
 */
export async function levantarBase(config: Config, deshacer: Deshacer, exclusivo: boolean): Promise<Base> {
  const base = await hallarBase(config, deshacer, exclusivo)
  const { baseDeDatos } = config
  const { migraciones, ...kept } =
    baseDeDatos.tipo === 'externa'
      ? await prepararBase(base.databaseUrl, baseDeDatos.motor)
      : { migraciones: await migrar(base.databaseUrl), engine: 'postgres' as const }
  return { ...base, via: { ...base.via, ...kept }, migraciones }
}

async function hallarBase({ baseDeDatos, dataDir, masterKeys }: Config, deshacer: Deshacer, exclusivo: boolean) {
  if (baseDeDatos.tipo === 'externa') {
    const { url, pooler } = baseDeDatos
    return { databaseUrl: url, via: pooler ?? { url }, masterKeys: masterKeys ?? [], notas: [] }
  }
  const { url, notas, soltar } = await tomarPostgres({ dataDir, exclusivo })
  deshacer.al(soltar)
  return { databaseUrl: url, via: { url }, masterKeys: masterKeys ?? (await clavesDeLaCasa(dataDir)), notas }
}
