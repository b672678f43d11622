/**
 * Parses CSV (RFC 4180) row by row, so that the file may have any size. Accepts a byte order mark, `;` or tabs as
 * separator, and any line ending. A quoted field may contain separators, line endings and doubled quotes. Empty lines
 * are skipped.
 *
 * @throws SyntaxError if a quote is never closed
 */
export async function* leerCsv(trozos: AsyncIterable<string>): AsyncGenerator<string[], void, undefined> {
  let separador: string | undefined
  let cabecera = ''
  let fila: string[] = []
  let campo = ''
  /** `citado`: inside a quoted field. `cierra`: after a quote that closes the field or starts a doubled quote. */
  let citado = false
  let cierra = false
  let tocado = false
  const cerrarCampo = () => {
    fila.push(campo)
    ;[campo, citado, cierra] = ['', false, false]
  }
  const cerrarFila = () => {
    cerrarCampo()
    const completa = fila
    ;[fila, tocado] = [[], false]
    // An empty line is not a row.
    return completa.length === 1 && completa[0] === '' ? undefined : completa
  }
  const comer = function* (texto: string): Generator<string[]> {
    for (const letra of texto) {
      if (citado && !cierra) {
        if (letra === '"') cierra = true
        else campo += letra
        continue
      }
      if (cierra && letra === '"') {
        campo += '"'
        cierra = false
      } else if (letra === '"' && campo === '' && !citado) {
        ;[citado, tocado] = [true, true]
      } else if (letra === separador) {
        cerrarCampo()
        tocado = true
      } else if (letra === '\n' || letra === '\r') {
        const completa = tocado || campo !== '' ? cerrarFila() : undefined
        if (completa) yield completa
      } else {
        campo += letra
        tocado = true
      }
    }
  }
  const empezar = () => {
    separador = separadorDe(cabecera)
    return comer(cabecera.replace(/^\uFEFF/, ''))
  }
  for await (const trozo of trozos) {
    if (separador !== undefined) {
      yield* comer(trozo)
      continue
    }
    // The separator is known only when the first line is complete.
    cabecera += trozo
    if (PRIMERA_LINEA.test(cabecera) || cabecera.length > CABECERA_MAXIMA) yield* empezar()
  }
  if (separador === undefined) yield* empezar()
  if (citado && !cierra) throw new SyntaxError('unas comillas se abren y no se cierran')
  const ultima = tocado || campo !== '' ? cerrarFila() : undefined
  if (ultima) yield ultima
}

/** Matches up to the first line ending outside quotes. */
const PRIMERA_LINEA = /^(?:[^"\r\n]|"[^"]*")*[\r\n]/
/** Maximum length of the first line, in UTF-16 code units. Bounds the buffer if a quote is never closed. */
const CABECERA_MAXIMA = 65_536

function separadorDe(texto: string): string {
  const linea = (PRIMERA_LINEA.exec(texto)?.[0] ?? texto).replace(/"[^"]*"/g, '')
  const cuantos = (uno: string) => linea.split(uno).length
  return [',', ';', '\t'].reduce((mejor, uno) => (cuantos(uno) > cuantos(mejor) ? uno : mejor))
}

/**
 * Formats one CSV row. Quotes every field that contains `,`, `;`, a tab, a quote, a line ending or a byte order mark.
 * The row is therefore read the same in any position of the file.
 */
export const escribirCsv = (campos: readonly (string | number | boolean)[]) => `${campos.map(citar).join()}\r\n`

const citar = (campo: string | number | boolean) =>
  /[",;\t\r\n\uFEFF]/.test(String(campo)) ? `"${String(campo).replaceAll('"', '""')}"` : String(campo)
