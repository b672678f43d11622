import dictionary from 'dictionary-es'
import nspell from 'nspell'
import { expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'

/** Words of names that are not Spanish, by the reason why they stay. */
const FOREIGN_WORDS = {
  'given by the specification': 'api bulk external http idempotencia lat lng maps ok pdf ref url v webhook webhooks',
  'names of techniques, in every language': 'app disp dns exp host ip kid m sha tls token totp uri zpl',
  'Spanish words that the dictionary lacks': 'autenticador desactualizada passkey passkeys ppp reintentar reintento',
  'two words of a schema’s name': 'onula',
  'Kubernetes’ names of probes': 'healthz readyz',
}
/** Places whose names another standard gives: RFC 9457, RFC 7517 to 7519 and RFC 8615, and Meta’s webhook. */
const OF_OTHER_STANDARDS = /^(ProblemaRfc9457|Claves?Publicas?)$|\.well-known|whatsapp/i

type Json = Record<string, unknown>

/** Collects the names of the members and parameters below a part of the contract, except those in its examples. */
function collect(part: unknown, place: string, names: Map<string, string>): void {
  if (Array.isArray(part)) for (const one of part) collect(one, place, names)
  if (part === null || typeof part !== 'object' || Array.isArray(part)) return
  const { properties, name, in: where } = part as { properties?: Json; name?: unknown; in?: unknown }
  if (properties && typeof properties === 'object')
    for (const member of Object.keys(properties)) names.set(member, place)
  if (typeof name === 'string' && typeof where === 'string' && where !== 'header') names.set(name, place)
  for (const [key, value] of Object.entries(part))
    if (!/^examples?$|^x-codeSamples$/.test(key)) collect(value, place, names)
}

function publishedNames(): Map<string, string> {
  const names = new Map<string, string>()
  const { paths, components } = readDocument() as { paths: Record<string, Json>; components: { schemas: Json } }
  for (const [path, operations] of Object.entries(paths)) {
    if (OF_OTHER_STANDARDS.test(path)) continue
    for (const segment of path.split('/')) names.set(segment.replace(/[{}]/g, ''), path)
    collect(operations, path, names)
    for (const operation of Object.values(operations)) {
      const { operationId } = operation as { operationId?: string }
      if (operationId) names.set(operationId, path)
    }
  }
  for (const [schema, content] of Object.entries(components.schemas)) {
    if (OF_OTHER_STANDARDS.test(schema)) continue
    names.set(schema, schema)
    collect(content, schema, names)
  }
  return names
}

const ACCENTED: Record<string, string> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', n: 'ñ' }
const spelling = nspell(Buffer.from(dictionary.aff), Buffer.from(dictionary.dic))
const allowed = new Set(Object.values(FOREIGN_WORDS).join(' ').split(' '))

/** Returns true for a Spanish word, also without its accent or tilde, as names are written. */
const isSpanish = (word: string) =>
  spelling.correct(word) ||
  [...word].some((letter, i) => {
    const accented = ACCENTED[letter]
    return accented !== undefined && spelling.correct(word.slice(0, i) + accented + word.slice(i + 1))
  })

const wordsOf = (name: string) =>
  name
    .split(/[_\-.\d]+|(?<=[a-z])(?=[A-Z])/)
    .filter((word) => word !== '')
    .map((word) => word.toLowerCase())

it('every published name is in Spanish, but for those that others give', () => {
  const foreign = [...publishedNames()].flatMap(([name, place]) =>
    wordsOf(name)
      .filter((word) => !allowed.has(word) && !isSpanish(word))
      .map((word) => `${place}: ${name} (${word})`),
  )
  expect(foreign).toEqual([])
})

it('no foreign word is allowed that no name has', () => {
  const words = new Set([...publishedNames().keys()].flatMap(wordsOf))
  expect([...allowed].filter((word) => !words.has(word))).toEqual([])
})
