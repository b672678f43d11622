import { deepStrictEqual } from 'node:assert/strict'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { JSON_LIMITS, JsonError, type JsonFault, readJson } from '../../server/api/http/strictJson.ts'

/** Not toStrictEqual, which takes an own property named constructor for the type. */
const same: (value: unknown, expected: unknown) => void = deepStrictEqual
const read = (text: string) => readJson(Buffer.from(text))

function faultOf(body: string | Uint8Array): JsonFault {
  try {
    readJson(typeof body === 'string' ? Buffer.from(body) : body)
  } catch (error) {
    if (error instanceof JsonError) return error.fault
    throw error
  }
  throw new Error(`Accepted: ${String(body).slice(0, 200)}`)
}

const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels)
const withKeys = (count: number) =>
  JSON.stringify(Object.fromEntries(Array.from({ length: count }, (_, k) => [`c${k}`, k])))

describe('readJson accepts', () => {
  it.each([
    ['scalars', '[true,false,null,0,-1,"",{},[]]'],
    ['a scalar as the root', ' "hola" '],
    ['white space of all four kinds', '\t{\r\n "a" : [ 1 , 2 ] , "b":{ } }\n '],
    ['numbers', '[0,-0,0.5,-0.0,1e3,1E+3,1e-3,1.5e300,123456789012345678901234567890,1e-400,1.7976931348623157e308]'],
    ['0 with hundreds of decimals', `0.${'1'.repeat(1000)}`],
    ['308 digits', '9'.repeat(308)],
    ['escapes', '"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00e9\\u00E9\\u0001"'],
    ['a whole surrogate pair in escapes', '["\\ud83d\\uDE00","\\uDBFF\\uDFFF"]'],
    ['UTF-8 of up to four bytes', '{"municipio":"Petén","ñ":"日本","x":"😀\u{10ffff}","bom":"\ufeff\u2028\ufffd"}'],
    ['names of Object.prototype', '{"constructor":{"prototype":{"toString":1}},"hasOwnProperty":2,"__proto":3}'],
    ['one key in different objects', '{"a":{"a":[{"a":1},{"a":2}]}}'],
    ['keys that differ in case or normal form', '{"a":1,"A":2,"\u00e9":3,"e\u0301":4,"":5," ":6}'],
    ['keys that look like indices', '{"2":1,"1":2,"01":3}'],
    ['brackets and colons inside texts', '{"a":"}],:{[\\"","b]":"\\\\"}'],
    [`${JSON_LIMITS.depth} levels`, nest(32)],
    ['depth that is not nested', `[${Array(100).fill(nest(31)).join()}]`],
    [`${JSON_LIMITS.properties} properties`, withKeys(64)],
    ['a key of 128 characters', `{"${'ñ'.repeat(128)}":1}`],
    ['an escaped key of 128 characters', `{"${'\\u00f1'.repeat(128)}":1}`],
  ])('%s', (_, text) => {
    same(read(text), JSON.parse(text))
  })

  it('any Uint8Array, also a view into a larger buffer', () => {
    const bytes = new TextEncoder().encode('xx{"a":"é"}xx')
    same(readJson(bytes.subarray(2, -2)), { a: 'é' })
  })
})

// what · body · part of the message · line · column · pointer
type Rechazo = [string, string | Uint8Array, string, number, number, string]
const bytes = (...parts: (string | number)[]) =>
  Buffer.concat(parts.map((p) => (typeof p === 'string' ? Buffer.from(p) : Buffer.from([p]))))

