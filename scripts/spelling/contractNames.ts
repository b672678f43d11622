/**
 * Names that stay Spanish in code: those of the contract and of the database. `cspell.config.mjs` reads them from the
 * bundled contract and from the Prisma schema.
 */
import { readFileSync } from 'node:fs'

type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

/** Keywords of OpenAPI whose keys are names that the author of the contract chose. */
const NAMING_KEYWORDS = new Set(['properties', 'schemas', 'headers', 'parameters', 'responses', 'securitySchemes'])
/** Members of parameters and other parts whose text is a name. */
const NAME_MEMBERS = new Set(['name', 'operationId', 'const'])
const SAMPLES = new Set(['example', 'examples', 'default'])

const readText = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8')

/** Adds the names in a part of the contract. Extensions (`x-…`) have only keys that are names. */
function collect(part: Json, names: Set<string>, place: 'keywords' | 'names' | 'extension' = 'keywords'): void {
  if (typeof part !== 'object' || part === null) return
  if (Array.isArray(part)) {
    for (const one of part) collect(one, names, place)
    return
  }
  for (const [key, value] of Object.entries(part)) {
    if (place !== 'keywords' || key.startsWith('x-')) names.add(key)
    if (place === 'keywords' && SAMPLES.has(key)) continue
    if (place === 'keywords' && NAME_MEMBERS.has(key) && typeof value === 'string') names.add(value)
    if (place === 'keywords' && key === 'enum') for (const one of value as Json[]) names.add(String(one))
    if (place === 'keywords' && key === 'paths') for (const path of Object.keys(value as object)) names.add(path)
    if (place === 'extension' || key.startsWith('x-')) collect(value, names, 'extension')
    else collect(value, names, place === 'keywords' && NAMING_KEYWORDS.has(key) ? 'names' : 'keywords')
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
  const names = new Set<string>()
  collect(JSON.parse(readText('server/generated/contract/contrato.json')) as Json, names)
  collectStored(readText('prisma/schema.prisma'), names)
  return [...names]
}

/** Splits a name at case, digits and other characters: `LoteDeGuias` has `lote`, `de`, `guias`. */
export const splitName = (name: string): string[] =>
  name
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}]+/u)
    .filter((word) => word.length > 1)
    .map((word) => word.toLowerCase())

/** Returns the Spanish plural of a word: the code has lists of what the contract names once. */
export const pluralOf = (word: string) => (/[aeiouáéíóú]$/.test(word) ? `${word}s` : `${word}es`)
