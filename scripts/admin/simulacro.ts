// Disaster drill for backups. Restores a copy of the installation from a backup, and runs it with a continuous backup
// of its own. Then destroys the copy and restores it again. Finally compares the result with the destroyed copy.

import { createHash, randomBytes } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as dormir } from 'node:timers/promises'
import pg from 'pg'
import { readStatus } from '../../server/data/embedded/continuous/folder.ts'
import { keepContinuousBackup } from '../../server/data/embedded/continuous/keep.ts'
import { acquirePostgres } from '../../server/data/embedded/embedded.ts'
import { readPostmaster } from '../../server/data/embedded/postmaster.ts'
import { verificarCadenas } from '../../server/domain/bitacora/verificar.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { Passphrase } from '../../server/platform/backup/seal.ts'
import { createLog } from '../../server/platform/log.ts'
import type { Entorno } from './comando.ts'
import { conDeps } from './deps.ts'

/** Numbers of rows in an installation's tables. */
export interface Cuentas {
  guias: number
  eventos: number
  lineas: number
}

const CUENTAS = `select (select count(*)::int from guia where creado_en <= $1) as guias,
  (select count(*)::int from evento where registrado_en <= $1) as eventos,
  (select count(*)::int from bitacora where creado_en <= $1) as lineas`

/** Counts the rows that existed at an instant. */
export const contar = async ({ db }: DepsDeOperacion, hasta = new Date('9999-01-01')): Promise<Cuentas> =>
  (await db.pool.query<Cuentas>(CUENTAS, [hasta])).rows[0]!

/** Result of a drill. */
export interface Prueba extends Cuentas {
  archivos: number
  eslabones: number
  /** Path of the backup that was tested. */
  respaldo: string
  /** Age of the backup in seconds, compared with the installation. */
  atraso_s: number
  /** Seconds of work before the disaster that were lost (RPO). */
  perdida_s: number
  /** Seconds from the disaster until the restored database answers and its files are in place (RTO). */
  restauracion_s: number
  /** Differences between the restored data and the original, in Spanish. */
  faltas: string[]
}

/** Functions of the backup commands that a drill uses. */
interface Medios {
  /** Folder of the installation's continuous backup. Undefined: the drill makes a backup of its own. */
  continuo: string | undefined
  respaldar: (archivo: string) => Promise<void>
  restaurar: (archivo: string, carpeta: string, clave?: Passphrase) => Promise<Cuentas>
}

/** Time for which the copy works before its disaster, in milliseconds. */
const TRABAJO = 5_000

/** Maximum time until the copy's continuous backup is complete, in milliseconds. */
const PLAZO = 600_000

const segundos = (desde: number, hasta: number) => Math.round((hasta - desde) / 10) / 100

/**
 * Restores a backup into a temporary copy, destroys the copy while it works, restores it again, and compares the two.
 */
export async function probarRespaldo(env: Entorno, { continuo, respaldar, restaurar }: Medios): Promise<Prueba> {
  const carpeta = mkdtempSync(join(tmpdir(), 'guias-simulacro-'))
  chmodSync(carpeta, 0o711) // PostgreSQL's user must be able to pass through this folder.
  const [archivo, copia, respaldo, restaurada] = ['guias.respaldo', 'copia', 'respaldo', 'restaurada'].map((uno) =>
    join(carpeta, uno),
  ) as [string, string, string, string]
  const enCopia = (dataDir: string) => ({ ...env, BACKUP_DIR: '', DATA_DIR: dataDir })
  try {
    const instante = new Date((continuo && readStatus(continuo)?.al_dia) || Date.now())
    if (!continuo) await respaldar(archivo)
    await restaurar(continuo ?? archivo, copia)
    const atraso_s = segundos(instante.getTime(), Date.now())
    const [viva, copiada] = [
      await conDeps(env, false, (deps) => contar(deps, instante)),
      await conDeps(enCopia(copia), false, (deps) => contar(deps, instante)),
    ]
    const clave = new Passphrase(randomBytes(24).toString('base64url'))
    const { ultima, falla, huellas } = await destruir(copia, respaldo, clave)
    await restaurar(respaldo, restaurada, clave)
    const listo = Date.now()
    return await conDeps(enCopia(restaurada), true, async (deps) => {
      const { eslabones, faltas } = await verificarCadenas(deps, { desde: new Date(0), hasta: new Date('9999-01-01') })
      const deArchivos = await archivosQueDifieren(deps)
      return {
        ...(await contar(deps)),
        archivos: deArchivos.archivos,
        eslabones,
        respaldo: continuo ?? 'uno hecho ahora',
        atraso_s,
        perdida_s: segundos(await ultimaEn(deps, ultima), falla),
        restauracion_s: segundos(falla, listo),
        faltas: [
          ...(Object.keys(viva) as (keyof Cuentas)[])
            .filter((una) => copiada[una] < viva[una])
            .map((una) => `${una}: el respaldo tiene ${copiada[una]} de ${viva[una]}`),
          ...tablasQueDifieren(huellas, await huellasDe(deps.db.pool)),
          ...faltas,
          ...deArchivos.faltas,
        ],
      }
    })
  } finally {
    rmSync(carpeta, { recursive: true, force: true, maxRetries: 10 })
  }
}

