import { execFileSync } from 'node:child_process'
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { faultsOfFile, faultsOfSubject, longSubjects } from '../../scripts/checks/prose.ts'
import { ROOT } from '../../server/platform/root.ts'
import { runProgram } from '../docs/run.ts'

const words = (count: number) => `The ${'word '.repeat(count - 2)}ends.`
const subject = (length: number) => 'fix(guias): '.padEnd(length, 'x')

describe('faults of comments and documents', () => {
  it('finds a docstring that starts with "What"', () => {
    expect(faultsOfFile('a.ts', 'const a = 1\n\n/** What holds a lease. */\nexport const b = a\n')).toEqual([
      { line: 3, reason: 'starts with "What"' },
    ])
    expect(faultsOfFile('a.ts', '/** Holder of a lease. */\nexport const b = 1\n')).toEqual([])
  })

  it('finds a sentence of 26 words and passes one of 25', () => {
    const reasons = (path: string, text: string) => faultsOfFile(path, text).map(({ reason }) => reason)
    for (const [path, text] of [
      ['a.ts', (one: string) => `/** ${one} */\nexport const a = 1\n`],
      ['docs/a.md', (one: string) => `# Title\n\nShort. ${one}\n`],
      ['a.yaml', (one: string) => `# ${one}\na: 1\n`],
    ] as const) {
      expect(reasons(path, text(words(26)))).toEqual([expect.stringContaining('has a sentence of 26 words')])
      expect(reasons(path, text(words(25)))).toEqual([])
    }
  })

  it('finds a third sentence inside code', () => {
    const source = (comment: string) => `export function f() {\n  // ${comment}\n  return 1\n}\n`
    expect(faultsOfFile('a.ts', source('One. Two. Three.'))).toEqual([
      { line: 2, reason: 'has 3 sentences; 2 are enough' },
    ])
    expect(faultsOfFile('a.ts', source('One. Two.'))).toEqual([])
  })
})

describe('titles of tests', () => {
  it.each([
    ["it('what is sent: %s', () => {})", 'starts with "what"'],
    [
      "describe.skipIf(!able)('a page', () => { test.each(rows)('shows whatever a row has', () => {}) })",
      'says "whatever"',
    ],
    ['it.each`a`("its $a", () => {})', 'starts with "its"'],
  ])('are read in %s', (source, reason) => {
    expect(faultsOfFile('a.test.ts', source)).toEqual([{ line: 1, reason }])
  })

  it('may name a subject or start with a verb', () => {
    expect(faultsOfFile('a.test.ts', "it('returns 404 for an unknown guide', () => log('what'))")).toEqual([])
  })
})

describe('subjects of commits', () => {
  let folder: string
  const git = (...args: string[]) =>
    execFileSync('git', ['-C', folder, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
      encoding: 'utf8',
      env: { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: '1' },
    }).trim()
  const commit = (message: string) => git('commit', '--quiet', '--allow-empty', '-m', message)

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'guias-prose-'))
    git('init', '--quiet')
    commit(subject(90))
    commit(subject(72))
    commit(subject(73))
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  it('finds a subject of 73 characters after the base, and none before it', () => {
    expect(longSubjects('HEAD~2', folder)).toEqual([`${git('rev-parse', '--short', 'HEAD')} ${subject(73)}`])
  })

  it('finds nothing if git does not know the base', () => {
    expect(longSubjects('0123456789abcdef', folder)).toEqual([])
  })

  it.each([
    [subject(72), []],
    [subject(73), [expect.stringContaining('73')]],
    ['refactor(api, data)!: rename a module', []],
    ['docs: say less', []],
    ["Merge branch 'x'", []],
    ['Fixed things', [expect.stringContaining('form')]],
  ])('judges %o', (one, reasons) => {
    expect(faultsOfSubject(one)).toEqual(reasons)
  })

  it('is what the commit-msg hook checks', async () => {
    const at = (path: string) => fileURLToPath(new URL(path, ROOT))
    for (const path of ['.githooks', 'scripts/checks/prose.ts'])
      await cp(at(path), join(folder, path), { recursive: true })
    await cp(at('package.json'), join(folder, 'package.json'))
    await symlink(at('node_modules'), join(folder, 'node_modules'))
    git('config', 'core.hooksPath', '.githooks')
    const tryCommit = (message: string) =>
      runProgram(
        ['git', '-c', 'user.name=x', '-c', 'user.email=x@example.com', 'commit', '--allow-empty', '-m', message],
        {
          cwd: folder,
        },
      )
    expect(await tryCommit(subject(73))).toMatchObject({ codigo: 1, errores: expect.stringContaining('73 characters') })
    expect(await tryCommit(subject(72))).toMatchObject({ codigo: 0 })
  })
})
