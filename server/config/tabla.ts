/** What a table is read from, and where its faults are gathered. */
export interface Entorno {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  fallas: string[]
}

/** How the text of a variable is understood; undefined: it can't be. */
export interface Lector<T> {
  leer: (texto: string, entorno: Entorno) => T | undefined
  /** In Spanish, what a text must be to be understood; several sentences if several things are wrong with it. */
  falla: string | ((texto: string) => readonly string[])
}

/** One row of a table of configuration. */
export interface Variable<T> extends Lector<T> {
  nombre: string
  /** Its value when it is unset or blank. */
  porDefecto: T | ((entorno: Entorno) => T)
  /** In Spanish, why it can't be left out just now; undefined: it can. */
  exigida?: (env: Entorno['env']) => string | undefined
  /** Returns, in Spanish, why a value that was set contradicts other settings; undefined if it doesn't. */
  choca?(valor: T, env: Entorno['env']): string | undefined
  /** In English, for the operators' book: what its default is, where the value itself doesn't tell. */
  defecto?: string
  /** In English, for the operators' book: what it is for. */
  significado: string
  /** Rows that are read only with certain values of this one, and how the book names those values. */
  grupos?: readonly { con: string; tabla: Tabla }[]
}

export type Tabla = Readonly<Record<string, Variable<unknown>>>
export type Valores<T> = { readonly [K in keyof T]: T[K] extends Variable<infer V> ? V : never }

type Fila<T> = Omit<Variable<T>, 'leer' | 'falla' | 'porDefecto'>

/** A row: what a text of the variable is read as, and what it is without one. */
export const variable = <T, const D = T>({
  lector,
  ...fila
}: Fila<T> & { lector: Lector<T>; porDefecto: D | ((entorno: Entorno) => D) }): Variable<T | D> => ({
  ...lector,
  ...fila,
})

type Elegida<G> = { [K in keyof G]: { readonly tipo: K } & Valores<G[K]> }[keyof G]

/** A row whose value is one of several words, each with the rows that are read with it alone. */
export function eleccion<const G extends Readonly<Record<string, Tabla>>>({
  opciones,
  porDefecto,
  ...fila
}: Fila<unknown> & { opciones: G; porDefecto: keyof G & string }): Variable<Elegida<G>> {
  const elegir = (tipo: string, entorno: Entorno) => ({ tipo, ...leerTabla(opciones[tipo]!, entorno) }) as Elegida<G>
  return {
    defecto: porDefecto,
    ...fila,
    leer: (texto, entorno) => (Object.hasOwn(opciones, texto) ? elegir(texto, entorno) : undefined),
    falla: `debe ser ${Object.keys(opciones).join(' o ')}`,
    porDefecto: (entorno) => elegir(porDefecto, entorno),
    grupos: Object.entries(opciones).map(([tipo, tabla]) => ({ con: `${fila.nombre}=${tipo}`, tabla })),
  }
}

export const leerTabla = <T extends Tabla>(tabla: T, entorno: Entorno): Valores<T> =>
  Object.fromEntries(Object.entries(tabla).map(([miembro, fila]) => [miembro, leer(fila, entorno)])) as Valores<T>

function leer(fila: Variable<unknown>, entorno: Entorno): unknown {
  const { nombre, leer, falla, porDefecto, exigida } = fila
  const fallar = (fallas: readonly string[]) => entorno.fallas.push(...fallas.map((una) => `${nombre}: ${una}`))
  const texto = textoDe(entorno.env, nombre)
  const valor = texto && leer(texto, entorno)
  if (texto && valor !== undefined) {
    const choque = fila.choca?.(valor, entorno.env)
    if (choque !== undefined) fallar([choque])
    return valor
  }
  fallar(texto ? (typeof falla === 'string' ? [falla] : falla(texto)) : faltas(exigida?.(entorno.env)))
  return typeof porDefecto === 'function' ? porDefecto(entorno) : porDefecto
}

const faltas = (motivo: string | undefined) => (motivo === undefined ? [] : [`hace falta ${motivo}`])

/** The text of a variable; undefined if it is unset or blank. */
export const textoDe = (env: Entorno['env'], nombre: string): string | undefined => env[nombre]?.trim() || undefined
