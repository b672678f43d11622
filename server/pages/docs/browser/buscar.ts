/**
 * Search of the documentation: pure functions that find and rank chapters, sections, operations, schemas and errors.
 */

/** Result that a search can find: a chapter, a section, an operation, a schema or an error. */
export interface SearchPart {
  clase: 'Capítulo' | 'Apartado' | 'Operación' | 'Objeto' | 'Error'
  titulo: string
  /** Fragment of its address, after `#`. */
  lugar: string
  /**
   * Origin or technical name: the chapter of a section, the method and path of an operation, the schema of an object,
   * or the status and title of an error.
   */
  de?: string
  /** Further search terms, which are not shown: words, or phrases separated by commas. */
  claves: string
  texto: string
}

/**
 * Factors by which the score of each kind of result is multiplied. A chapter explains what an operation does, and both
 * say more than an object's name.
 */
const PESO_DE_CLASE: Readonly<Record<SearchPart['clase'], number>> = {
  Capítulo: 1.35,
  Apartado: 1.15,
  Operación: 1.2,
  Error: 1,
  Objeto: 0.6,
}
const CAMPOS = [
  ['titulo', 10],
  ['de', 5],
  ['claves', 5],
  ['texto', 1],
] as const
/**
 * Scores of a word that only resembles the requested word: `comienzo` begins with it, `familia` shares most of its
 * letters from the start, `falta` differs by typing errors.
 */
const CASI = { comienzo: 0.7, familia: 0.5, falta: 0.45 }
const VACIAS = new Set(
  'a al como con cual cuando de del donde el en es hay la las lo los me mi no o para por que se si sin su sus un una y'.split(
    ' ',
  ),
)

const sinAcentos = (texto: string) => texto.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
/** Splits a text into lower-case words of letters and digits, without accents. */
export const palabrasDe = (texto: string) => sinAcentos(texto).match(/[a-z0-9]+/g) ?? []
/** Removes a plural ending or a final `e`: «errores» equals «error», and «lote» equals «lotes». */
const sinPlural = (palabra: string) => (palabra.length > 3 ? palabra.replace(/(?:e?s|e)$/, '') : palabra)
/** Writes letters that sound alike in Spanish the same: «etiketa» equals «etiqueta», and «embío» equals «envío». */
const sonido = (palabra: string) =>
  palabra
    .replace(/qu(?=[ei])|c(?=[aou]|$)|q/g, 'k')
    .replace(/c(?=[ei])|z/g, 's')
    .replace(/ll/g, 'y')
    .replace(/v/g, 'b')
    .replace(/mb/g, 'nb')
    .replace(/^h(?=[aeiou])/, '')
const raiz = (palabra: string) => sonido(sinPlural(palabra))

/**
 * Tells whether the edit distance of two words is at most `faltas`. An edit adds, leaves out or changes a letter, or
 * swaps two neighbouring letters.
 */
function seParecen(una: string, otra: string, faltas: number): boolean {
  if (Math.abs(una.length - otra.length) > faltas) return false
  let [antepenultima, anterior] = [[] as number[], Array.from({ length: otra.length + 1 }, (_, i) => i)]
  for (let i = 1; i <= una.length; i++) {
    const fila = [i]
    for (let j = 1; j <= otra.length; j++) {
      const cambio = una[i - 1] === otra[j - 1] ? 0 : 1
      fila[j] = Math.min(anterior[j]! + 1, fila[j - 1]! + 1, anterior[j - 1]! + cambio)
      if (i > 1 && j > 1 && una[i - 1] === otra[j - 2] && una[i - 2] === otra[j - 1]) {
        fila[j] = Math.min(fila[j]!, antepenultima[j - 2]! + 1)
      }
    }
    antepenultima = anterior
    anterior = fila
  }
  return anterior[otra.length]! <= faltas
}

function comunes(una: string, otra: string): number {
  let i = 0
  while (i < una.length && una[i] === otra[i]) i++
  return i
}

/** Returns the similarity of two words, from 0 (different words) to 1 (the same word). */
function parecido(pedida: string, palabra: string): number {
  if (pedida === palabra) return 1
  if (palabra.startsWith(pedida) && pedida.length > 1) return CASI.comienzo
  if (/\d/.test(pedida)) return 0
  const juntas = comunes(pedida, palabra)
  if (juntas >= 5 && juntas >= 0.6 * Math.max(pedida.length, palabra.length)) return CASI.familia
  const faltas = pedida.length >= 8 ? 2 : pedida.length >= 4 ? 1 : 0
  return faltas > 0 && seParecen(pedida, palabra, faltas) ? CASI.falta : 0
}

