/** Environment from which a table is read, and the list that collects its faults. */
export interface Environment {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  fallas: string[]
}

/** Reader of a variable's text. `leer` returns undefined for a text that it does not accept. */
export interface ValueReader<T> {
  leer: (texto: string, entorno: Environment) => T | undefined
  /**
   * Fault of a text that `leer` does not accept, in Spanish. A function returns several sentences for several faults.
   */
  falla: string | ((texto: string) => readonly string[])
}

/** Row of a table of configuration. */
export interface ConfigVariable<T> extends ValueReader<T> {
  nombre: string
  /** Value of the variable if it is unset or blank. */
  porDefecto: T | ((entorno: Environment) => T)
  /** Returns, in Spanish, why the variable must be set now; undefined if it may be left out. */
  exigida?: (env: Environment['env']) => string | undefined
  /** Returns, in Spanish, why a set value contradicts other settings; undefined if it does not. */
  choca?(valor: T, env: Environment['env']): string | undefined
  /**
   * Description of the default, in English, for the manual. Given only if `porDefecto` itself does not show it.
   */
  defecto?: string
  /** Purpose of the variable, in English, for the manual. */
  significado: string
  /**
   * Tables of variables that are read only with certain values of this variable. `con` describes these values in
   * the manual.
   */
  grupos?: readonly { con: string; tabla: ConfigTable }[]
}

/** Table of configuration variables, by the configuration member that each variable sets. */
export type ConfigTable = Readonly<Record<string, ConfigVariable<unknown>>>
export type ConfigValues<T> = { readonly [K in keyof T]: T[K] extends ConfigVariable<infer V> ? V : never }

type Fila<T> = Omit<ConfigVariable<T>, 'leer' | 'falla' | 'porDefecto'>

/** Makes a row from the reader of the variable's text, and the value without a text. */
export const variable = <T, const D = T>({
  lector,
  ...fila
}: Fila<T> & { lector: ValueReader<T>; porDefecto: D | ((entorno: Environment) => D) }): ConfigVariable<T | D> => ({
  ...lector,
  ...fila,
})

type Elegida<G> = { [K in keyof G]: { readonly tipo: K } & ConfigValues<G[K]> }[keyof G]

/** Makes a row whose value is one of several words. Each word has a table that is read only with that word. */
export function choice<const G extends Readonly<Record<string, ConfigTable>>>({
  opciones,
  porDefecto,
  ...fila
}: Fila<unknown> & { opciones: G; porDefecto: keyof G & string }): ConfigVariable<Elegida<G>> {
  const elegir = (tipo: string, entorno: Environment) =>
    ({ tipo, ...readTable(opciones[tipo]!, entorno) }) as Elegida<G>
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
export const readTable = <T extends ConfigTable>(tabla: T, entorno: Environment): ConfigValues<T> =>
  Object.fromEntries(Object.entries(tabla).map(([miembro, fila]) => [miembro, leer(fila, entorno)])) as ConfigValues<T>

function leer(fila: ConfigVariable<unknown>, entorno: Environment): unknown {
  const { nombre, leer, falla, porDefecto, exigida } = fila
  const fallar = (fallas: readonly string[]) => entorno.fallas.push(...fallas.map((una) => `${nombre}: ${una}`))
  const texto = textOf(entorno.env, nombre)
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
export const textOf = (env: Environment['env'], nombre: string): string | undefined => env[nombre]?.trim() || undefined
