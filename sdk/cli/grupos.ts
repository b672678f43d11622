/**
 * `FILAS`: maximum row numbers shown per group. `TEXTOS`: maximum different texts per class of message. `LINEAS`:
 * maximum lines printed.
 */
const FILAS = 3
const TEXTOS = 5
const LINEAS = 20

interface Grupo {
  total: number
  filas: number[]
}

/**
 * Counts equal messages of many rows, so that each message is printed once, with the number of rows and the first row
 * numbers.
 */
export class Grupos {
  readonly #clases = new Map<string, Grupo & { textos: Map<string, Grupo> }>()

  /**
   * Adds the message of one row.
   *
   * @param clase key of equal messages, also when their texts differ in a value
   */
  anotar(clase: string, texto: string, fila: number) {
    const suya = this.#clases.get(clase) ?? { total: 0, filas: [], textos: new Map<string, Grupo>() }
    this.#clases.set(clase, suya)
    contar(suya, fila)
    const grupo = suya.textos.get(texto) ?? { total: 0, filas: [] }
    if (suya.textos.size <= TEXTOS) suya.textos.set(texto, grupo)
    contar(grupo, fila)
  }

  /** Returns one line per group, largest group first: «327 filas: falta telefono (filas 2, 5, 9…)». */
  lineas(): string[] {
    const grupos = [...this.#clases.values()].flatMap(({ textos, ...clase }) =>
      textos.size <= TEXTOS
        ? [...textos].map(([texto, grupo]) => ({ texto, ...grupo }))
        : [{ texto: `${textos.keys().next().value}, y otras así`, ...clase }],
    )
    grupos.sort((a, b) => b.total - a.total || a.filas[0]! - b.filas[0]!)
    const lineas = grupos.slice(0, LINEAS).map(redactar)
    return grupos.length > LINEAS ? [...lineas, `… y otras ${grupos.length - LINEAS} clases de falla`] : lineas
  }
}

function contar(grupo: Grupo, fila: number) {
  grupo.total++
  if (grupo.filas.length < FILAS) grupo.filas.push(fila)
}

function redactar({ texto, total, filas }: Grupo & { texto: string }): string {
  if (total === 1) return `fila ${filas[0]}: ${texto}`
  return `${total} filas: ${texto} (filas ${filas.join(', ')}${total > filas.length ? '…' : ''})`
}
