import { escribirCsv } from '@guias/sdk/hoja'
import { type Contexto, entero, type Opciones } from './orden.ts'
import { avisar, columnas, decir, desahogar, limpio, pintar, type Tono } from './terminal.ts'

/** Column of a table on the terminal: its title, and the text and colour of each element. */
export interface Columna<T> {
  titulo: string
  de(uno: T): string
  tono?(uno: T): Tono | undefined
  /** True if the column shrinks when the terminal is narrow. */
  cede?: boolean
}

/** List that a command shows: columns for people, fields for programs, and a message when empty. */
export interface Lista<T> {
  columnas: readonly Columna<T>[]
  /** CSV fields of an element, by name; `nombres` gives their order. */
  campos(uno: T): Record<string, string | number | boolean | null>
  nombres: readonly string[]
  /** Message when the list is empty. */
  vacia: string
}

export const OPCIONES_DE_LISTA: Opciones = {
  limite: { valor: '<n>', dice: 'cuántas muestra; 25 si falta' },
  todas: { dice: 'todas, sin límite' },
  cursor: { valor: '<cursor>', dice: 'sigue donde quedó otra lista con los mismos filtros' },
  csv: { dice: 'escribe CSV, con todos los campos' },
}

const POR_PAGINA = 100

type Pedir<T> = (pagina: { limite: number; cursor: string | undefined }) => PromiseLike<{
  datos: T[]
  cursor_siguiente: string | null
}>

/** Prints a list page by page, in the format requested: a table, JSON lines or CSV. */
export async function mostrarLista<T>(contexto: Contexto, lista: Lista<T>, pedir: Pedir<T>): Promise<void> {
  const escribir = escritor(contexto, lista)
  let resta = contexto.si('todas') ? Number.POSITIVE_INFINITY : entero(contexto, 'limite', 25, 1)
  let cursor = contexto.texto('cursor')
  let vistas = 0
  for (;;) {
    const { datos, cursor_siguiente } = await pedir({ limite: Math.min(POR_PAGINA, resta), cursor })
    if (datos.length > 0 || contexto.si('csv')) escribir(datos)
    await desahogar()
    vistas += datos.length
    resta -= datos.length
    if (cursor_siguiente === null) break
    cursor = cursor_siguiente
    if (resta > 0) continue
    avisar(`Hay más: pida --todas, o siga con --cursor ${cursor}`)
    return
  }
  if (vistas === 0) avisar(lista.vacia)
}

function escritor<T>(contexto: Contexto, lista: Lista<T>): (datos: T[]) => void {
  if (contexto.json) return (datos) => datos.forEach((uno) => void decir(JSON.stringify(uno)))
  if (contexto.si('csv')) return enCsv(lista)
  return enTabla(lista.columnas)
}

function enCsv<T>({ nombres, campos }: Lista<T>) {
  let cabecera = escribirCsv(nombres)
  return (datos: T[]) => {
    const filas = datos.map((uno) => {
      const suyos = campos(uno)
      return escribirCsv(nombres.map((nombre) => suyos[nombre] ?? ''))
    })
    process.stdout.write(cabecera + filas.join(''))
    cabecera = ''
  }
}

const SEPARACION = 2

/**
 * Returns a function that prints each page as part of one table. Columns never become narrower from one page to the
 * next.
 */
function enTabla<T>(todas: readonly Columna<T>[]) {
  let anchos = todas.map(({ titulo }) => ancho(titulo))
  let conTitulos = true
  return (datos: T[]) => {
    const filas = datos.map((uno) => todas.map(({ de }) => limpio(de(uno)) || '-'))
    anchos = anchos.map((uno, i) => Math.max(uno, ...filas.map((fila) => ancho(fila[i]!))))
    anchos = encoger(anchos, todas)
    const linea = (textos: string[], tono: (i: number) => Tono | undefined) =>
      textos
        .map((texto, i) => {
          const justo = i === textos.length - 1 ? recortar(texto, anchos[i]!) : rellenar(texto, anchos[i]!)
          const suyo = tono(i)
          return suyo ? pintar(suyo, justo) : justo
        })
        .join(' '.repeat(SEPARACION))
        .trimEnd()
    if (conTitulos)
      decir(
        linea(
          todas.map(({ titulo }) => titulo),
          () => 'gris',
        ),
      )
    conTitulos = false
    for (const [i, fila] of filas.entries()) decir(linea(fila, (columna) => todas[columna]!.tono?.(datos[i]!)))
  }
}

/**
 * Narrows the columns until a line fits on the terminal. The widest column with `cede` shrinks first, down to 8
 * characters.
 */
function encoger(anchos: readonly number[], todas: readonly { cede?: boolean }[]): number[] {
  const hay = columnas()
  const justos = [...anchos]
  if (hay === undefined) return justos
  const sobra = () => justos.reduce((suma, uno) => suma + uno + SEPARACION, -SEPARACION) - hay
  while (sobra() > 0) {
    const mayor = justos.reduce((cual, uno, i) => (todas[i]!.cede && uno > (justos[cual] ?? 8) ? i : cual), -1)
    if (mayor < 0) break
    justos[mayor]!--
  }
  return justos
}

/** Returns the number of terminal columns that a character takes: 0, 1 or 2. */
const deLetra = (letra: string) =>
  /\p{M}/u.test(letra)
    ? 0
    : /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}]/u.test(letra)
      ? 2
      : 1
const ancho = (texto: string) => Array.from(texto).reduce((suma, letra) => suma + deLetra(letra), 0)

function recortar(texto: string, hasta: number): string {
  if (ancho(texto) <= hasta) return texto
  let corto = ''
  let suma = 1
  for (const letra of texto) {
    suma += deLetra(letra)
    if (suma > hasta) break
    corto += letra
  }
  return `${corto}…`
}

const rellenar = (texto: string, hasta: number) => {
  const justo = recortar(texto, hasta)
  return justo + ' '.repeat(hasta - ancho(justo))
}
