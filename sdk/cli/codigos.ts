import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { ErrorApi } from '@guias/sdk'
import { leerTabla, type Tabla } from '@guias/sdk/hoja'
import { type Contexto, ErrorDeUso, type Opciones } from './orden.ts'
import { porque } from './porque.ts'
import { explainSheet } from './sheetErrors.ts'
import { avisar, limpio, pintarAviso } from './terminal.ts'

export const OPCION_DE_CODIGOS: Opciones = {
  archivo: {
    valor: '<ruta>',
    dice: 'los códigos, de un archivo: uno por línea, un CSV o JSON con guia (los resultados de lote); «-» es la entrada',
  },
}

/**
 * Converts a guide code to the form that the service compares: upper case, no spaces or hyphens, 0 for O, 1 for I and
 * L.
 */
export const canonico = (codigo: string) =>
  codigo.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')

/**
 * Reads the guide codes of a command from its arguments or from `--archivo`, each code once.
 *
 * @throws ErrorDeUso if both are given, if the file cannot be read, or if there is no code
 */
export async function leerCodigos(contexto: Contexto): Promise<string[]> {
  const archivo = contexto.texto('archivo')
  const dados = contexto.posicionales
  if (archivo !== undefined && dados.length > 0) {
    throw new ErrorDeUso(`Los códigos vienen de --archivo o de la orden, no de ambos: quite «${dados[0]}» o --archivo.`)
  }
  const codigos = archivo === undefined ? dados : await deBytes(await leerEntrada(archivo), archivo)
  const unicos = new Map(codigos.filter((uno) => uno.trim()).map((uno) => [canonico(uno), uno.trim()]))
  if (unicos.size > 0) return [...unicos.values()]
  throw new ErrorDeUso(
    archivo === undefined
      ? 'Falta el código de la guía, o --archivo con los códigos.'
      : `${archivo === '-' ? 'La entrada' : archivo} no trae ningún código de guía.`,
  )
}

/** Maximum size of a file of codes or places, in bytes. It holds some million codes. */
const MAX_INPUT = 67_108_864

const nombrarEntrada = (archivo: string) => (archivo === '-' ? 'la entrada' : archivo)

/**
 * Reads a whole file, or standard input for `-`.
 *
 * @throws ErrorDeUso if the file cannot be read or is too large
 */
export async function leerEntrada(archivo: string): Promise<Buffer> {
  const trozos: Buffer[] = []
  let total = 0
  try {
    for await (const trozo of archivo === '-' ? process.stdin : createReadStream(archivo)) {
      trozos.push(trozo)
      total += trozo.length
      if (total > MAX_INPUT) break
    }
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${nombrarEntrada(archivo)}: ${porque(error)}.`)
  }
  if (total <= MAX_INPUT) return Buffer.concat(trozos)
  throw new ErrorDeUso(`${nombrarEntrada(archivo)} pasa de ${MAX_INPUT / 1_048_576} MB: divídalo en varios.`)
}

const CODIGO = /^(?:[\dA-Z]{4}[\s-]?){2}[\dA-Z]{4}$/i

/**
 * Opens a table of guides. The column of their codes is the last of the name `guia`: a file of results begins with the
 * columns of the original file, one of which may have that name.
 *
 * @throws ErrorDeUso if the bytes are no table
 */
export async function abrirTabla(bytes: Uint8Array, archivo: string): Promise<Tabla> {
  const explicar = (error: unknown) => {
    throw explainSheet(error, nombrarEntrada(archivo))
  }
  // Excel saves a table that it changed in windows-1252.
  const codificacion = isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  const { filas, ...tabla } = await leerTabla(bytes, { codificacion, reconocible: ['guia', CODIGO] }).catch(explicar)
  const explicadas = async function* () {
    try {
      yield* filas
    } catch (error) {
      explicar(error)
    }
  }
  return { ...tabla, filas: explicadas() }
}

/**
 * Reads codes from JSON (a list, or one object per line), from a table with a column `guia`, or from plain codes. A row
 * without a code gives an empty text, which {@link leerCodigos} drops.
 */
async function deBytes(bytes: Uint8Array, archivo: string): Promise<string[]> {
  // PowerShell writes JSON in UTF-16.
  const texto = new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
  if (/^\s*[[{]/.test(texto)) return deJson(texto)
  if (texto.trim() === '') return []
  const { columnas, campos, filas } = await abrirTabla(bytes, archivo)
  const columna = campos.lastIndexOf('guia')
  const codigos = columna < 0 ? [...columnas] : []
  for await (const { valores } of filas) codigos.push(...(columna < 0 ? valores : [valores[columna] ?? '']))
  return codigos
}

function deJson(texto: string): string[] {
  try {
    const leido: unknown = texto.trimStart().startsWith('[')
      ? JSON.parse(texto)
      : texto.split('\n').flatMap((linea) => (linea.trim() ? [JSON.parse(linea)] : []))
    return (leido as unknown[]).map((una) =>
      String(typeof una === 'object' ? ((una as { guia?: unknown })?.guia ?? '') : una),
    )
  } catch (error) {
    throw new ErrorDeUso(`Los códigos no son JSON: ${(error as Error).message}`)
  }
}

/**
 * Runs `hacer` for each guide. With several guides, a 404 (unknown guide) or 409 (wrong state) is reported and the rest
 * continue. Any other error is thrown.
 *
 * @returns the number of guides that failed
 */
export async function conCada(
  codigos: readonly string[],
  contexto: Contexto,
  hacer: (codigo: string) => Promise<void>,
) {
  let fallidas = 0
  for (const codigo of codigos) {
    try {
      await hacer(codigo)
    } catch (error) {
      const suya = error instanceof ErrorApi && (error.status === 404 || error.status === 409)
      if (!suya || codigos.length === 1) throw error
      fallidas++
      const mensaje = contexto.decirError(error)
      if (contexto.json) avisar(JSON.stringify({ guia: codigo, codigo: error.codigo, mensaje }))
      else avisar(`${pintarAviso('rojo', limpio(codigo))}  ${mensaje}`)
    }
  }
  return fallidas
}
