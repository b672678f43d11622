/** The documentation's search: pure, over parts that each stand for themselves. */

/** What can be found. */
export interface Parte {
  clase: 'Capítulo' | 'Apartado' | 'Operación' | 'Objeto' | 'Error'
  titulo: string
  /** What follows `#` in the address of its place. */
  lugar: string
  /** Whose it is, or how it is called by programs. */
  de?: string
  /** What else it is asked for by, without being shown: words, or phrases between commas. */
  claves: string
  texto: string
}

/** A chapter explains what an operation does, and both say more than the name of a shape. */
const PESO_DE_CLASE: Readonly<Record<Parte['clase'], number>> = {
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
/** How much a word counts that isn't the one asked for, but begins with it, is of its family, or is it with a fault. */
const CASI = { comienzo: 0.7, familia: 0.5, falta: 0.45 }
const VACIAS = new Set(
  'a al como con cual cuando de del donde el en es hay la las lo los me mi no o para por que se si sin su sus un una y'.split(
    ' ',
  ),
)

const sinAcentos = (texto: string) => texto.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase()
export const palabrasDe = (texto: string) => sinAcentos(texto).match(/[a-z0-9]+/g) ?? []
/** «errores» and «error», «lotes» and «lote» are one word. */
const raiz = (palabra: string) => (palabra.length > 3 ? palabra.replace(/(?:e?s|e)$/, '') : palabra)

/** Whether two words are at most so many letters (added, left out, changed, swapped) apart. */
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

/** From 0, another word, to 1, the same. */
function parecido(pedida: string, palabra: string): number {
  if (pedida === palabra) return 1
  if (palabra.startsWith(pedida) && pedida.length > 1) return CASI.comienzo
  if (/\d/.test(pedida)) return 0
  const juntas = comunes(pedida, palabra)
  if (juntas >= 5 && juntas >= 0.6 * Math.max(pedida.length, palabra.length)) return CASI.familia
  const faltas = pedida.length >= 8 ? 2 : pedida.length >= 4 ? 1 : 0
  return faltas > 0 && seParecen(pedida, palabra, faltas) ? CASI.falta : 0
}

/** How much a part is about a question and nothing else: its title, or a chapter's other name, may be just what was asked. */
function crearJusteza(pregunta: string) {
  const entera = palabrasDe(pregunta).map(raiz)
  const igual = (texto: string) => palabrasDe(texto).map(raiz).join() === entera.join()
  return ({ clase, titulo, claves }: Parte) => {
    if (igual(titulo)) return 1.6
    if (clase === 'Capítulo' && claves.split(',').some(igual)) return 3
    const suyas = palabrasDe(titulo).map(raiz)
    return 0.55 + (0.45 * suyas.filter((una) => entera.includes(una)).length) / suyas.length
  }
}

/** Gets the parts ready to be searched. */
export function crearBusqueda(partes: readonly Parte[]) {
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

  /** What each word that the parts have is worth for one that was asked for. */
  function valores(pedida: string): Map<string, number> {
    const hallados = new Map<string, number>()
    for (const palabra of enCuantas.keys()) {
      const cuanto = parecido(pedida, palabra)
      if (cuanto > 0) hallados.set(palabra, cuanto * rareza(palabra))
    }
    return hallados
  }

  /** The parts that have all words asked for, best first; those that have some, where none has all. */
  return (pregunta: string, maximo = 12): Parte[] => {
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

/** The piece of a text around the first word asked for. */
export function fragmento(texto: string, pregunta: string, largo = 150): string {
  const llano = sinAcentos(texto)
  const donde = palabrasDe(pregunta)
    .filter((una) => !VACIAS.has(una))
    .map((una) => llano.indexOf(raiz(una)))
    .find((i) => i >= 0)
  const desde = Math.max(0, (donde ?? 0) - 40)
  const inicio = desde === 0 ? 0 : texto.indexOf(' ', desde) + 1
  const trozo = texto.slice(inicio, inicio + largo)
  return `${inicio > 0 ? '…' : ''}${trozo}${inicio + largo < texto.length ? '…' : ''}`
}
