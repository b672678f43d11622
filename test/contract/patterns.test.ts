// What others read of the contract: expressions that every engine takes, and no mark that only our own machinery reads.
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import fc from 'fast-check'
import { RE2JS } from 're2js'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../scripts/documentation/contract.ts'
import { INTERNAL_EXTENSIONS } from '../../scripts/generate/publish.ts'
import { readDocument } from '../../server/api/contract/contract.ts'
import { ROOT } from '../../server/platform/root.ts'

const DOCUMENTOS = ['comercios', 'operaciones', 'publico']
const read = (documento: string): JsonObject =>
  JSON.parse(readFileSync(new URL(`server/generated/contract/${documento}.json`, ROOT), 'utf8'))

function* objectsOf(node: Json): Generator<JsonObject> {
  if (node === null || typeof node !== 'object') return
  if (!Array.isArray(node)) yield node
  for (const inside of Object.values(node)) yield* objectsOf(inside)
}

/** The expressions of a contract, by where they stand: `components/schemas/Nombre`. */
function patternsOf(node: Json, place = ''): [path: string, pattern: string][] {
  if (node === null || typeof node !== 'object') return []
  return Object.entries(node).flatMap(([key, inside]): [string, string][] =>
    key === 'pattern' && typeof inside === 'string' ? [[place, inside]] : patternsOf(inside, `${place}/${key}`),
  )
}

/** Texts on which engines could differ: whitespace, controls, what is no letter, two code units, marks and bidi. */
const TEXTOS = [
  '5a avenida norte 12',
  'Áéñ ü',
  '中央通り',
  '😀',
  'a\u0301',
  ' x',
  'x ',
  '\u00A0x',
  '-',
  '.',
  'FAC-2026/0001',
  '',
  ' ',
  '   ',
  'a\u0007b',
  'a\tb',
  'a\nb',
  '\nx',
  'a\u007Fb',
  'a\u0085b',
  'a\u202Eb',
  'x'.repeat(500),
  '0123456789abcdef'.repeat(4),
  'g'.repeat(64),
]

/**
 * Nothing but anchors, non-capturing groups, plain sets (no set operators) and their repetition; of escapes, `\xHH` and
 * three of controls.
 */
const READ_BY_ALL =
  /^(?!.*(?:&&|~~|--))\^(?:\(\?:|\)|[*+?]|\{\d{1,3}\}|\[\^?(?:[^\\[\]]|\\x[0-9A-F]{2}|\\[tnr])+\]|[ \w-])+\$$/

const publishedContracts = [
  ...new Set(DOCUMENTOS.flatMap((documento) => patternsOf(read(documento)).map(([, pattern]) => pattern))),
]

describe.each(publishedContracts)('the published pattern %s', (pattern) => {
  it('is written in what all engines have in common', () => expect(pattern).toMatch(READ_BY_ALL))

  it('judges alike in RE2 and in JavaScript with and without flags', () => {
    const re2 = RE2JS.compile(pattern)
    for (const text of TEXTOS) {
      const matchesWithoutFlags = new RegExp(pattern).test(text)
      expect({ texto: text, re2: re2.matcher(text).find() }).toEqual({ texto: text, re2: matchesWithoutFlags })
      expect({ texto: text, u: new RegExp(pattern, 'u').test(text) }).toEqual({ texto: text, u: matchesWithoutFlags })
    }
  })
})

it('judge alike in Python', async () => {
  const program =
    'import json, re, sys\nps, ts = json.loads(sys.argv[1])\nprint(json.dumps([[bool(re.search(p, t)) for t in ts] for p in ps]))'
  // Python's `$` also stands before a last line break: no text here ends in one.
  const { stdout } = await promisify(execFile)('python3', ['-c', program, JSON.stringify([publishedContracts, TEXTOS])])
  expect(JSON.parse(stdout)).toEqual(publishedContracts.map((p) => TEXTOS.map((text) => new RegExp(p).test(text))))
})

describe('a pattern of the server that differs from the published one', () => {
  const ownNames = new Map(patternsOf(readDocument() as unknown as JsonObject))
  const pairs = DOCUMENTOS.flatMap((documento) =>
    patternsOf(read(documento)).map(([path, pattern]) => [path, pattern, ownNames.get(path)] as const),
  ).filter(([, pattern, own]) => own !== undefined && own !== pattern)

  it('exists for the free texts', () => expect(pairs.length).toBeGreaterThan(10))

  it('accepts only texts that the published one accepts', () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 12 }), fc.string({ unit: 'grapheme', maxLength: 12 }))
    const distintos = new Map(pairs.map(([, pattern, own]) => [`${pattern} ${own}`, [pattern, own!] as const]))
    for (const [pattern, own] of distintos.values()) {
      const [publicVariant, server] = [new RegExp(pattern), new RegExp(own, 'u')]
      const vale = (t: string) => !server.test(t) || publicVariant.test(t)
      expect(TEXTOS.filter((t) => !vale(t))).toEqual([])
      fc.assert(fc.property(text, vale), { numRuns: 2_000 })
    }
  })
})

it.each(DOCUMENTOS)('%s is published without the marks of our own machinery', (documento) => {
  const marks = [...objectsOf(read(documento))].flatMap((objeto) => Object.keys(objeto))
  expect(marks.filter((key) => INTERNAL_EXTENSIONS.has(key))).toEqual([])
})

it('the server keeps the marks that decide', () => {
  const marks = new Set(
    [...objectsOf(readDocument() as unknown as JsonObject)].flatMap((objeto) => Object.keys(objeto)),
  )
  expect([...INTERNAL_EXTENSIONS].filter((mark) => mark !== 'x-patron' && !marks.has(mark))).toEqual([])
})
