import dictionary from 'dictionary-es'
import nspell from 'nspell'
import { expect, it } from 'vitest'
import { type Json, namesIn, splitName } from '../../scripts/spelling/contractNames.ts'
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

/** Returns the published names and the place of each. */
function publishedNames(): Map<string, string> {
  const names = new Map<string, string>()
  for (const { name, keyword, path, part } of namesIn(readDocument() as unknown as Json)) {
    const place = path[path[0] === 'paths' ? 1 : 2] ?? name
    if (OF_OTHER_STANDARDS.test(place) || (path[0] === 'components' && path[1] !== 'schemas')) continue
    if (keyword === 'paths') for (const segment of name.split('/')) names.set(segment.replace(/[{}]/g, ''), place)
    const isParameter = keyword === 'name' && typeof part.in === 'string' && part.in !== 'header'
    if (isParameter || ['properties', 'operationId', 'schemas'].includes(keyword)) names.set(name, place)
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

it('every published name is in Spanish, but for those that others give', () => {
  const foreign = [...publishedNames()].flatMap(([name, place]) =>
    splitName(name)
      .filter((word) => !allowed.has(word) && !isSpanish(word))
      .map((word) => `${place}: ${name} (${word})`),
  )
  expect(foreign).toEqual([])
})

it('no foreign word is allowed that no name has', () => {
  const words = new Set([...publishedNames().keys()].flatMap(splitName))
  expect([...allowed].filter((word) => !words.has(word))).toEqual([])
})
