import { createInterface } from 'node:readline/promises'
import { EmbeddedPostgresError } from '../../server/data/embedded/embedded.ts'
import { EngineError } from '../../server/data/engine.ts'
import { ArchiveError } from '../../server/platform/backup/seal.ts'
import { ConfigError } from '../../server/platform/config/config.ts'
import { explainDatabase, Problema } from '../../server/platform/errors.ts'
import { FileStoreError } from '../../server/platform/files/store.ts'
import { MasterKeysError } from '../../server/startup/masterKeys.ts'
import { MigrationError } from '../../server/startup/migrations.ts'
import type { Entorno, OpcionDeConsola } from './comando.ts'
import { conDeps } from './deps.ts'
import { ErrorDeLinea } from './error.ts'
import { ayuda, leerLinea } from './linea.ts'

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
      const resultado =
        'aparte' in comando
          ? await comando.aparte(env, opciones)
          : await conDeps(env, comando.conArchivos === true, (deps) => comando.ejecutar(deps, opciones))
      if (comando.escribir && !json) consola.log('%s', comando.escribir(resultado as never))
      else if (comando.documento && !json) consola.log('%s', JSON.stringify(resultado, null, 2))
      else mostrar(comando.resumir && !json ? (resultado as never[]).map(comando.resumir) : resultado, json, consola)
      return comando.falla?.(resultado as never) ? 1 : 0
    }
    consola.log(ayuda())
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

/** Formats a value for people; an object as a list of its members with their names. */
function enPalabras(valor: unknown): string {
  if (typeof valor === 'boolean') return valor ? 'sí' : 'no'
  if (Array.isArray(valor)) return valor.map(enPalabras).join(', ')
  if (typeof valor !== 'object' || valor === null) return String(valor ?? '—')
  return Object.entries(valor)
    .map(([miembro, suyo]) => `${miembro} ${enPalabras(suyo)}`)
    .join(', ')
}

/** Names of the console's options by field of the operation, where the two differ. */
const DE_CAMPO: Record<string, OpcionDeConsola> = { vence_en: 'vence', solapamiento_horas: 'solapamiento' }
const DE_CODIGO: Record<string, OpcionDeConsola> = {
  comercio_desconocido: 'comercio',
  llave_desconocida: 'llave',
  llave_inactiva: 'llave',
  operador_desconocido: 'operador',
  operador_revocado: 'operador',
  repartidor_desconocido: 'repartidor',
  persona_desconocida: 'persona',
  persona_repetida: 'correo',
  membresia_desconocida: 'membresia',
}

function explicar(error: unknown): { texto: string; codigo: number } {
  if (error instanceof ErrorDeLinea) return { texto: `${error.message}\n\n${ayuda()}`, codigo: 2 }
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
    ArchiveError,
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
