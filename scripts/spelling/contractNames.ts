/**
 * Names that stay Spanish in code: those of the contract and of the database. `cspell.config.mjs` reads them from the
 * bundled contract and from the Prisma schema.
 */
import { readFileSync } from 'node:fs'

/** JSON value. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Keywords of OpenAPI whose keys are names that the author of the contract chose. */
const NAMING_KEYWORDS = new Set(['properties', 'schemas', 'headers', 'parameters', 'responses', 'securitySchemes'])
/** Members of parameters and other parts whose text is a name. */
const NAME_MEMBERS = new Set(['name', 'operationId', 'const'])
const SAMPLES = new Set(['example', 'examples', 'default'])

const readText = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

export interface ContractName {
  name: string
  /** Keyword that gives the name, such as `properties` or `enum`, or the name of the extension (`x-…`) that holds it. */
  keyword: string
  /** Keys that lead to it from the top of the document. */
  path: readonly string[]
  /** Part of the document that has the keyword. */
  part: { readonly [key: string]: Json }
}

/** Yields the names in a part of the contract, except those in its samples. Extensions have only keys that are names. */
export function* namesIn(part: Json, path: readonly string[] = [], extension?: string): Generator<ContractName> {
  if (typeof part !== 'object' || part === null) return
  if (Array.isArray(part)) {
    for (const [i, one] of part.entries()) yield* namesIn(one, [...path, String(i)], extension)
    return
  }
  for (const [key, value] of Object.entries(part)) {
    const inside = [...path, key]
    const named = (name: string): ContractName => ({ name, keyword: extension ?? key, path: inside, part })
    if (extension !== undefined || key.startsWith('x-')) {
      yield named(key)
      yield* namesIn(value, inside, extension ?? key)
      continue
    }
    if (SAMPLES.has(key)) continue
    if (NAME_MEMBERS.has(key) && typeof value === 'string') yield named(value)
    if (key === 'enum') for (const one of value as Json[]) yield named(String(one))
    if (key === 'paths') for (const one of Object.keys(value as object)) yield named(one)
    if (!NAMING_KEYWORDS.has(key) || Array.isArray(value)) yield* namesIn(value, inside)
    else
      for (const [name, content] of Object.entries(value as object)) {
        yield named(name)
        yield* namesIn(content as Json, [...inside, name])
      }
  }
}

/** Adds the names of the models of the Prisma schema, and of their members. */
function collectStored(schema: string, names: Set<string>): void {
  for (const [, model, members] of schema.matchAll(/^(?:model|enum) (\w+) \{\n([^}]*)^\}/gm)) {
    names.add(model!)
    for (const [, member] of members!.matchAll(/^\s+(\w+)/gm)) names.add(member!)
  }
}

/** Returns the names of the contract and of the database, such as `creado_en` and `LoteDeGuias`. */
export function contractNames(): string[] {
  const contract = JSON.parse(readText('server/generated/contract/contrato.json')) as Json
  const names = new Set([...namesIn(contract)].map(({ name }) => name))
  collectStored(readText('prisma/schema.prisma'), names)
  return [...names]
}

/** Splits a name at case, digits and other characters: `LoteDeGuias` has `lote`, `de`, `guias`. */
export const splitName = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}]+/u)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

/** Returns the Spanish plural of a word: the code has lists of what the contract names once. */
export const pluralOf = (word: string) => (/[aeiouáéíóú]$/.test(word) ? `${word}s` : `${word}es`)
