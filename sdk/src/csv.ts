/**
 * Lee CSV (RFC 4180) fila por fila, de cualquier tamaño. Admite la marca de Unicode, `;` o tabuladores, la primera línea
 * `sep=;` de Excel y cualquier fin de línea. Entre comillas caben separadores, fines de línea y comillas dobles. Una línea
 * vacía es una fila de un campo vacío, para que las filas conserven su número.
 *
 * @param alConocer recibe el separador, antes de la primera fila
 * @throws {SyntaxError} si unas comillas no se cierran
 */
export async function* leerCsv(
  trozos: AsyncIterable<string>,
  alConocer: (separador: string) => void = () => {},
): AsyncGenerator<string[], void, undefined> {
  let separador: string | undefined
  let cabecera = ''
  let fila: string[] = []
  let campo = ''
  /** `citado`: inside a quoted field. `cierra`: after a quote that closes the field or starts a doubled quote. */
  let citado = false
  let cierra = false
  let tocado = false
  let anterior = ''
  const cerrarCampo = () => {
    fila.push(campo)
    ;[campo, citado, cierra] = ['', false, false]
  }
  const cerrarFila = () => {
    cerrarCampo()
    const completa = fila
    ;[fila, tocado] = [[], false]
    return completa
  }
  const comer = function* (texto: string): Generator<string[]> {
    for (const letra of texto) {
      const deDos = letra === '\n' && anterior === '\r'
      anterior = citado && !cierra ? '' : letra
      if (deDos && !(citado && !cierra)) continue
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
        yield cerrarFila()
      } else {
        campo += letra
        tocado = true
      }
    }
  }
  const empezar = () => {
    const texto = cabecera.replace(/^\uFEFF/, '')
    const [deExcel = '', dicho] = /^sep=([,;\t])(?:\r\n|\r|\n|$)/i.exec(texto) ?? []
    if (deExcel.endsWith('\r')) anterior = '\r'
    separador = dicho ?? separadorDe(cabecera)
    alConocer(separador)
    return comer(texto.slice(deExcel.length))
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
  if (tocado || campo !== '') yield cerrarFila()
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
 * Escribe una fila de CSV, que se lee igual en cualquier lugar del archivo. Pone entre comillas lo que lleva un separador,
 * comillas, un fin de línea o la marca de Unicode.
 */
export const escribirCsv = (campos: readonly (string | number | boolean)[], separador = ',') =>
  `${campos.map(citar).join(separador)}\r\n`

const citar = (campo: string | number | boolean) =>
  /[",;\t\r\n\uFEFF]/.test(String(campo)) ? `"${String(campo).replaceAll('"', '""')}"` : String(campo)