/**
 * Returns a function that rates how well a result matches the question as a whole, from 0.55 to 3. The best ratings are
 * for a title, or another name of a chapter or a part, that equals the question.
 */
function crearJusteza(pregunta: string) {
  const entera = palabrasDe(pregunta).map(raiz)
  const igual = (texto: string) => palabrasDe(texto).map(raiz).join() === entera.join()
  return ({ clase, titulo, claves }: SearchPart) => {
    if (igual(titulo)) return 1.6
    if ((clase === 'Capítulo' || clase === 'Apartado') && claves.split(',').some(igual)) return 3
    const suyas = palabrasDe(titulo).map(raiz)
    return 0.55 + (0.45 * suyas.filter((una) => entera.includes(una)).length) / suyas.length
  }
}

/**
 * Builds the index of words over all parts of the documentation.
 * @returns the search function
 */
export function crearBusqueda(partes: readonly SearchPart[]) {
  const preparadas = partes.map((parte) => ({
    parte,
    campos: CAMPOS.map(([campo, peso]) => ({ peso, palabras: new Set(palabrasDe(parte[campo] ?? '').map(raiz)) })),
  }))
  const enCuantas = new Map<string, number>()
  for (const { campos } of preparadas) {
    for (const palabra of new Set(campos.flatMap(({ palabras }) => [...palabras]))) {
      enCuantas.set(palabra, (enCuantas.get(palabra) ?? 0) + 1)
    }
  }
  const rareza = (palabra: string) => Math.log(1 + partes.length / enCuantas.get(palabra)!)

  /** Returns the value of each indexed word for a requested word: its similarity times its rarity. */
  function valores(pedida: string): Map<string, number> {
    const hallados = new Map<string, number>()
    for (const palabra of enCuantas.keys()) {
      const cuanto = parecido(pedida, palabra)
      if (cuanto > 0) hallados.set(palabra, cuanto * rareza(palabra))
    }
    return hallados
  }

  /**
   * Returns the results with the most requested words, best first. If any result has all the words, only results with
   * all of them are returned.
   */
  return (pregunta: string, maximo = 12): SearchPart[] => {
    const todas = [...new Set(palabrasDe(pregunta))]
    const pedidas = todas.filter((una) => !VACIAS.has(una))
    const buscadas = (pedidas.length > 0 ? pedidas : todas).map(raiz).map(valores)
    const justeza = crearJusteza(pregunta)
    const puntuadas = preparadas
      .map(({ parte, campos }) => {
        const puntos = buscadas.map((de) =>
          Math.max(
            0,
            ...campos.map(({ peso, palabras }) => peso * Math.max(0, ...[...palabras].map((una) => de.get(una) ?? 0))),
          ),
        )
        const cuantas = puntos.filter((uno) => uno > 0).length
        return {
          parte,
          cuantas,
          puntos: puntos.reduce((a, b) => a + b, 0) * justeza(parte) * PESO_DE_CLASE[parte.clase],
        }
      })
      .filter(({ cuantas }) => cuantas > 0)
    const mejores = Math.max(0, ...puntuadas.map(({ cuantas }) => cuantas))
    return puntuadas
      .filter(({ cuantas }) => cuantas === mejores)
      .sort((a, b) => b.puntos - a.puntos)
      .slice(0, maximo)
      .map(({ parte }) => parte)
  }
}

/**
 * Returns the piece of a text around the first requested word.
 * @param largo length of the piece in characters, without the ellipses
 */
export function fragmento(texto: string, pregunta: string, largo = 150): string {
  const llano = sinAcentos(texto)
  const donde = palabrasDe(pregunta)
    .filter((una) => !VACIAS.has(una))
    .map((una) => llano.indexOf(sinPlural(una)))
    .find((i) => i >= 0)
  const desde = Math.max(0, (donde ?? 0) - 40)
  const inicio = desde === 0 ? 0 : texto.indexOf(' ', desde) + 1
  const trozo = texto.slice(inicio, inicio + largo)
  return `${inicio > 0 ? '…' : ''}${trozo}${inicio + largo < texto.length ? '…' : ''}`
}
