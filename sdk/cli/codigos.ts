import { isUtf8 } from 'node:buffer'
import { createReadStream } from 'node:fs'
import { ErrorApi } from '@guias/sdk'
import { leerTabla, type Tabla } from '@guias/sdk/hoja'
import { explainSystemError } from './cause.ts'
import { type Context, type Options, UsageError } from './command.ts'
import { byCodeOrReference } from './guiaOrReference.ts'
import { explainSheet } from './sheetErrors.ts'
import { notify, paintNotice, sanitize } from './terminal.ts'

export const CODES_OPTION: Options = {
  archivo: {
    placeholder: '<ruta>',
    description:
      'los códigos, de un archivo: uno por línea, un CSV o JSON con guia (los resultados de lote); «-» es la entrada',
  },
}

/**
 * Converts a guide code to the form that the service compares: upper case, no spaces or hyphens, 0 for O, 1 for I and
 * L.
 */
export const canonicalizeCode = (code: string) =>
  code.toUpperCase().replace(/[\s-]/g, '').replaceAll('O', '0').replace(/[IL]/g, '1')

/** Matches what may be a guide's code. Every other text may be a reference. */
export const CODE_PATTERN = /^(?:[\dA-Z]{4}[\s-]?){2}[\dA-Z]{4}$/i

/** Returns equal texts for two writings of one code. A reference has one writing. */
export const toComparable = (text: string) => (CODE_PATTERN.test(text) ? canonicalizeCode(text) : text)

/**
 * Reads the codes or references of a command's guides from its arguments or from `--archivo`, each one once.
 *
 * @throws UsageError if both are given, if the file cannot be read, or if there is no code
 */
export async function readCodes(context: Context): Promise<string[]> {
  const file = context.texto('archivo')
  const givenCodes = context.positionals
  if (file !== undefined && givenCodes.length > 0) {
    throw new UsageError(
      `Los códigos vienen de --archivo o de la orden, no de ambos: quite «${givenCodes[0]}» o --archivo.`,
    )
  }
  const codes = file === undefined ? givenCodes : await deBytes(await readInput(file), file)
  const writtenCodes = codes.map((code) => code.trim()).filter(Boolean)
  const uniqueCodes = new Map(writtenCodes.map((code) => [toComparable(code), code]))
  if (uniqueCodes.size > 0) return [...uniqueCodes.values()]
  throw new UsageError(
    file === undefined
      ? 'Falta el código de la guía, o --archivo con los códigos.'
      : `${file === '-' ? 'La entrada' : file} no trae ningún código de guía.`,
  )
}

/** Maximum size of a file of codes or places, in bytes. It holds some million codes. */
const MAX_INPUT = 67_108_864

const describeInput = (file: string) => (file === '-' ? 'la entrada' : file)

/**
 * Reads a whole file, or standard input for `-`.
 *
 * @throws UsageError if the file cannot be read or is too large
 */
export async function readInput(file: string): Promise<Buffer> {
  const chunks: Buffer[] = []
  let total = 0
  try {
    for await (const chunk of file === '-' ? process.stdin : createReadStream(file)) {
      chunks.push(chunk)
      total += chunk.length
      if (total > MAX_INPUT) break
    }
  } catch (error) {
    throw new UsageError(`No se pudo leer ${describeInput(file)}: ${explainSystemError(error)}.`)
  }
  if (total <= MAX_INPUT) return Buffer.concat(chunks)
  throw new UsageError(`${describeInput(file)} pasa de ${MAX_INPUT / 1_048_576} MB: divídalo en varios.`)
}

/**
 * Opens a table of guides. The column of their codes is the last of the name `guia`: a file of results begins with the
 * columns of the original file, one of which may have that name.
 *
 * @throws UsageError if the bytes are no table
 */
export async function openTable(bytes: Uint8Array, file: string): Promise<Tabla> {
  const throwExplained = (error: unknown) => {
    throw explainSheet(error, describeInput(file))
  }
  // Excel saves a table that it changed in windows-1252.
  const encoding = isUtf8(bytes) ? 'utf-8' : 'windows-1252'
  const { filas: rows, ...table } = await leerTabla(bytes, {
    codificacion: encoding,
    reconocible: ['guia', CODE_PATTERN],
  }).catch(throwExplained)
  const explainedRows = async function* () {
    try {
      yield* rows
    } catch (error) {
      throwExplained(error)
    }
  }
  return { ...table, filas: explainedRows() }
}

/**
 * Reads codes from JSON (a list, or one object per line), from a table with a column `guia`, or from plain codes. A row
 * without a code gives an empty text, which {@link readCodes} drops.
 */
async function deBytes(bytes: Uint8Array, file: string): Promise<string[]> {
  // PowerShell writes JSON in UTF-16.
  const text = new TextDecoder(bytes[0] === 0xff && bytes[1] === 0xfe ? 'utf-16le' : 'utf-8').decode(bytes)
  if (/^\s*[[{]/.test(text)) return deJson(text)
  if (text.trim() === '') return []
  const { columnas: columns, campos, filas: rows } = await openTable(bytes, file)
  const column = campos.lastIndexOf('guia')
  const codes = column < 0 ? [...columns] : []
  for await (const { valores: values } of rows) codes.push(...(column < 0 ? values : [values[column] ?? '']))
  return codes
}

function deJson(text: string): string[] {
  try {
    const parsed: unknown = text.trimStart().startsWith('[')
      ? JSON.parse(text)
      : text.split('\n').flatMap((line) => (line.trim() ? [JSON.parse(line)] : []))
    return (parsed as unknown[]).map((element) =>
      String(typeof element === 'object' ? ((element as { guia?: unknown })?.guia ?? '') : element),
    )
  } catch (error) {
    throw new UsageError(`Los códigos no son JSON: ${(error as Error).message}`)
  }
}

/**
 * Runs `action` for each guide, by its code or reference. With several guides, a 404 (unknown guide) or 409 (wrong
 * state) is reported and the rest continue. Any other error is thrown.
 *
 * @param action receives the guide's code, and the text as it was written
 * @returns the number of guides that failed
 */
export async function forEachCode(
  codes: readonly string[],
  context: Context,
  action: (code: string, written: string) => Promise<void>,
) {
  const api = context.api()
  let fallidas = 0
  for (const code of codes) {
    try {
      await byCodeOrReference(api, code, context.signal, (guia) => action(guia, code))
    } catch (error) {
      const isGuiaFailure = error instanceof ErrorApi && (error.estadoHttp === 404 || error.estadoHttp === 409)
      if (!isGuiaFailure || codes.length === 1) throw error
      fallidas++
      const mensaje = context.describeError(error)
      if (context.json) notify(JSON.stringify({ guia: code, codigo: error.codigo, mensaje }))
      else notify(`${paintNotice('red', sanitize(code))}  ${mensaje}`)
    }
  }
  return fallidas
}
