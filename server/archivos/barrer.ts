import { forgetOwners } from '../data/owners.ts'
import { askAll, inEach } from '../data/spread.ts'
import { type Db, sentencia } from '../db.ts'
import type { Deps } from '../deps.ts'
import type { Almacen } from './almacen.ts'
import { esCodigoDeArchivo } from './archivo.ts'

/** Rows per round. */
const LOTE = 500
/** An upload takes a minute at most; what has been under way for so long was left behind, in milliseconds. */
const ABANDONADO = 3_600_000
/** What is uploaded is meant to be used the same day; so long it waits, in milliseconds. */
const SIN_USAR = 7 * 86_400_000

/** From here on no row says that the file is there, so that it may go. */
const CADUCAR = sentencia<{ antes_de: Date }>(
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
/** Of literals, so that PostgreSQL reads it from the partial index of what isn't ready, however large the table. */
const POR_BORRAR = sentencia<object, { archivo: string }>(
  'archivos.porBorrar',
  `select archivo from archivo_indice where estado = 'borrando' and creado_en > 'epoch' limit ${LOTE}`,
  { alcance: 'parte' },
)
const OLVIDAR = sentencia<{ archivos: readonly string[] }>(
  'archivos.olvidar',
  `delete from archivo_indice where archivo = any(:archivos::text[]) and estado = 'borrando'`,
  { alcance: 'parte' },
)

/**
 * How long there must have been a file that no name stands for, in milliseconds: whoever restores a database has time.
 */
const SIN_NOMBRE = 7 * 86_400_000

const ABANDONAR = sentencia<{ antes_de: Date }>(
  'archivos.abandonar',
  `update archivo_indice set estado = 'borrando' where estado = 'subiendo' and creado_en < :antes_de`,
  { alcance: 'parte' },
)

const CONOCIDAS = sentencia<{ claves: readonly string[] }, { clave: string }>(
  'archivos.conocidas',
  'select archivo as clave from archivo_indice where archivo = any(:claves::text[])',
  { alcance: 'parte' },
)

/**
 * Deletes the files that no row names or no proof uses: first their rows let go of them, then the storage, then their
 * names.
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
    // An upload that comes to its end after all finds that its name isn't its own any more.
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
    // The next time begins with these again.
    if (fallos.length > 0) throw fallos[0]
    filas = archivos.length
  }
}

/** A file that can't be deleted holds up no other; where so many can't, the storage is away. */
const FALLOS = 10

async function borrar(almacen: Almacen, archivos: readonly string[]) {
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

const leerConocidas = (db: Db, claves: readonly string[]) =>
  askAll(db, ({ consultar }) => consultar(CONOCIDAS, { claves }))

/**
 * Deletes the files of the storage that the database doesn't know, for it was restored to an earlier day; where it
 * knows the lesser part of them, it is the wrong database (another environment's, an empty one), and nothing is
 * deleted.
 */
export async function barrerDesconocidos({
  db,
  almacen,
  reloj,
  log,
}: Pick<Deps, 'db' | 'almacen' | 'reloj' | 'log'>): Promise<void> {
  const antes = reloj().getTime() - SIN_NOMBRE
  let pagina: string[] = []
  const barrerPagina = async () => {
    const conocidas = new Set((await leerConocidas(db, pagina)).map(({ clave }) => clave))
    const claves = pagina.filter((clave) => !conocidas.has(clave))
    const ajeno = claves.length > pagina.length / 2
    if (claves.length > 0) {
      const que = ajeno
        ? 'most files of the storage are unknown to this database: nothing deleted'
        : 'unknown files swept'
      log.warn({ archivos: claves.length, de: pagina.length }, que)
    }
    if (!ajeno) for (const clave of claves) await almacen.borrar(clave)
    pagina = []
    return !ajeno
  }
  for await (const { clave, modificado_en } of almacen.listar()) {
    if (esCodigoDeArchivo(clave) && modificado_en.getTime() < antes) pagina.push(clave)
    if (pagina.length === LOTE && !(await barrerPagina())) return
  }
  await barrerPagina()
}
