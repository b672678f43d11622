import { COLUMNAS, guiaDeCampos } from './columns.js'
import { damageOf } from './damage.js'
import type { GuiaParaCrear } from './generated/types.gen.js'
import { ErrorDeHoja } from './sheetError.js'
import { type FilaDeTabla, leerTabla, type OpcionesDeTabla, type Tabla } from './table.js'

export {
  COLUMNAS,
  escribirMetadatos,
  guiaDeCampos,
  leerMetadatos,
  leerRecogida,
  normalizarColumna,
} from './columns.js'
export { escribirCsv, leerCsv } from './csv.js'
export { ErrorDeHoja } from './sheetError.js'
export { type FilaDeTabla, leerTabla, type OpcionesDeTabla, type Tabla } from './table.js'

/** Opciones de {@link leerHoja}. */
export interface OpcionesDeHoja extends Pick<OpcionesDeTabla, 'codificacion' | 'columnas'> {
  /** Verdadero para pasar por alto las columnas que no conoce, en vez de rechazar la hoja. */
  ignorarOtras?: boolean | undefined
}

/** Lo que una hoja de cálculo, o quien la guardó, dañó en una fila. */
export interface FallaDeFila {
  /** Campo de la guía, como `external_ref`; vacío si es de la fila entera. */
  campo: string
  /** Qué tiene y qué hacer. */
  mensaje: string
}

/** Fila de la que se pudo leer una guía. */
export interface FilaLeida extends FilaDeTabla {
  ok: true
  /** Guía que la fila pide, sin lo que está vacío. */
  guia: GuiaParaCrear
}

/** Fila que no se debe enviar: su guía llevaría un dato dañado, o sería la repetición de otra. */
export interface FilaConFallas extends FilaDeTabla {
  ok: false
  fallas: FallaDeFila[]
  /** La referencia que la fila trae. */
  external_ref: string | undefined
}

/** Fila de una hoja; `ok` dice si se pudo leer su guía. */
export type FilaDeHoja = FilaLeida | FilaConFallas

/** Hoja de guías que se está leyendo. */
export interface Hoja extends Omit<Tabla, 'filas'> {
  /** Filas con datos; las vacías se saltan. Se recorren una sola vez. Lanza {@link ErrorDeHoja} por unas comillas mal puestas. */
  filas: AsyncIterable<FilaDeHoja>
}

/** Shape of the texts that stand in a column of telephones. One of a row without a telephone is empty. */
const TELEPHONE = /^$|^(?:\D*\d){7}/

/**
 * Lee una hoja de guías en CSV, en Node y en un navegador. Lee también las de Excel: con `;`, con su línea `sep=;`, en
 * UTF-16 y con filas vacías. Conoce los nombres que una tienda da a las columnas («Pedido», «Nombre», «Latitud»). Una fila
 * con un dato dañado (`1.23457E+12`, `#REF!`), con más campos que columnas, o con la referencia de otra, dice sus fallas.
 *
 * ```ts
 * const { filas } = await leerHoja(createReadStream('pedidos.csv')) // en una página: leerHoja(input.files[0])
 * for await (const r of api.guias.crearMuchas(filas, { aGuia: guiaDeFila })) …
 * ```
 *
 * @throws {ErrorDeHoja} si está vacía, en otra codificación, con columnas que no conoce o con unas comillas mal puestas
 */
export async function leerHoja(
  origen: Blob | Uint8Array | AsyncIterable<Uint8Array>,
  { ignorarOtras = false, ...opciones }: OpcionesDeHoja = {},
): Promise<Hoja> {
  const table = await leerTabla(origen, { ...opciones, reconocible: ['telefono', TELEPHONE] })
  const columns = checkColumns(table, ignorarOtras)
  return { ...table, filas: readRows(table, columns) }
}

/**
 * Da la guía de una fila, para `crearMuchas`.
 *
 * @throws {ErrorDeHoja} con sus fallas, si la fila las tiene
 */
