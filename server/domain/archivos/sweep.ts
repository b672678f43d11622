import { type Db, statement } from '../../data/db.ts'
import { forgetOwners } from '../../data/owners.ts'
import { askAll, inEach } from '../../data/spread.ts'
import type { FileStore } from '../../platform/files/store.ts'
import type { Deps } from '../deps.ts'
import { esCodigoDeArchivo } from './archivo.ts'
import type { FileMetrics } from './metrics.ts'

/** Maximum number of rows or keys per batch. */
const LOTE = 500
/** Age in milliseconds at which an unfinished upload counts as abandoned. An upload takes one minute at most. */
const ABANDONADO = 3_600_000
/**
 * Time in milliseconds that an uploaded file waits for a proof that uses it. Clients are expected to use a file on the
 * same day.
 */
const SIN_USAR = 7 * 86_400_000

/** Deletes the rows of files that no proof used in time, and marks these files for deletion in `archivo_indice`. */
const CADUCAR = statement<{ antes_de: Date }>(
  'archivos.caducar',
  `with v as (
     select comercio_id, modo, guia_id, archivo from archivo where usado_en is null and creado_en < :antes_de limit ${LOTE}
   ), d as (
     delete from archivo a using v where a.comercio_id = v.comercio_id and a.modo = v.modo and a.guia_id = v.guia_id
       and a.archivo = v.archivo and a.usado_en is null
     returning a.archivo
   )
   update archivo_indice i set estado = 'borrando' from d where i.archivo = d.archivo`,
  { alcance: 'parte' },
)
/**
 * Reads the codes of files marked for deletion. Literals let PostgreSQL use the partial index on rows that are not
 * `listo`, however large the table is.
 */
const POR_BORRAR = statement<object, { archivo: string }>(
  'archivos.porBorrar',
  `select archivo from archivo_indice where estado = 'borrando' and creado_en > 'epoch' limit ${LOTE}`,
  { alcance: 'parte' },
)
const OLVIDAR = statement<{ archivos: readonly string[] }>(
  'archivos.olvidar',
  `delete from archivo_indice where archivo = any(:archivos::text[]) and estado = 'borrando'`,
  { alcance: 'parte' },
)

/**
 * Minimum age in milliseconds of a file without a row before the sweeper deletes the file. This gives an operator time
 * to restore a database.
 */
const SIN_NOMBRE = 7 * 86_400_000

const ABANDONAR = statement<{ antes_de: Date }>(
  'archivos.abandonar',
  `update archivo_indice set estado = 'borrando' where estado = 'subiendo' and creado_en < :antes_de`,
  { alcance: 'parte' },
)

const CONOCIDAS = statement<{ claves: readonly string[]; antes_de: Date }, { clave: string; completa: boolean }>(
  'archivos.conocidas',
  `select archivo as clave, estado = 'listo' and creado_en < :antes_de as completa from archivo_indice
   where archivo = any(:claves::text[])`,
  { alcance: 'parte' },
)
const COMPLETAS = statement<{ antes_de: Date }, { cuantas: number }>(
  'archivos.completas',
  `select count(*)::int as cuantas from archivo_indice where estado = 'listo' and creado_en < :antes_de`,
  { alcance: 'parte' },
)

/**
 * Deletes the files that no row names or no proof uses. Deletes first their rows in `archivo`, then the files in the
 * storage, then their rows in `archivo_indice`.
 */
export async function barrerArchivos({
  db,
  almacen,
  reloj,
  log,
}: Pick<Deps, 'db' | 'almacen' | 'reloj' | 'log'>): Promise<void> {
  const hace = (ms: number) => new Date(reloj().getTime() - ms)
  await inEach(db, async (suya) => {
    await suya.consultar(CADUCAR, { antes_de: hace(SIN_USAR) })
    // An upload that finishes after this statement fails, because its reservation is marked for deletion.
    await suya.consultar(ABANDONAR, { antes_de: hace(ABANDONADO) })
    await borrarLosDejados({ db: suya, almacen, log })
  })
}