describe('readJson refuses', () => {
  it.each<Rechazo>([
    ['nothing', '', 'está vacío', 1, 1, ''],
    ['white space alone', ' \n\t', 'está vacío', 2, 2, ''],
    ['a BOM', '\ufeff{}', 'BOM', 1, 1, ''],
    ['Latin-1', bytes('{"guias":[{"municipio":"Pet', 0xe9, 'n"}]}'), 'UTF-8', 1, 28, '/guias/0/municipio'],
    ['a stray continuation byte', bytes('[1,"', 0x80, '"]'), 'UTF-8', 1, 5, '/1'],
    ['an overlong NUL', bytes('"', 0xc0, 0x80, '"'), 'UTF-8', 1, 2, ''],
    ['a surrogate in UTF-8', bytes('"', 0xed, 0xa0, 0x80, '"'), 'UTF-8', 1, 2, ''],
    ['cut UTF-8 after a true U+FFFD', bytes('"\ufffd', 0xe2, 0x82), 'UTF-8', 1, 3, ''],
    ['UTF-16', Buffer.from('{}', 'utf16le'), 'U+0000', 1, 2, ''],
    ['a truncated object', '{"a":{"b":1', 'el final del cuerpo', 1, 12, '/a/b'],
    ['an object without its key', '{"a":1,', 'Se esperaba una clave', 1, 8, ''],
    ['an object without its value', '{"a":', 'Se esperaba un valor', 1, 6, '/a'],
    ['a truncated array', '[1,', 'Se esperaba un valor', 1, 4, '/1'],
    ['an open bracket alone', '[', 'Se esperaba un valor', 1, 2, '/0'],
    ['a truncated text', '{"a":"hola}', 'no está cerrado', 1, 6, '/a'],
    ['a truncated escape', '"\\', 'escape', 1, 2, ''],
    ['a truncated literal', '[tru', '«t»', 1, 2, '/0'],
    ['a second document', '{} {}', 'Sobra «{»', 1, 4, ''],
    ['a second closing bracket', '[]]', 'Sobra «]»', 1, 3, ''],
    ['a comma before }', '{\n  "a": 1,\n}', 'Sobra la coma', 2, 9, '/a'],
    ['a comma before ]', '{"a":[1,2 , ]}', 'Sobra la coma', 1, 11, '/a/1'],
    ['only a comma', '[,1]', '«,»', 1, 2, '/0'],
    ['two commas', '[1,,2]', '«,»', 1, 4, '/1'],
    ['no comma', '{"a":1 "b":2}', 'Se esperaba "," o "}"', 1, 8, '/a'],
    ['crossed brackets', '[1}', 'Se esperaba "," o "]"', 1, 3, '/0'],
    ['no colon', '{"a" 1}', 'ponga ":"', 1, 6, '/a'],
    ['a key without quotes', '{"a":{b:1}}', 'entre comillas dobles', 1, 7, '/a'],
    ['single quotes', "{'a':1}", "«'»", 1, 2, ''],
    ['a comment', '[1, // uno\n2]', '«/»', 1, 5, '/1'],
    ['NaN', '{"lat":NaN}', '«N»', 1, 8, '/lat'],
    ['undefined', '{"lat":undefined}', '«u»', 1, 8, '/lat'],
    ['-Infinity', '[-Infinity]', 'mal escrito', 1, 2, '/0'],
    ['True', '[True]', '«T»', 1, 2, '/0'],
    ['letters after a literal', '[nulls]', '«s»', 1, 6, '/0'],
    ['an invisible character', '[\u00a01]', 'U+00A0', 1, 2, '/0'],
    ['a zero in front', '{"tel":0502}', 'mal escrito', 1, 8, '/tel'],
    ['a plus in front', '[+502]', '«+»', 1, 2, '/0'],
    ['a point without digits before', '[.5]', '«.»', 1, 2, '/0'],
    ['a point without digits after', '[5.]', 'mal escrito', 1, 2, '/0'],
    ['an exponent without digits', '[5e+]', 'mal escrito', 1, 2, '/0'],
    ['two points', '[1.2.3]', 'mal escrito', 1, 2, '/0'],
    ['a minus alone', '-', 'mal escrito', 1, 1, ''],
    ['hexadecimal', '[0x10]', '«x»', 1, 3, '/0'],
    ['a raw line break in a text', '{"a":"x\ny"}', 'U+000A', 1, 8, '/a'],
    ['a raw NUL in a text', '"\0"', 'U+0000', 1, 2, ''],
    ['an unknown escape', '["\\x41"]', 'escape', 1, 3, '/0'],
    ['a capital escape', '["\\N"]', 'escape', 1, 3, '/0'],
    ['a short \\u', '["\\u12"]', 'escape', 1, 3, '/0'],
    ['a \\u with a sign', '["\\u+123"]', 'escape', 1, 3, '/0'],
    ['a repeated key', '{"a":1,\n "b":2,\n "a":3}', '"a" está repetida', 3, 2, '/a'],
    ['a repeated key, one escaped', '{"x":[{"a":1,"\\u0061":2}]}', 'repetida', 1, 14, '/x/0/a'],
    ['a repeated escaped key', '{"\\n":1,"\\n":1}', '"\\n" está repetida', 1, 9, '/\n'],
    ['a repeated empty key', '{"":1,"":1}', 'repetida', 1, 7, '/'],
    ['a repeated constructor', '{"constructor":1,"constructor":1}', 'repetida', 1, 18, '/constructor'],
    ['__proto__', '{"a":{"__proto__":{}}}', '__proto__', 1, 7, '/a/__proto__'],
    ['__proto__ in escapes', '{"\\u005f_proto__":1}', '__proto__', 1, 2, '/__proto__'],
    ['33 arrays', nest(33), 'más de 32 niveles', 1, 33, '/0'.repeat(32)],
    ['33 objects', '{"a":'.repeat(33), 'más de 32 niveles', 1, 161, '/a'.repeat(32)],
    ['65 properties', `[${withKeys(65)}]`, 'más de 64 propiedades', 1, withKeys(64).length + 2, '/0'],
    ['a key of 129 characters', `{"a":{"${'k'.repeat(129)}":1}}`, 'más de 128 caracteres', 1, 7, '/a'],
    ['an escaped key of 129 characters', `{"${'\\u00f1'.repeat(129)}":1}`, 'más de 128 caracteres', 1, 2, ''],
    ['a lone high surrogate', '["x\\ud83d"]', '\\ud83d es medio', 1, 4, '/0'],
    ['a lone low surrogate', '["\\uDE00"]', '\\uDE00 es medio', 1, 3, '/0'],
    ['a pair in the wrong order', '["\\ude00\\ud83d"]', '\\ude00 es medio', 1, 3, '/0'],
    ['two high surrogates', '["\\ud83d\\ud83d\\ude00"]', '\\ud83d es medio', 1, 3, '/0'],
    ['a surrogate before other text', '["\\ud83d\\n"]', '\\ud83d es medio', 1, 3, '/0'],
    ['a lone surrogate in a key', '{"a":{"\\ud83d":1}}', '\\ud83d es medio', 1, 8, '/a'],
    ['NUL in a text', '{"a":"x\\u0000"}', 'NUL', 1, 8, '/a'],
    ['NUL in a key', '{"\\u0000":1}', 'NUL', 1, 3, ''],
    ['1e400', '{"lat":1e400}', 'demasiado grande', 1, 8, '/lat'],
    ['-1E+309', '[-1E+309]', 'demasiado grande', 1, 2, '/0'],
    ['400 digits', `[${'9'.repeat(400)}]`, 'demasiado grande', 1, 2, '/0'],
    ['a pointer with ~ and /', '{"a/b~c":[0,x]}', '«x»', 1, 13, '/a~1b~0c/1'],
    ['columns after CRLF and accents', '{\r\n "ñ😀": x}', '«x»', 2, 9, '/ñ😀'],
  ])('%s', (_, body, part, line, column, field) => {
    const fault = faultOf(body)
    expect(fault).toMatchObject({ line, column, campo: field })
    expect(fault.mensaje).toContain(part)
    // Each message names the remedy after a colon, and the place.
    // The contract addresses its readers as «usted».
    expect(fault.mensaje).not.toMatch(/(?<=[\s:])\p{Ll}*[áéíóú]\p{Ll}*a(lo|la|los|las)(?=[\s:.])/u)
    expect(fault.mensaje).toMatch(/^\p{Lu}[\s\S]+: [\s\S]+ \(línea \d+, columna \d+(, en \/[\s\S]*)?\)\.$/u)
  })
})

