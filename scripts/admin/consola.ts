import { createInterface } from 'node:readline/promises'
import { loadContract } from '../../server/api/contract/load.ts'
import { openDb } from '../../server/data/db.ts'
import { EmbeddedPostgresError } from '../../server/data/embedded/embedded.ts'
import { EngineError } from '../../server/data/engine.ts'
import { localStoreIn, openStore } from '../../server/domain/archivos/openStore.ts'
import type { DepsDeOperacion } from '../../server/domain/deps.ts'
import { ConfigError, readConfig } from '../../server/platform/config/config.ts'
import { explainDatabase, Problema } from '../../server/platform/errors.ts'
import { FileStoreError } from '../../server/platform/files/store.ts'
import { createLog } from '../../server/platform/log.ts'
import { buildDeps } from '../../server/startup/buildDeps.ts'
import { Lifetime } from '../../server/startup/lifetime.ts'
import { MasterKeysError } from '../../server/startup/masterKeys.ts'
import { MigrationError } from '../../server/startup/migrations.ts'
import { openDatabase } from '../../server/startup/resources.ts'
import { Teardown } from '../../server/startup/teardown.ts'
import type { OpcionDeConsola } from './comando.ts'
import { AYUDA, ErrorDeLinea, leerLinea } from './linea.ts'

type Entorno = Readonly<Record<string, string | undefined>>

/**
 * Runs one command line of the console and writes to the given streams.
 * @returns the exit code: 0, 1 if the command fails, 2 if the command line is wrong
 */
export async function correrLinea(args: string[], env: Entorno, consola: Console): Promise<number> {
  try {
    const linea = leerLinea(args)
    if (linea) {
      const { comando, opciones, json } = linea
      if (comando.pregunta && !opciones.si && !(await confirmar(comando.pregunta(opciones)))) return 1
      const resultado = await conDeps(env, comando.conArchivos === true, (deps) => comando.ejecutar(deps, opciones))
      if (comando.documento && !json) consola.log('%s', JSON.stringify(resultado, null, 2))
      else mostrar(comando.resumir && !json ? (resultado as never[]).map(comando.resumir) : resultado, json, consola)
      return comando.falla?.(resultado as never) ? 1 : 0
    }
    consola.log(AYUDA)
    return 0
  } catch (error) {
    const { texto, codigo } = explicar(error)
    consola.error('%s', texto)
    return codigo
  }
}

/**
 * Asks for confirmation at a terminal.
 * @throws {ErrorDeUso} if standard input is not a terminal; `--si` is then required
 */
async function confirmar(pregunta: string): Promise<boolean> {
  if (!process.stdin.isTTY) throw new ErrorDeLinea('Falta --si: aquí no hay a quién preguntar.')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  try {
    return /^s[ií]$/i.test((await terminal.question(`${pregunta}\n¿Continuar? (sí/no) `)).trim())
  } finally {
    terminal.close()
  }
}

function mostrar(resultado: unknown, json: boolean, consola: Console) {
  if (json) return consola.log('%s', JSON.stringify(resultado))
  if (Array.isArray(resultado)) return resultado.length > 0 ? consola.table(resultado) : consola.log('No hay ninguno.')
  for (const [clave, valor] of Object.entries(resultado as object))
    consola.log('%s', `${clave.padEnd(12)} ${enPalabras(valor)}`)
}

/** Returns a value as a person reads it; the members of an object by their names. */
function enPalabras(valor: unknown): string {
  if (typeof valor === 'boolean') return valor ? 'sí' : 'no'
  if (Array.isArray(valor)) return valor.map(enPalabras).join(', ')
  if (typeof valor !== 'object' || valor === null) return String(valor ?? '—')
  return Object.entries(valor)
    .map(([miembro, suyo]) => `${miembro} ${enPalabras(suyo)}`)
    .join(', ')
}

/** Option of the console by field of the operation, if their names differ. */
const DE_CAMPO: Record<string, OpcionDeConsola> = { vence_en: 'vence', solapamiento_horas: 'solapamiento' }
const DE_CODIGO: Record<string, OpcionDeConsola> = {
  comercio_desconocido: 'comercio',
  llave_desconocida: 'llave',
  llave_inactiva: 'llave',
  operador_desconocido: 'operador',
  operador_revocado: 'operador',
  repartidor_desconocido: 'repartidor',
}

/**
 * Opens the service's database and runs `hacer` with it. Starts the embedded PostgreSQL if it is not running, and
 * applies missing migrations. Closes everything afterwards, also after an error.
 */
async function conDeps<T>(
  env: Entorno,
  conArchivos: boolean,
  hacer: (deps: DepsDeOperacion) => Promise<T>,
): Promise<T> {
  // The console sends no messages, so it needs no configuration of the messaging provider.
  const config = readConfig({ ...env, MESSAGING: 'buzon' }, process.cwd())
  const log = createLog('silent')
  const deshacer = new Teardown(log)
  try {
    const { databaseUrl, masterKeys, via } = await openDatabase(config, deshacer, false)
    const db = openDb(databaseUrl, { conexiones: 2, partes: via.partes })
    deshacer.add(() => db.cerrar())
    const { almacen, cerrar } = conArchivos
      ? await openStore(config)
      : { almacen: localStoreIn(config.dataDir), cerrar: () => {} }
    deshacer.add(cerrar)
    const deps = buildDeps(config, {
      db,
      dbImpaciente: db,
      dbDeLectura: db,
      masterKeys,
      almacen,
      log,
      vida: new Lifetime(log, false),
      urlPublica: '',
    })
    deshacer.add(() => deps.bitacora.escribir())
    return await hacer({ ...deps, validacion: loadContract().validacion })
  } finally {
    await deshacer.run()
  }
}

function explicar(error: unknown): { texto: string; codigo: number } {
  if (error instanceof ErrorDeLinea) return { texto: `${error.message}\n\n${AYUDA}`, codigo: 2 }
  if (error instanceof Problema) {
    const fallas = (error.detalles.errores ?? []).map(({ campo, mensaje }) => {
      const [, nombre = ''] = campo.split('/')
      return `--${DE_CAMPO[nombre] ?? nombre}: ${mensaje}`
    })
    const opcion = DE_CODIGO[error.codigo]
    return {
      texto: fallas.length > 0 ? fallas.join('\n') : `${opcion ? `--${opcion}: ` : ''}${error.message}`,
      codigo: 1,
    }
  }
  const conocido = [
    ConfigError,
    FileStoreError,
    MasterKeysError,
    EmbeddedPostgresError,
    MigrationError,
    EngineError,
  ].some((clase) => error instanceof clase)
  const texto = conocido ? (error as Error).message : explainDatabase(error)
  return { texto: texto ?? (error instanceof Error ? (error.stack ?? error.message) : String(error)), codigo: 1 }
}
