import { COLUMNAS, guiaDeCampos, normalizarColumna } from './columnas.js'
import { leerCsv } from './csv.js'
import type { GuiaParaCrear } from './generado/types.gen.js'

export {
  COLUMNAS,
  escribirMetadatos,
  guiaDeCampos,
  leerMetadatos,
  leerRecogida,
  normalizarColumna,
} from './columnas.js'
export { escribirCsv, leerCsv } from './csv.js'

/** Error de una hoja que no se puede leer. El mensaje dice por qué y qué hacer, sin el nombre del archivo. */
export class ErrorDeHoja extends Error {
  override name = 'ErrorDeHoja'

  /** Motivo por el que no se puede leer. `codificacion`: los bytes no están en la que se dijo. */
  readonly motivo: 'codificacion' | 'codificacion_desconocida' | 'columnas' | 'columna_repetida' | 'fila' | 'vacia'

  constructor(mensaje: string, motivo: ErrorDeHoja['motivo'], opciones?: ErrorOptions) {
    super(mensaje, opciones)
    this.motivo = motivo
  }
}

/** Opciones de {@link leerHoja}. */
export interface OpcionesDeHoja {
  /** Codificación de la hoja, si no es UTF-8; la de Excel suele ser `windows-1252`. UTF-16 se reconoce por su marca. */
  codificacion?: string | undefined
  /** Verdadero para pasar por alto las columnas que no conoce, en vez de rechazar la hoja. */
  ignorarOtras?: boolean | undefined
}

/** Fila de una hoja. */
export interface FilaDeHoja {
  /** Número de la fila, como lo muestra una hoja de cálculo: la de los nombres es la 1. */
  fila: number
  /** Textos de la fila, como venían. */
  valores: string[]
  /** Guía que la fila pide, sin lo que está vacío. */
  guia: GuiaParaCrear
}

/** Hoja de guías que se está leyendo. */
export interface Hoja {
  /** Lo que separa las columnas: coma, punto y coma o tabulador. */
  separador: string
  /** Nombres de las columnas, como venían. */
  columnas: string[]
  /** Filas con datos; las vacías se saltan. Se recorren una sola vez. Lanza {@link ErrorDeHoja} por una fila que no cabe. */
  filas: AsyncIterable<FilaDeHoja>
}

/**
 * Lee una hoja de guías en CSV, en Node y en un navegador. Lee también las de Excel: con `;`, con su línea `sep=;`, en
 * UTF-16 y con filas vacías. Conoce los nombres que una tienda da a las columnas («Pedido», «Nombre», «Latitud»).
 *
 * ```ts
 * const { filas } = await leerHoja(createReadStream('pedidos.csv')) // en una página: leerHoja(input.files[0])
 * for await (const r of api.guias.crearMuchas(filas, { aGuia: ({ guia }) => guia })) …
 * ```
 *
 * @throws {ErrorDeHoja} si está vacía, en otra codificación, o con columnas que no conoce
 */
export async function leerHoja(
  origen: Blob | Uint8Array | AsyncIterable<Uint8Array>,
  { codificacion = 'utf-8', ignorarOtras = false }: OpcionesDeHoja = {},
): Promise<Hoja> {
  let separador = ','
  const filas = leerCsv(descifrar(trozosDe(origen), codificacion), (uno) => {
    separador = uno
  })
  const { value: columnas } = await filas.next().catch(rechazarFila(1))
  if (!columnas) throw new ErrorDeHoja('está vacía', 'vacia')
  const campos = revisarColumnas(columnas, ignorarOtras)
  return { separador, columnas, filas: leerFilas(filas, campos) }
}

function revisarColumnas(columnas: readonly string[], ignorarOtras: boolean): string[] {
  const campos = columnas.map(normalizarColumna)
  const ajenas = columnas.filter((_, i) => !COLUMNAS.includes(campos[i]!))
  if (ajenas.length > 0 && !ignorarOtras) {
    const cuales = `${ajenas.length === 1 ? 'la columna' : 'las columnas'} «${ajenas.map((una) => una.trim()).join('», «')}»`
    throw new ErrorDeHoja(`No conozco ${cuales}. Las que conozco: ${COLUMNAS.join(', ')}`, 'columnas')
  }
  const segunda = campos.findIndex((campo, i) => COLUMNAS.includes(campo) && campos.indexOf(campo) !== i)
  if (segunda >= 0) {
    const [una, otra] = [columnas[campos.indexOf(campos[segunda]!)]!, columnas[segunda]!]
    const que = una === otra ? `La columna «${una}» está dos veces` : `«${una}» y «${otra}» son la misma columna`
    throw new ErrorDeHoja(`${que} (${campos[segunda]}): deje una`, 'columna_repetida')
  }
  return campos
}

async function* leerFilas(filas: AsyncIterable<string[]>, campos: readonly string[]) {
  let fila = 1
  try {
    for await (const valores of filas) {
      fila++
      if (valores.every((valor) => valor.trim() === '')) continue
      if (valores.slice(campos.length).some((valor) => valor !== ''))
        throw new SyntaxError(`trae ${valores.length} campos y la primera línea ${campos.length}`)
      yield { fila, valores, guia: guiaDeCampos((campo) => valores[campos.indexOf(campo)]) }
    }
  } catch (error) {
    rechazarFila(fila)(error)
  }
}

const rechazarFila = (fila: number) => (error: unknown) => {
  if (!(error instanceof SyntaxError)) throw error
  throw new ErrorDeHoja(`fila ${fila}: ${error.message}`, 'fila', { cause: error })
}

async function* trozosDe(origen: Blob | Uint8Array | AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  if (origen instanceof Uint8Array) yield origen
  else if ('arrayBuffer' in origen) yield new Uint8Array(await origen.arrayBuffer())
  else yield* origen
}

/** Decodes a file piece by piece. A byte order mark of UTF-16 takes precedence over the given encoding. */
async function* descifrar(trozos: AsyncIterable<Uint8Array>, codificacion: string): AsyncIterable<string> {
  let principio = new Uint8Array()
  let decodificador: TextDecoder | undefined
  try {
    for await (const trozo of trozos) {
      if (decodificador) {
        yield decodificador.decode(trozo, { stream: true })
        continue
      }
      principio = unir(principio, trozo)
      if (principio.length < 2) continue
      decodificador = abrir(principio, codificacion)
      yield decodificador.decode(principio, { stream: true })
    }
    yield decodificador ? decodificador.decode() : abrir(principio, codificacion).decode(principio)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    throw new ErrorDeHoja(`no está en ${codificacion}`, 'codificacion', { cause: error })
  }
}

function unir(una: Uint8Array, otra: Uint8Array): Uint8Array<ArrayBuffer> {
  const juntas = new Uint8Array(una.length + otra.length)
  juntas.set(una)
  juntas.set(otra, una.length)
  return juntas
}

function abrir([una, otra]: Uint8Array, codificacion: string): TextDecoder {
  const marca = una === 0xff && otra === 0xfe ? 'utf-16le' : una === 0xfe && otra === 0xff ? 'utf-16be' : undefined
  try {
    return new TextDecoder(marca ?? codificacion, { fatal: true })
  } catch (error) {
    const remedio = 'pruebe utf-8 o windows-1252'
    const mensaje = `No conozco la codificación «${codificacion}»: ${remedio}`
    throw new ErrorDeHoja(mensaje, 'codificacion_desconocida', { cause: error })
  }
}