describe('readJson against JSON.parse', () => {
  /** Our limits, told apart from the scanner: by the value, and by counting the keys in the text. */
  function isWithinLimits(value: unknown, levels = JSON_LIMITS.depth): boolean {
    if (typeof value === 'string') return value.isWellFormed() && !value.includes('\0')
    if (typeof value === 'number') return Number.isFinite(value)
    if (typeof value !== 'object' || value === null) return true
    if (levels === 0) return false
    const keys = Array.isArray(value) ? [] : Object.keys(value)
    return (
      keys.length <= JSON_LIMITS.properties &&
      keys.every((key) => key !== '__proto__' && key.length <= JSON_LIMITS.keyLength && isWithinLimits(key)) &&
      Object.values(value).every((part) => isWithinLimits(part, levels - 1))
    )
  }
  const countKeys = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.values(value).reduce(
          (sum, part) => sum + countKeys(part),
          Array.isArray(value) ? 0 : Object.keys(value).length,
        )
  const hasNoRepeatedKeys = (text: string, value: unknown) =>
    (text.match(/"(?:[^"\\]|\\.)*"(?:\s*:)?/g) ?? []).filter((chain) => chain.endsWith(':')).length === countKeys(value)

  /** Accepted exactly when JSON.parse accepts it and it is within the limits; then with the same value. */
  function compare(text: string): boolean {
    let value: unknown
    let expected = false
    try {
      value = JSON.parse(text)
      expected = isWithinLimits(value) && hasNoRepeatedKeys(text, value)
    } catch {}
    if (expected) same(read(text), value)
    else expect(faultOf(text).line).toBeGreaterThan(0)
    return expected
  }

  const unidad = fc.constantFrom<'grapheme' | 'binary' | 'grapheme-ascii'>('grapheme', 'binary', 'grapheme-ascii')
  const json = unidad.chain((stringUnit) => fc.jsonValue({ stringUnit, maxDepth: 6 }))
  const indentation = fc.constantFrom(undefined, 1, '\t')

  it('agrees on any JSON value', () => {
    fc.assert(
      fc.property(json, indentation, (value, indentation) => {
        compare(JSON.stringify(value, null, indentation))
      }),
      { numRuns: 2000 },
    )
  })

  it('agrees on values around the limits', () => {
    const objeto = fc.integer({ min: 60, max: 68 }).map((n) => JSON.parse(withKeys(n)))
    const key = fc.integer({ min: 125, max: 131 }).map((n) => ({ ['é'.repeat(n)]: n }))
    const oddValue = fc.oneof(objeto, key, json)
    fc.assert(
      fc.property(oddValue, fc.integer({ min: 0, max: 34 }), fc.boolean(), (value, levels, inArray) => {
        let text = JSON.stringify(value)
        for (let k = 0; k < levels; k++) text = inArray ? `[${text}]` : `{"n":${text}}`
        compare(text)
      }),
      { numRuns: 500 },
    )
  })

  const pieces = '{ } [ ] , : " \\ / - + . e E 0 1 9 a n u t'
    .split(' ')
    .concat([
      ' ',
      '\n',
      '\t',
      '\0',
      '\u00a0',
      '\ufeff',
      'é',
      '😀',
      '""',
      '"a"',
      '"a":',
      '"\\u0061":1',
      ',"a":1',
      '{}',
      '[]',
      'true',
      'false',
      'null',
      'NaN',
      '1e400',
      '1e308',
      '-0',
      '01',
      '\\u',
      '\\u0000',
      '\\ud83d',
      '\\ude00',
      '\\n',
      '"__proto__":1',
      '//',
    ])

  it('agrees on any sequence of JSON pieces', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => {
        compare(parts.join(''))
      }),
      { numRuns: 20_000 },
    )
  })

  it('agrees on mutated JSON', () => {
    const cambio = fc.record({
      donde: fc.nat(),
      removedLength: fc.nat({ max: 3 }),
      pone: fc.constantFrom('', ...pieces),
    })
    let aceptados = 0
    fc.assert(
      fc.property(
        json,
        indentation,
        fc.array(cambio, { minLength: 1, maxLength: 3 }),
        (value, indentation, cambios) => {
          let text = JSON.stringify(value, null, indentation)
          for (const { donde: position, removedLength, pone } of cambios) {
            const k = position % (text.length + 1)
            text = text.slice(0, k) + pone + text.slice(k + removedLength)
          }
          if (compare(text.toWellFormed())) aceptados++ // a change can cut a pair in two
        },
      ),
      { numRuns: 10_000 },
    )
    expect(aceptados).toBeGreaterThan(100) // or the property would say little
  })

  it('refuses any bytes with an JsonError, or gives what JSON.parse gives', () => {
    const arbitraryText = fc.oneof(
      fc.uint8Array(),
      json.map((value) => Buffer.from(JSON.stringify(value))),
    )
    fc.assert(
      fc.property(arbitraryText, fc.nat(), fc.nat({ max: 255 }), (original, position, byte) => {
        const body = Uint8Array.from(original)
        if (body.length > 0) body[position % body.length] = byte
        let value: unknown
        try {
          value = readJson(body)
        } catch (error) {
          expect(error).toBeInstanceOf(JsonError)
          return
        }
        const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body)
        same(value, JSON.parse(text))
      }),
      { numRuns: 5000 },
    )
  })
})

