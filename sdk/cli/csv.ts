/**
 * RFC 4180 as it is found: a byte order mark, `;` or tabs instead of commas, lines that end in any way, fields in quotes
 * with separators, line ends and doubled quotes within. Read as it comes, so the file may be of any size.
 */
export async function* leerCsv(trozos: AsyncIterable<string>): AsyncGenerator<string[], void, undefined> {
  let separador: string | undefined
  let cabecera = ''
  let fila: string[] = []
  let campo = ''
  /** Inside quotes; after a quote that may be the first of two. */
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
    // A line with nothing on it is none.
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
    // The first line says what separates.
    cabecera += trozo
    if (PRIMERA_LINEA.test(cabecera) || cabecera.length > CABECERA_MAXIMA) yield* empezar()
  }
  if (separador === undefined) yield* empezar()
  if (citado && !cierra) throw new SyntaxError('unas comillas se abren y no se cierran')
  const ultima = tocado || campo !== '' ? cerrarFila() : undefined
  if (ultima) yield ultima
}

/** Up to the first line end that stands in no quotes. */
const PRIMERA_LINEA = /^(?:[^"\r\n]|"[^"]*")*[\r\n]/
/** In UTF-16 units: where quotes are never closed, no more is waited for. */
const CABECERA_MAXIMA = 65_536

function separadorDe(texto: string): string {
  const linea = (PRIMERA_LINEA.exec(texto)?.[0] ?? texto).replace(/"[^"]*"/g, '')
  const cuantos = (uno: string) => linea.split(uno).length
  return [',', ';', '\t'].reduce((mejor, uno) => (cuantos(uno) > cuantos(mejor) ? uno : mejor))
}

/** A row of a file that is read the same whatever row it is: what might pass for a separator or a mark stands in quotes. */
export const escribirCsv = (campos: readonly (string | number | boolean)[]) => `${campos.map(citar).join()}\r\n`

const citar = (campo: string | number | boolean) =>
  /[",;\t\r\n\uFEFF]/.test(String(campo)) ? `"${String(campo).replaceAll('"', '""')}"` : String(campo)
