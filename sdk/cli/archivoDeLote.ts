import { createReadStream, statSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { TextDecoder } from 'node:util'
import type { GuiaParaCrear, Recogida } from '@guias/sdk'
import { COLUMNAS_DE_LOTE, guiaDeCampos, normalizarColumna } from './campos.ts'
import { leerCsv } from './csv.ts'
import { type Contexto, ErrorDeUso } from './orden.ts'
import { porque } from './porque.ts'
import { limpio } from './terminal.ts'

/**
 * Bytes per read of the file: about the size of one request. With larger reads, the progress would run ahead of the
 * guides sent.
 */
const PEDAZO = 8_192

/** Guide read from a batch file, with its row number under {@link FILA}. */
export interface Fila extends GuiaParaCrear {
  [FILA]: number
}
/** Key of a guide's row number. `JSON.stringify` skips symbols, so the row number is never sent to the service. */
export const FILA = Symbol('fila')

interface Origen {
  filas: AsyncIterable<Fila>
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
  let leidos = 0
  const trozos = leerTexto(archivo, contexto.texto('codificacion') ?? 'utf-8', (cuantos) => {
    leidos += cuantos
  })
  if (tipo === '.jsonl' || tipo === '.ndjson') return { filas: deJsonl(trozos, archivo), leidos: () => leidos }
  if (tipo !== '.csv' && tipo !== '.txt' && tipo !== '.tsv') {
    throw new ErrorDeUso(`No sé leer ${archivo}: debe ser .csv, .json o .jsonl. Guarde la hoja de cálculo como CSV.`)
  }
  const filas = leerCsv(trozos)
  const campos = await leerCabecera(filas, archivo, contexto.si('ignorar-otras'))
  return { filas: deCsv(filas, campos, archivo), leidos: () => leidos }
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
  return { filas, recogida, leidos: () => (contenido.length * leidas) / guias.length }
}

async function* leerTexto(archivo: string, codificacion: string, alLeer: (bytes: number) => void) {
  let decodificador: TextDecoder
  try {
    decodificador = new TextDecoder(codificacion, { fatal: true })
  } catch {
    throw new ErrorDeUso(`No conozco la codificación «${codificacion}»: pruebe utf-8 o windows-1252.`)
  }
  try {
    for await (const trozo of createReadStream(archivo, { highWaterMark: PEDAZO })) {
      alLeer(trozo.length)
      yield decodificador.decode(trozo, { stream: true })
    }
    yield decodificador.decode()
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ErrorDeUso(
      `${archivo} no está en ${codificacion}: guárdelo como «CSV UTF-8», o pase --codificacion windows-1252 si viene de Excel.`,
    )
  }
}

async function leerCabecera(filas: AsyncGenerator<string[], void, undefined>, archivo: string, ignorar: boolean) {
  const { value } = await filas.next()
  if (!value) throw new ErrorDeUso(`${archivo} está vacío.`)
  const campos = value.map(normalizarColumna)
  const ajenos = campos.filter((campo) => !COLUMNAS_DE_LOTE.includes(campo))
  if (ajenos.length > 0 && !ignorar) {
    throw new ErrorDeUso(
      `No conozco ${ajenos.length === 1 ? 'la columna' : 'las columnas'} «${ajenos.map(limpio).join('», «')}». Renómbrelas, o pase --ignorar-otras. Las que conozco: ${COLUMNAS_DE_LOTE.join(', ')}.`,
    )
  }
  const repetido = campos.find((campo, i) => COLUMNAS_DE_LOTE.includes(campo) && campos.indexOf(campo) !== i)
  if (repetido) throw new ErrorDeUso(`La columna «${repetido}» está dos veces: deje una.`)
  return campos
}

async function* deCsv(filas: AsyncIterable<string[]>, campos: string[], archivo: string) {
  let fila = 1
  try {
    for await (const valores of filas) {
      fila++
      if (valores.slice(campos.length).some((valor) => valor !== '')) {
        throw new SyntaxError(`trae ${valores.length} campos y la primera línea ${campos.length}`)
      }
      yield conFila(
        guiaDeCampos((campo) => valores[campos.indexOf(campo)]),
        fila,
      )
    }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    throw new ErrorDeUso(
      `${archivo}, fila ${fila}: ${error.message}. Corríjala y ejecútelo otra vez: lo que ya se creó no se duplica.`,
    )
  }
}

async function* deJsonl(trozos: AsyncIterable<string>, archivo: string) {
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