describe('readJson stays linear on hostile bodies of 2 MB', () => {
  const MB2 = 2_000_000
  const fill = (part: string) => `[${part.repeat(MB2 / part.length)}1]`
  const parecidas = Object.fromEntries(Array.from({ length: 64 }, (_, k) => ['x'.repeat(125) + String(100 + k), 1]))
  it.each([
    ['open arrays', '['.repeat(MB2)],
    ['open objects', '{"a":'.repeat(MB2 / 5)],
    ['empty objects', fill('{},')],
    ['full objects of long, similar keys', fill(`${JSON.stringify(parecidas)},`)],
    ['one object with ever more keys', `{${Array.from({ length: 200_000 }, (_, k) => `"${k}":1`)}}`],
    ['one long key', `{"${'k'.repeat(MB2)}":1}`],
    ['numbers', fill('1e308,')],
    ['one number', '1'.repeat(MB2)],
    ['one fraction', `0.${'1'.repeat(MB2)}`],
    ['escapes', `"${'\\u00e9'.repeat(MB2 / 6)}"`],
    ['an open text', `"${'a'.repeat(MB2)}`],
    ['line breaks', '\n'.repeat(MB2)],
    ['line breaks before a fault', `${'\n'.repeat(MB2)}x`],
    ['bytes that are not UTF-8', Buffer.alloc(MB2, 0xff)],
    ['bytes that are not UTF-8, at the end', Buffer.concat([Buffer.from(fill('"é",')), Buffer.from([0xff])])],
  ])('%s', (_, body) => {
    const contenido = Buffer.from(body)
    // Measured 4 to 200 ms; something quadratic would take minutes, which a test hasn't.
    try {
      readJson(contenido)
    } catch (error) {
      expect(error).toBeInstanceOf(JsonError)
    }
  })
})