async function borrarLosDejados({ db, almacen, log }: Pick<Deps, 'db' | 'almacen' | 'log'>): Promise<void> {
  for (let filas = LOTE; filas === LOTE; ) {
    const archivos = (await db.consultar(POR_BORRAR)).map(({ archivo }) => archivo)
    const { borrados, fallos } = await borrar(almacen, archivos)
    if (borrados.length > 0) {
      await db.consultar(OLVIDAR, { archivos: borrados })
      await forgetOwners(db, borrados)
      log.info({ archivos: borrados.length }, 'files swept')
    }
    // The failed files are still marked for deletion, so the next run tries them first.
    if (fallos.length > 0) throw fallos[0]
    filas = archivos.length
  }
}

/**
 * Number of failed deletions that ends a batch. One failed file does not delay the others; this many failures mean that
 * the storage is unavailable.
 */
const FALLOS = 10

async function borrar(almacen: FileStore, archivos: readonly string[]) {
  const borrados: string[] = []
  const fallos: unknown[] = []
  for (const archivo of archivos) {
    if (fallos.length === FALLOS) break
    await almacen.borrar(archivo).then(
      () => borrados.push(archivo),
      (error) => fallos.push(error),
    )
  }
  return { borrados, fallos }
}

const leerConocidas = (db: Db, claves: readonly string[], antes_de: Date) =>
  askAll(db, ({ consultar }) => consultar(CONOCIDAS, { claves, antes_de }))

/** Counts the complete files that the database has had since before an instant. */
const contarCompletas = async (db: Db, antes_de: Date) =>
  (await askAll(db, ({ consultar }) => consultar(COMPLETAS, { antes_de }))).reduce((n, { cuantas }) => n + cuantas, 0)

/**
 * Deletes stored files that the database does not know, because the database was restored to an earlier state.
 * Checks the keys in pages. If a page has more unknown than known keys, deletes nothing more: the database is the wrong
 * one (another environment's, or an empty one). Reports how storage and rows differ.
 */
export async function barrerDesconocidos({
  db,
  almacen,
  reloj,
  log,
  metricas,
}: Pick<Deps, 'db' | 'almacen' | 'reloj' | 'log'> & { metricas: Pick<FileMetrics, 'diferencias'> }): Promise<void> {
  const ahora = reloj().getTime()
  const hechas = new Date(ahora - ABANDONADO)
  let [vistas, sinFila] = [0, 0]
  let pagina: { clave: string; hace: number }[] = []
  const barrerPagina = async () => {
    const conocidas = await leerConocidas(
      db,
      pagina.map(({ clave }) => clave),
      hechas,
    )
    vistas += conocidas.filter(({ completa }) => completa).length
    const conFila = new Set(conocidas.map(({ clave }) => clave))
    const sinNombre = pagina.filter(({ clave }) => !conFila.has(clave))
    const viejas = pagina.filter(({ hace }) => hace > SIN_NOMBRE)
    const claves = sinNombre.filter(({ hace }) => hace > SIN_NOMBRE).map(({ clave }) => clave)
    const ajeno = claves.length > viejas.length / 2
    // A younger file may belong to an upload whose row is not committed yet.
    sinFila += sinNombre.filter(({ hace }) => hace > ABANDONADO).length - (ajeno ? 0 : claves.length)
    if (claves.length > 0) {
      const que = ajeno
        ? 'most files of the storage are unknown to this database: nothing deleted'
        : 'unknown files swept'
      log.warn({ archivos: claves.length, de: viejas.length }, que)
    }
    if (!ajeno) for (const clave of claves) await almacen.borrar(clave)
    pagina = []
    return !ajeno
  }
  for await (const { clave, modificado_en } of almacen.listar()) {
    if (esCodigoDeArchivo(clave)) pagina.push({ clave, hace: ahora - modificado_en.getTime() })
    if (pagina.length === LOTE && !(await barrerPagina())) return metricas.diferencias({ sinFila })
  }
  await barrerPagina()
  const sinArchivo = Math.max(0, (await contarCompletas(db, hechas)) - vistas)
  metricas.diferencias({ sinFila, sinArchivo })
}
