import { abrirAlmacen } from '../archivos/abrir.ts'
import type { Almacen } from '../archivos/almacen.ts'
import { Conexiones, type Pooler } from '../conexiones.ts'
import type { Config } from '../config/config.ts'
import { type Kept, whyNoReplica } from '../data/engine.ts'
import { abrirDb, type Db } from '../db.ts'
import { exigirFlujoVigente } from '../eventos/flujo.ts'
import type { Log } from '../log.ts'
import { tomarPostgres } from '../postgresEmbebido/postgresEmbebido.ts'
import { type Lectura, Replica } from '../replica.ts'
import { clavesDeLaCasa } from './clavesMaestras.ts'
import type { Deshacer } from './deshacer.ts'
import { migrar, prepararBase } from './migraciones.ts'
import { Sonda } from './sonda.ts'

/** What stands before the database, if anything does. */
export interface Via extends Kept {
  url: string
  pooler?: Pooler | undefined
}

/** Where the data is: a database that is up to date, and the keys that protect what is in it. */
interface Base {
  /** PostgreSQL itself: for what needs a session of its own. */
  databaseUrl: string
  /** Where statements go, and by what. */
  via: Via
  masterKeys: readonly Buffer[]
  /** What whoever starts the process should know. */
  notas: readonly string[]
  /** The names of the migrations that were applied just now. */
  migraciones: readonly string[]
}

/** What every process stands on: its database, and the files beside it. */
export interface Plataforma extends Omit<Base, 'migraciones'> {
  db: Db
  /** Where what may be some seconds old is read. */
  dbDeLectura: Lectura
  /** The database by sessions that wait for nobody's lock for long: what others wait for goes through it. */
  dbImpaciente: Db
  sonda: Sonda
  almacen: Almacen
}

/** What is signed with a wrong address stays so: manifests and the QR codes of documents. */
const SIN_DIRECCION =
  'Falta PUBLIC_URL: los enlaces que se dan, y los códigos QR de las pruebas, llevan la dirección en que escucha este proceso.'

const SIN_MENSAJERIA =
  'MESSAGING=buzon: a los destinatarios de guías reales no se les pregunta su ubicación; sus mensajes esperan a que haya mensajería.'

/** How long a statement that others wait for may wait for a lock, in milliseconds. */
const PACIENCIA = 300

/** @param exclusivo whether the embedded PostgreSQL is this process's alone, or any one of several may start it */
export async function levantarPlataforma(
  config: Config,
  log: Log,
  deshacer: Deshacer,
  { exclusivo, alPerder }: { exclusivo: boolean; alPerder: (error: Error) => void },
): Promise<Plataforma> {
  const { almacen, nota, cerrar } = await abrirAlmacen(config)
  deshacer.al(cerrar)
  if (nota) log.warn({ nota }, 'storage')
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
  if (migraciones.length > 0) log.info({ migraciones }, 'migrated')
  const notas = [...base.notas, ...(nota ? [nota] : [])]
  if (config.baseDeDatos.tipo === 'externa') {
    if (!config.publicUrl) notas.push(SIN_DIRECCION)
    if (config.mensajeria.tipo === 'buzon') notas.push(SIN_MENSAJERIA)
    if (sinReplica && config.baseDeDatos.urlDeLectura) notas.push(sinReplica)
  }
  return { ...base, db, dbImpaciente, dbDeLectura, sonda, almacen, notas }
}

/** Connections to a replica at most: it is read where what is asked may be slow. */
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

/** @param exclusivo whether the embedded PostgreSQL is this process's alone, or any one of several may start it */
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