export function guiaDeFila(fila: FilaDeHoja): GuiaParaCrear {
  if (fila.ok) return fila.guia
  const mensajes = fila.fallas.map(({ campo, mensaje }) => (campo ? `${campo}: ${mensaje}` : mensaje))
  throw new ErrorDeHoja(`fila ${fila.fila}: ${mensajes.join('; ')}`, 'fila')
}

const MAX_NAMED = 10
const MAX_TITLE = 60
const quoted = (title: string) => `«${title.trim().slice(0, MAX_TITLE)}»`

/** Returns the index of each field's column. */
function checkColumns({ columnas: titles, campos }: Tabla, ignoresOthers: boolean): Map<string, number> {
  const known = new Set(COLUMNAS)
  const others = titles.filter((_, i) => campos[i] !== '' && !known.has(campos[i]!))
  if (others.length > 0 && !ignoresOthers) {
    const names = others.slice(0, MAX_NAMED).map(quoted).join(', ')
    const more = others.length > MAX_NAMED ? ` y otras ${others.length - MAX_NAMED}` : ''
    const which = `${others.length === 1 ? 'la columna' : 'las columnas'} ${names}${more}`
    throw new ErrorDeHoja(`No conozco ${which}. Las que conozco: ${COLUMNAS.join(', ')}`, 'columnas')
  }
  const columns = new Map<string, number>()
  for (const [i, field] of campos.entries()) {
    if (!known.has(field)) continue
    const first = columns.get(field)
    if (first !== undefined) {
      const [one, other] = [quoted(titles[first]!), quoted(titles[i]!)]
      const what = one === other ? `La columna ${one} está dos veces` : `${one} y ${other} son la misma columna`
      throw new ErrorDeHoja(`${what} (${field}): deje una`, 'columna_repetida')
    }
    columns.set(field, i)
  }
  return columns
}

/** Number of references that are remembered, to find those of two rows: the rows that a sheet of Excel can have. */
const MAX_REFERENCES = 1_048_576

async function* readRows(table: Tabla, columns: ReadonlyMap<string, number>): AsyncGenerator<FilaDeHoja> {
  const rowsOf = new Map<string, number>()
  for await (const row of table.filas) {
    const { fila: rowNumber, valores } = row
    const textOf = (field: string) => valores[columns.get(field) ?? -1]
    const external_ref = textOf('external_ref')?.trim() || undefined
    const surplus = surplusOf(valores, table)
    const fallas = surplus ? [{ campo: '', mensaje: surplus }] : damagesOf(textOf, columns)
    if (external_ref && !fallas.some(({ campo }) => campo === 'external_ref')) {
      const reference = external_ref.normalize()
      const first = rowsOf.get(reference)
      const mensaje = `es la de la fila ${first}: si es otro envío, ponga otra; si no, quite una de las dos filas`
      if (first !== undefined) fallas.push({ campo: 'external_ref', mensaje })
      else if (rowsOf.size < MAX_REFERENCES) rowsOf.set(reference, rowNumber)
    }
    yield fallas.length > 0
      ? { ok: false, ...row, fallas, external_ref }
      : { ok: true, ...row, guia: guiaDeCampos(textOf) }
  }
}

/** Says which text of a row belongs to no column, and the remedy. */
function surplusOf(valores: readonly string[], { columnas: titles, separador: separator }: Tabla): string | undefined {
  const at = valores.findIndex((value, i) => value.trim() !== '' && !titles[i]?.trim())
  if (at < 0) return undefined
  const count = valores.reduce((last, value, i) => (value.trim() ? i + 1 : last), 0)
  const remedy = `ponga entre comillas el texto que lleva ${separator === '\t' ? 'un tabulador' : `«${separator}»`}`
  return count > titles.length
    ? `trae ${count} campos y la primera línea ${titles.length}: ${remedy}`
    : `trae ${quoted(valores[at]!)} en la columna ${at + 1}, que no tiene nombre: póngaselo, o ${remedy}`
}

function damagesOf(textOf: (field: string) => string | undefined, columns: ReadonlyMap<string, number>): FallaDeFila[] {
  return [...columns.keys()].flatMap((campo) => {
    const mensaje = damageOf(campo, textOf(campo)?.trim() ?? '')
    return mensaje ? [{ campo, mensaje }] : []
  })
}
