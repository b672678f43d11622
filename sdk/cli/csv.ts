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
  for await (const trozo of trozos) {
    if (separador !== undefined) {
      yield* comer(trozo)
      continue
    }
    // The first line says what separates.
    cabecera += trozo
    if (cabecera.charCodeAt(0) === 0xfeff) cabecera = cabecera.slice(1)
    if (!/[\r\n]/.test(cabecera)) continue
    separador = separadorDe(cabecera)
    yield* comer(cabecera)
  }
  if (separador === undefined) {
    separador = separadorDe(cabecera)
    yield* comer(cabecera)
  }
  if (citado && !cierra) throw new SyntaxError('unas comillas se abren y no se cierran')
  const ultima = tocado || campo !== '' ? cerrarFila() : undefined
  if (ultima) yield ultima
}

function separadorDe(texto: string): string {
  const linea = (/^[^\r\n]*/.exec(texto)?.[0] ?? '').replace(/"[^"]*"/g, '')
  const cuantos = (uno: string) => linea.split(uno).length
  return [',', ';', '\t'].reduce((mejor, uno) => (cuantos(uno) > cuantos(mejor) ? uno : mejor))
}

export const escribirCsv = (campos: readonly (string | number | boolean)[]) =>
  `${campos.map((campo) => (/[",;\r\n]/.test(String(campo)) ? `"${String(campo).replaceAll('"', '""')}"` : String(campo))).join()}\r\n`
