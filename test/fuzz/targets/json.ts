import { isDeepStrictEqual } from 'node:util'
import { JSON_LIMITS, JsonError, readJson } from '../../../server/api/http/strictJson.ts'
import { catchExpected, type FuzzTarget, requireHolds } from '../target.ts'

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** What JSON.parse makes of it, by itself; undefined if it refuses. */
function parseLoosely(input: Uint8Array): { texto: string; valor: unknown } | undefined {
  try {
    const text = UTF8.decode(input)
    return { texto: text, valor: JSON.parse(text) }
  } catch {
    return undefined
  }
}

const listMembers = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []
const countMembers = (value: unknown): number =>
  listMembers(value).reduce(
    (sum, [, member]) => sum + countMembers(member),
    Array.isArray(value) ? 0 : listMembers(value).length,
  )
const measureDepth = (value: unknown): number =>
  typeof value === 'object' && value !== null
    ? 1 + listMembers(value).reduce((mayor, [, member]) => Math.max(mayor, measureDepth(member)), 0)
    : 0

const isGoodText = (text: string) => text.isWellFormed() && !text.includes('\0')

/** The rules that a value keeps or breaks, whatever its text was like. */
function isAcceptable(value: unknown): boolean {
  if (typeof value === 'string') return isGoodText(value)
  if (typeof value === 'number') return Number.isFinite(value)
  const ownMembers = listMembers(value)
  if (Array.isArray(value)) return ownMembers.every(([, member]) => isAcceptable(member))
  return (
    ownMembers.length <= JSON_LIMITS.properties &&
    ownMembers.every(
      ([key, member]) =>
        key !== '__proto__' && key.length <= JSON_LIMITS.keyLength && isGoodText(key) && isAcceptable(member),
    )
  )
}

/** Every colon outside texts stands behind a key: with a key twice there are more of them than members. */
const dosPuntos = (text: string) => text.replace(/"(?:[^"\\]|\\.)*"/g, '').split(':').length - 1

/** What is accepted is what keeps all rules, told by other means; and means what JSON.parse says it means. */
export const target: FuzzTarget = {
  seeds: [
    '{"telefono":"+50255551234","lat":14.6349,"lng":-90.5069,"recogida":{"nombre":"Bodega"}}',
    '[1,-0,0.5,1e3,-1.5E-7,true,false,null,"",[],{}]',
    '{"a":{"a":[{"a":"\\u00e9\\n\\ud83d\\ude00\\\\\\""}]}}',
    `{"${'ñ'.repeat(127)}":"😀","b":1e308}`,
    '['.repeat(31) + ']'.repeat(31),
    JSON.stringify(Object.fromEntries(Array.from({ length: 63 }, (_, i) => [`c${i}`, i]))),
  ],
  words: [
    '{',
    '}',
    '[',
    ']',
    ',',
    ':',
    '"',
    '\\',
    '\\u0000',
    '\\ud800',
    '\\udc00',
    '\\u0061',
    '"a":1,',
    '{"a":',
    '[[',
    '"__proto__":',
    '"\\u005f_proto__":1',
    '1e400',
    '-1e999',
    'true',
    'null',
    '\ufeff',
    '\u2028',
    '0'.repeat(320),
  ],
  probar(input) {
    const looseResult = parseLoosely(input)
    const actual = catchExpected(() => ({ valor: readJson(input) }), JsonError)
    if (actual instanceof JsonError) {
      const { line, column, campo: field, mensaje } = actual.fault
      requireHolds(
        line >= 1 && column >= 1 && (field === '' || field.startsWith('/')) && mensaje !== '',
        'it says where',
      )
    }
    const isAdmissible =
      looseResult !== undefined &&
      !looseResult.texto.startsWith('\ufeff') &&
      measureDepth(looseResult.valor) <= JSON_LIMITS.depth &&
      isAcceptable(looseResult.valor) &&
      dosPuntos(looseResult.texto) === countMembers(looseResult.valor)
    requireHolds(isAdmissible !== actual instanceof JsonError, 'the rules are kept if, and only if, it is accepted')
    if (!(actual instanceof JsonError))
      requireHolds(isDeepStrictEqual(actual.valor, looseResult?.valor), 'it is the same value')
  },
}
