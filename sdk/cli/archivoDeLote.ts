import { createReadStream, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import type { GuiaParaCrear, Recogida } from '@guias/sdk'
import { ErrorDeHoja, type FilaDeHoja, leerHoja } from '@guias/sdk/hoja'
import { type Contexto, ErrorDeUso } from './orden.ts'
import { porque } from './porque.ts'
import { limpio } from './terminal.ts'

/**
 * Bytes per read of the file: about the size of one request. With larger reads, the progress would run ahead of the
 * guides sent.
 */
const PEDAZO = 8_192

/** Guide read from a batch file, with its row number under {@link FILA}, and the texts of a CSV under {@link VALORES}. */
export type Fila = GuiaParaCrear & {
  [FILA]: number
  [VALORES]?: readonly string[]
}
/** Keys of a guide's row. `JSON.stringify` skips symbols, so they are never sent to the service. */
export const FILA = Symbol('fila')
export const VALORES = Symbol('valores')

export interface Origen {
  filas: AsyncIterable<Fila>
  /** Titles of the columns of a CSV; empty for JSON. */
  columnas: readonly string[]
  /** Separator of a CSV, for the results too. */
  separador: string
  recogida?: Recogida | undefined
  /** Returns the bytes of the file read so far. For JSON, an estimate from the guides taken so far. */
  leidos(): number
}

/**
 * Returns the size of a file in bytes.
 *
 * @throws ErrorDeUso if the path cannot be read or is not a regular file
 */
export function tamanoDe(archivo: string): number {
  try {
    const estado = statSync(archivo)
    if (estado.isFile()) return estado.size
  } catch (error) {
    throw new ErrorDeUso(`No se pudo leer ${archivo}: ${porque(error)}.`)
  }
  throw new ErrorDeUso(`${archivo} no es un archivo.`)
}

/**
 * Opens a batch file. The extension selects the format: JSON, JSON lines or CSV. Errors in later rows are thrown while
 * `filas` is read.
 *
 * @throws ErrorDeUso if the extension or a column is unknown, or if the JSON has no list of guides
 */
export async function abrirLote(archivo: string, contexto: Contexto): Promise<Origen> {
  const tipo = extname(archivo).toLowerCase()
  if (tipo === '.json') return abrirJson(archivo)
  if (tipo === '.jsonl' || tipo === '.ndjson') {
    let leidos = 0
    const trozos = createReadStream(archivo, { highWaterMark: PEDAZO, encoding: 'utf8' })
    const filas = deJsonl(trozos, archivo, (cuantos) => {
      leidos += cuantos
    })
    return { filas, ...SIN_COLUMNAS, leidos: () => leidos }
  }
  if (tipo !== '.csv' && tipo !== '.txt' && tipo !== '.tsv') {
    throw new ErrorDeUso(`No sé leer ${archivo}: debe ser .csv, .json o .jsonl. Guarde la hoja de cálculo como CSV.`)
  }
  return abrirCsv(archivo, contexto)
}

const SIN_COLUMNAS = { columnas: [], separador: ',' }

async function abrirCsv(archivo: string, contexto: Contexto): Promise<Origen> {
  const codificacion = contexto.texto('codificacion') ?? 'utf-8'
  const bytes = createReadStream(archivo, { highWaterMark: PEDAZO })
  try {
    const { columnas, separador, filas } = await leerHoja(bytes, {
      codificacion,
      ignorarOtras: contexto.si('ignorar-otras'),
    })
    return { filas: conFilas(filas, archivo, codificacion), columnas, separador, leidos: () => bytes.bytesRead }
  } catch (error) {
    throw deHoja(error, archivo, codificacion)
  }
}

async function* conFilas(filas: AsyncIterable<FilaDeHoja>, archivo: string, codificacion: string) {
  try {
    for await (const { fila, valores, guia } of filas) yield Object.assign(conFila(guia, fila), { [VALORES]: valores })
  } catch (error) {
    throw deHoja(error, archivo, codificacion)
  }
}

/** Rewrites the message of an error about the sheet, with the file's name and this program's options. */
function deHoja(error: unknown, archivo: string, codificacion: string): unknown {
  if (!(error instanceof ErrorDeHoja)) return error
  const mensaje = limpio(error.message)
  if (error.motivo === 'vacia') return new ErrorDeUso(`${archivo} está vacío.`)
  if (error.motivo === 'columnas') return new ErrorDeUso(`${mensaje}. Cambie sus nombres, o pase --ignorar-otras.`)
  if (error.motivo === 'fila')
    return new ErrorDeUso(`${archivo}, ${mensaje}. Corríjala y ejecútelo otra vez: lo que ya se creó no se duplica.`)
  if (error.motivo === 'codificacion_desconocida' || error.motivo === 'columna_repetida')
    return new ErrorDeUso(`${mensaje}.`)
  return new ErrorDeUso(
    `${archivo} no está en ${codificacion}: guárdelo como «CSV UTF-8», o pase --codificacion windows-1252 si viene de Excel.`,
  )
}

async function abrirJson(archivo: string): Promise<Origen> {
  const contenido = await readFile(archivo)
  let datos: unknown
  try {
    datos = JSON.parse(contenido.toString('utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ErrorDeUso(`${archivo} no es JSON: ${(error as Error).message}`)
  }
  const { guias, recogida } = (Array.isArray(datos) ? { guias: datos } : datos) as {
    guias?: unknown
    recogida?: Recogida
  }
  if (!Array.isArray(guias)) throw new ErrorDeUso(`${archivo} debe ser una lista de guías, o { "guias": […] }.`)
  let leidas = 0
  const filas = (async function* () {
    for (const [i, guia] of guias.entries()) {
      leidas = i + 1
      yield conFila(guia, i + 1)
    }
  })()
  return { filas, ...SIN_COLUMNAS, recogida, leidos: () => (contenido.length * leidas) / guias.length }
}

async function* deJsonl(trozos: AsyncIterable<string>, archivo: string, alLeer: (bytes: number) => void) {
  let resto = ''
  let fila = 0
  const leer = (linea: string) => {
    fila++
    if (linea.trim() === '') return []
    try {
      return [conFila(JSON.parse(linea.replace(/^\uFEFF/, '')), fila)]
    } catch (error) {
      throw new ErrorDeUso(`${archivo}, línea ${fila}: no es JSON: ${(error as Error).message}`)
    }
  }
  for await (const trozo of trozos) {
    alLeer(Buffer.byteLength(trozo))
    const lineas = (resto + trozo).split('\n')
    resto = lineas.pop() ?? ''
    for (const linea of lineas) yield* leer(linea)
  }
  yield* leer(resto)
}

const conFila = (guia: unknown, fila: number): Fila =>
  typeof guia === 'object' && guia !== null
    ? Object.assign(guia as GuiaParaCrear, { [FILA]: fila })
    : ({ valor: guia, [FILA]: fila } as unknown as Fila)
