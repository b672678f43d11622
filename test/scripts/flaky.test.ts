import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

const root = fileURLToPath(ROOT)
const TEST = "import { existsSync, writeFileSync } from 'node:fs'\nimport { expect, it } from 'vitest'\n"
/** Body of a test that fails at its first run only. */
const FLAKY = 'const seen = existsSync(mark)\n  writeFileSync(mark, "")\n  expect(seen, "seed 42").toBe(true)'

/** Body of a test that passes, and throws outside itself. */
const LATE = "setTimeout(() => { throw new Error('late') })\n  return new Promise((end) => setTimeout(end, 20))"

/**
 * Runs the given bodies of tests, a file each, with the runner of `npm test`.
 * @param args arguments of the runner; none for a whole run
 */
function runTree(bodies: Record<string, string>, args: readonly string[] = ['test']) {
  const tree = mkdtempSync(join(tmpdir(), 'guias-flaky-'))
  onTestFinished(() => rmSync(tree, { recursive: true, force: true }))
  mkdirSync(join(tree, 'test'))
  symlinkSync(join(root, 'node_modules'), join(tree, 'node_modules'))
  symlinkSync(join(root, 'test/reporter.ts'), join(tree, 'test/reporter.ts'))
  writeFileSync(join(tree, 'package.json'), '{ "type": "module" }')
  for (const [name, body] of Object.entries(bodies))
    writeFileSync(
      join(tree, `test/${name}.test.ts`),
      `${TEST}const mark = ${JSON.stringify(join(tree, name))}\nit('works', () => {\n  ${body}\n})\n`,
    )
  const runner = JSON.stringify(new URL('scripts/tests/run.ts', ROOT).href)
  const program = `import { runTests } from ${runner}\nprocess.exitCode = (await runTests(${JSON.stringify(args)}, ${JSON.stringify(tree)})) ? 0 : 1`
  const { VITEST, VITEST_POOL_ID, VITEST_WORKER_ID, ...env } = process.env
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    cwd: root,
    encoding: 'utf8',
    // A folder of its own for the answers that tests have seen, instead of the folder of this run.
    env: { ...env, NO_COLOR: '1', GUIAS_RUN_FOLDER: join(tree, 'test') },
  })
  return { status, stderr, lines: stdout.trim().split('\n') }
}

it('stays green with two tests that fail among the others and pass alone, and names them with their output', () => {
  const { status, lines } = runTree({ good: 'expect(mark).toBeTruthy()', one: FLAKY, two: FLAKY })
  const report = lines.slice(lines.indexOf('2 flaky: failed among the others, passed alone.'))
  expect(report.join('\n')).toMatch(
    /test\/one\.test\.ts > works\n {4}among the others:\n.*seed 42[\s\S]*alone:\n[\s\S]*1 passed/,
  )
  expect(report).toContain('test/two.test.ts > works')
  expect(lines.at(-1)).toBe('3 passed, 0 failed, 0 skipped')
  expect(status).toBe(0)
})

it('is red with three flaky tests, and runs none of them again', () => {
  const { status, lines } = runTree({ one: FLAKY, two: FLAKY, three: FLAKY })
  expect(lines.filter((line) => line.startsWith('Running '))).toEqual([])
  expect(lines.at(-1)).toBe('0 passed, 3 failed, 0 skipped')
  expect(status).toBe(1)
})

it('is red with a test that fails alone too', () => {
  const { status, lines } = runTree({ one: FLAKY, broken: 'expect(mark).toBe(1)' })
  expect(lines).toContain('1 flaky: failed among the others, passed alone.')
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped')
  expect(status).toBe(1)
})

it('is red with an error outside all tests, also beside a flaky test', () => {
  const { status, lines } = runTree({ one: FLAKY, late: LATE })
  expect(lines.filter((line) => line.startsWith('Running '))).toEqual([])
  expect(lines.at(-1)).toBe('1 passed, 1 failed, 0 skipped')
  expect(status).toBe(1)
})

it('is red if the contract declares answers that no test of a whole run has seen', () => {
  const { status, stderr, lines } = runTree({ good: 'expect(mark).toBeTruthy()', one: FLAKY }, [])
  const unseen = stderr.split('\n').filter((line) => /^ {2}\w+ \d{3}$/.test(line))
  expect(unseen).toContain('  crearGuia 201')
  expect(lines.at(-1)).toBe(`2 passed, ${unseen.length} failed, 0 skipped`)
  expect(status).toBe(1)
})

it('is refused with a path that no test matches, although another path matches', () => {
  const { status, stderr, lines } = runTree({ good: 'expect(mark).toBeTruthy()' }, ['test/good', 'test/gone'])
  expect(stderr).toContain('no test matches test/gone')
  expect([status, lines]).toEqual([1, ['']])
})