/**
 * Runs the copy with a continuous backup, and then destroys it: kills PostgreSQL, and removes its folder.
 * @returns fingerprints of its tables, the instant of the disaster, and the instant of the last committed row
 */
async function destruir(dataDir: string, folder: string, passphrase: Passphrase) {
  const { urlDeSuperusuario: url, pgdata, soltar } = await acquirePostgres({ dataDir, exclusivo: true })
  const archivos = { files: join(dataDir, 'archivos'), log: createLog('silent') }
  const { abandon } = await keepContinuousBackup({ folder, passphrase, days: 1, dataDir, url, ...archivos })
  const cliente = new pg.Client({ connectionString: url })
  cliente.on('error', () => {}) // The disaster ends this connection; an unhandled error would end the process.
  await cliente.connect()
  for (const fin = Date.now() + PLAZO; !readStatus(folder)?.al_dia; await dormir(100))
    if (Date.now() > fin) throw new Error('The continuous backup of the copy is not ready after ten minutes.')
  const huellas = await huellasDe(cliente)
  await cliente.query('create table simulacro (creado_en timestamptz not null); grant select on simulacro to public')
  let ultima = 0
  for (const fin = Date.now() + TRABAJO; Date.now() < fin; await dormir(10)) {
    const { rows } = await cliente.query<{ ms: string }>(
      'insert into simulacro values (clock_timestamp()) returning extract(epoch from creado_en) * 1000 as ms',
    )
    ultima = Number(rows[0]!.ms)
  }
  const falla = Date.now()
  const abandonado = abandon()
  process.kill(readPostmaster(pgdata)!.pid, 'SIGKILL')
  await abandonado
  await soltar()
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 10 })
  return { huellas, falla, ultima }
}

/**
 * Returns the instant of the last restored row of the drill's table, in milliseconds. If the table itself was lost,
 * returns the instant at which the drill's work began.
 */
async function ultimaEn({ db }: DepsDeOperacion, ultima: number): Promise<number> {
  const { rows } = await db.pool.query<{ hay: boolean }>(`select to_regclass('public.simulacro') is not null as hay`)
  if (!rows[0]!.hay) return ultima - TRABAJO
  const { rows: restauradas } = await db.pool.query<{ ms: string | null }>(
    'select extract(epoch from max(creado_en)) * 1000 as ms from simulacro',
  )
  return Number(restauradas[0]!.ms ?? ultima - TRABAJO)
}

type Huellas = Record<string, string>

/** Returns a fingerprint of the rows of each table. */
async function huellasDe(cliente: Pick<pg.Client, 'query'>): Promise<Huellas> {
  const { rows } = await cliente.query<{ tabla: string; consulta: string }>(
    `select relname as tabla, format(
       'select count(*) || '' '' || coalesce(sum(hashtextextended(t::text, 0)::numeric), 0) as huella from public.%I t',
       relname) as consulta
     from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' and relname <> 'simulacro' order by 1`,
  )
  const huellas: Huellas = {}
  for (const { tabla, consulta } of rows)
    huellas[tabla] = (await cliente.query<{ huella: string }>(consulta)).rows[0]!.huella
  return huellas
}

const tablasQueDifieren = (antes: Huellas, despues: Huellas) =>
  Object.keys(antes)
    .filter((tabla) => antes[tabla] !== despues[tabla])
    .map((tabla) => `tabla ${tabla}: cambió al restaurar`)

/** Returns the names of files that are missing, or whose contents differ from the digests in the database. */
async function archivosQueDifieren({ db, almacen }: DepsDeOperacion): Promise<{ archivos: number; faltas: string[] }> {
  const { rows: filas } = await db.pool.query<{ archivo: string; sha256: Uint8Array }>(
    'select archivo, sha256 from archivo order by archivo',
  )
  const faltas: string[] = []
  for (const { archivo, sha256 } of filas) {
    const huella = createHash('sha256')
    try {
      for await (const trozo of await almacen.leer(archivo)) huella.update(trozo)
      if (!huella.digest().equals(sha256)) faltas.push(`archivo ${archivo}: cambió`)
    } catch {
      faltas.push(`archivo ${archivo}: falta`)
    }
  }
  return { archivos: filas.length, faltas }
}
