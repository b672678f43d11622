import { readFileSync } from 'node:fs'
import { ErrorApi } from '@guias/sdk'
import { leerCsv } from '@guias/sdk/hoja'
import { type Contexto, ErrorDeUso, type Opciones } from './orden.ts'
import { porque } from './porque.ts'
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
  const codigos = archivo === undefined ? dados : await deTexto(leerEntrada(archivo))
  const unicos = new Map(codigos.filter((uno) => uno.trim()).map((uno) => [canonico(uno), uno.trim()]))
  if (unicos.size > 0) return [...unicos.values()]
  throw new ErrorDeUso(
    archivo === undefined
      ? 'Falta el código de la guía, o --archivo con los códigos.'
      : `${archivo === '-' ? 'La entrada' : archivo} no trae ningún código de guía.`,
  )
}

/**
 * Reads a whole file, or standard input for `-`.
 *
 * @throws ErrorDeUso if the file cannot be read
 */
export function leerEntrada(archivo: string): string {
  try {
    return readFileSync(archivo === '-' ? 0 : archivo, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${archivo === '-' ? 'la entrada' : archivo}: ${porque(error)}.`)
  }
}

/**
 * Reads codes from JSON (a list, or one object per line), from a table with a column `guia`, or from plain codes. A row
 * without a code gives an empty text, which {@link leerCodigos} drops.
 */
async function deTexto(texto: string): Promise<string[]> {
  if (/^\s*[[{]/.test(texto)) return deJson(texto)
  const filas: string[][] = []
  for await (const fila of leerCsv(trozo(texto))) filas.push(fila)
  // A file with a batch's results begins with the columns of the original file, one of which may also be named «guia».
  const columna = filas[0]?.findLastIndex((titulo) => titulo.trim().toLowerCase() === 'guia') ?? -1
  return columna < 0 ? filas.flat() : filas.slice(1).map((fila) => fila[columna] ?? '')
}

/** Yields a text as a whole, for readers of streams. */
export async function* trozo(texto: string) {
  yield texto
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
