/** Environment from which a table is read, and the list that collects its faults. */
export interface Entorno {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  fallas: string[]
}

/** Reader of a variable's text. `leer` returns undefined for a text that it does not accept. */
export interface Lector<T> {
  leer: (texto: string, entorno: Entorno) => T | undefined
  /**
   * Fault of a text that `leer` does not accept, in Spanish. A function returns several sentences for several faults.
   */
  falla: string | ((texto: string) => readonly string[])
}

/** Row of a table of configuration. */
export interface Variable<T> extends Lector<T> {
  nombre: string
  /** Value of the variable if it is unset or blank. */
  porDefecto: T | ((entorno: Entorno) => T)
  /** Returns, in Spanish, why the variable must be set now; undefined if it may be left out. */
  exigida?: (env: Entorno['env']) => string | undefined
  /** Returns, in Spanish, why a set value contradicts other settings; undefined if it does not. */
  choca?(valor: T, env: Entorno['env']): string | undefined
  /** Default in words, in English, for docs/operacion.md. Set only if `porDefecto` itself does not show it. */
  defecto?: string
  /** Purpose of the variable, in English, for docs/operacion.md. */
  significado: string
  /** Tables that are read only with certain values of this variable. `con` names these values in docs/operacion.md. */
  grupos?: readonly { con: string; tabla: Tabla }[]
}

/** Table of configuration: variables by the member of the configuration that each sets. */
export type Tabla = Readonly<Record<string, Variable<unknown>>>
export type Valores<T> = { readonly [K in keyof T]: T[K] extends Variable<infer V> ? V : never }

type Fila<T> = Omit<Variable<T>, 'leer' | 'falla' | 'porDefecto'>

/** Makes a row from the reader of the variable's text, and the value without a text. */
export const variable = <T, const D = T>({
  lector,
  ...fila
}: Fila<T> & { lector: Lector<T>; porDefecto: D | ((entorno: Entorno) => D) }): Variable<T | D> => ({
  ...lector,
  ...fila,
})

type Elegida<G> = { [K in keyof G]: { readonly tipo: K } & Valores<G[K]> }[keyof G]

/** Makes a row whose value is one of several words. Each word has a table that is read only with that word. */
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

/** Reads all variables of a table, and adds faults to `entorno.fallas`. */
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

/** Returns the text of a variable; undefined if it is unset or blank. */
export const textoDe = (env: Entorno['env'], nombre: string): string | undefined => env[nombre]?.trim() || undefined
