/**
 * Spelling of names in code (`npm run check`): English, and the words of the names of the contract and of the database.
 * Strings and comments are not checked: texts are Spanish, and `scripts/checks/prose.ts` reads comments.
 */
import { readFileSync } from 'node:fs'
import ts from 'typescript'
import { contractNames, pluralOf, splitName } from './scripts/spelling/contractNames.ts'

const readList = (name) =>
  readFileSync(new URL(`scripts/spelling/${name}.txt`, import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))

/** Reports whether an identifier names a member, which in a test is mostly a member of data that the test made up. */
const isMember = (p, node) =>
  ((ts.isPropertyAssignment(p) || ts.isPropertySignature(p) || ts.isPropertyAccessExpression(p)) && p.name === node) ||
  ((ts.isBindingElement(p) || ts.isImportSpecifier(p)) && p.propertyName === node)

/** Passes on the identifiers of a file and nothing else; of a test, those that it declares. */
const identifiers = {
  name: 'identifiers',
  parse(content, filename) {
    const kind = filename.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
    const file = ts.createSourceFile(filename, content, ts.ScriptTarget.Latest, true, kind)
    const isTest = filename.endsWith('.test.ts')
    const parsedTexts = []
    const visit = (node) => {
      if ((ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) && !(isTest && isMember(node.parent, node))) {
        const start = node.getStart(file)
        parsedTexts.push({ text: content.slice(start, node.end), range: [start, node.end] })
      }
      ts.forEachChild(node, visit)
    }
    visit(file)
    return { content, filename, parsedTexts }
  },
}

const names = contractNames()
const words = new Set(names.flatMap(splitName))
// A whole name is right even if one of its words is forbidden elsewhere: `leido_en`, but not `leido`.
const wholeNames = names.filter((name) => /^[\p{L}\d_$]+$/u.test(name) && /_|\p{Ll}\p{Lu}/u.test(name))

export default {
  version: '0.2',
  language: 'en',
  files: ['{server,sdk,scripts,bench,test}/**/*.{ts,tsx,mts,mjs}'],
  ignorePaths: ['**/node_modules/**', '**/generated/**', '**/dist/**', 'sdk/ejemplos/**'],
  minWordLength: 3,
  allowCompoundWords: false,
  plugins: [{ parsers: [identifiers] }],
  words: [...words, ...[...words].map(pluralOf), ...readList('allowed')],
  flagWords: readList('forbidden'),
  // These dictionaries have Spanish words, as names of packages, companies and places.
  dictionaries: [
    '!npm',
    '!companies',
    '!public-licenses',
    '!fonts',
    '!aws',
    '!google',
    '!gaming-terms',
    '!lorem-ipsum',
    '!cryptocurrencies',
    '!networking-terms',
  ],
  ignoreRegExpList: [
    '/Math\\.sin/g',
    // The prefix of an alias or the suffix `_id` may stand beside a name.
    `/(?<![\\p{L}$#])(?:${wholeNames.join('|').replaceAll('$', '\\$')})(?![\\p{L}$])/giu`,
    `/(?<![\\p{L}\\d_$#])(?:${readList('stored').join('|')})(?![\\p{L}\\d_$])/gu`,
  ],
  overrides: [
    { filename: '**/*.{ts,tsx,mts,mjs}', parser: 'identifiers' },
    // Public names of SDK and command line are Spanish, because merchants read them.
    { filename: '{sdk,test/sdk}/**', words: readList('sdk'), ignoreWords: readList('sdk') },
    // Tests use the SDK, and people, places and programs of their own.
    { filename: 'test/**/*.test.ts', words: [...readList('sdk'), ...readList('tests')], ignoreWords: readList('sdk') },
    // Label of a metric, and its value.
    { filename: 'server/startup/metrics.ts', ignoreWords: ['que'] },
    // Names that are stored with mails.
    { filename: '{server/domain,test}/{correos,equipo}/**', ignoreWords: readList('mails') },
    // Names of alerts, such as `GuiasLenta`.
    { filename: 'test/observability/**', ignoreRegExpList: ['/\\bGuias[A-Z]\\w*/g'] },
  ],
}
