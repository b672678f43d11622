/** Environment from which a table is read, and the list that collects its faults. */
export interface Environment {
  env: Readonly<Record<string, string | undefined>>
  cwd: string
  fallas: string[]
}

/** Reader of a variable's text. `read` returns undefined for a text that it does not accept. */
export interface ValueReader<T> {
  read: (text: string, environment: Environment) => T | undefined
  /**
   * Fault of a text that `read` does not accept, in Spanish. A function returns several sentences for several faults.
   */
  fault: string | ((text: string) => readonly string[])
}

/** Row of a table of configuration. */
export interface ConfigVariable<T> extends ValueReader<T> {
  name: string
  /** Value of the variable if it is unset or blank. */
  defaultValue: T | ((environment: Environment) => T)
  /** Returns, in Spanish, why the variable must be set now; undefined if it may be left out. */
  requiredWhen?: (env: Environment['env']) => string | undefined
  /** Returns, in Spanish, why a set value contradicts other settings; undefined if it does not. */
  findConflict?(value: T, env: Environment['env']): string | undefined
  /**
   * Description of the default, in English, for the manual. Given only if `defaultValue` itself does not show it.
   */
  defaultNote?: string
  /** Purpose of the variable, in English, for the manual. */
  meaning: string
  /**
   * Tables of variables that are read only with certain values of this variable. `using` describes these values in
   * the manual.
   */
  groups?: readonly { using: string; table: ConfigTable }[]
}

/** Table of configuration variables, by the configuration member that each variable sets. */
export type ConfigTable = Readonly<Record<string, ConfigVariable<unknown>>>
export type ConfigValues<T> = { readonly [K in keyof T]: T[K] extends ConfigVariable<infer V> ? V : never }

type VariableRow<T> = Omit<ConfigVariable<T>, 'read' | 'fault' | 'defaultValue'>

/** Makes a row from the reader of the variable's text, and the value without a text. */
export const variable = <T, const D = T>({
  reader,
  ...row
}: VariableRow<T> & { reader: ValueReader<T>; defaultValue: D | ((environment: Environment) => D) }): ConfigVariable<
  T | D
> => ({
  ...reader,
  ...row,
})

type Chosen<G> = { [K in keyof G]: { readonly tipo: K } & ConfigValues<G[K]> }[keyof G]

/** Makes a row whose value is one of several words. Each word has a table that is read only with that word. */
export function choiceOfTables<const G extends Readonly<Record<string, ConfigTable>>>({
  opciones,
  defaultValue,
  ...row
}: VariableRow<unknown> & { opciones: G; defaultValue: keyof G & string }): ConfigVariable<Chosen<G>> {
  const choose = (tipo: string, environment: Environment) =>
    ({ tipo, ...readTable(opciones[tipo]!, environment) }) as Chosen<G>
  return {
    defaultNote: defaultValue,
    ...row,
    read: (text, environment) => (Object.hasOwn(opciones, text) ? choose(text, environment) : undefined),
    fault: `debe ser ${Object.keys(opciones).join(' o ')}`,
    defaultValue: (environment) => choose(defaultValue, environment),
    groups: Object.entries(opciones).map(([type, table]) => ({ using: `${row.name}=${type}`, table })),
  }
}

/** Reads all variables of a table, and adds faults to `environment.fallas`. */
export const readTable = <T extends ConfigTable>(table: T, environment: Environment): ConfigValues<T> =>
  Object.fromEntries(Object.entries(table).map(([member, row]) => [member, read(row, environment)])) as ConfigValues<T>

function read(row: ConfigVariable<unknown>, environment: Environment): unknown {
  const { name, read: readValue, fault, defaultValue, requiredWhen } = row
  const addFaults = (faults: readonly string[]) => environment.fallas.push(...faults.map((one) => `${name}: ${one}`))
  const text = readText(environment.env, name)
  const value = text && readValue(text, environment)
  if (text && value !== undefined) {
    const conflict = row.findConflict?.(value, environment.env)
    if (conflict !== undefined) addFaults([conflict])
    return value
  }
  addFaults(text ? (typeof fault === 'string' ? [fault] : fault(text)) : missing(requiredWhen?.(environment.env)))
  return typeof defaultValue === 'function' ? defaultValue(environment) : defaultValue
}

const missing = (reason: string | undefined) => (reason === undefined ? [] : [`hace falta ${reason}`])

/** Returns the text of a variable; undefined if it is unset or blank. */
export const readText = (env: Environment['env'], name: string): string | undefined => env[name]?.trim() || undefined
