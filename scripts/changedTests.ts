/**
 * Entry point of `npm run test:changed`: runs the tests of the changed files, by folder. Changed are the files that differ
 * from the merge base with `main`, also uncommitted and untracked ones. `npm run test:changed -- <path …>` takes these
 * paths instead. The rules are a choice for speed: only `npm test` runs everything.
 */
import { spawn } from 'node:child_process'
import { git } from './previous/tag.ts'

/** Test that starts the whole service. */
const SMOKE = 'test/salud/comprobarDisponibilidad.test.ts'
/** Tests by pattern of the changed path; the first match counts, and `$1` is its group. Other files need all tests. */
const RULES: readonly [pattern: RegExp, ...tests: string[]][] = [
  [/^(test\/.+\.test\.ts)$/, '$1'],
  [/^(test\/[^/]+\/)/, '$1'],
  [/^server\/domain\/(?:identities|records|scans)\//, 'test/'],
  [/^server\/domain\/([^/]+\/)/, 'test/$1', SMOKE],
  [/^server\/pages\/(?:docs|console|home)\//, 'test/docs/'],
  [/^server\/pages\//, 'test/pages/'],
  [/^openapi\/comercios\/muestras\//, 'test/docs/samples.test.ts'],
  [/^openapi\//, 'test/contract/', SMOKE],
  [/^prisma\//, 'test/db/', SMOKE],
  [/^sdk\//, 'test/sdk/'],
  [/^despliegue\//, 'test/deployment/'],
  [/^(?:docs\/|scripts\/documentation\/|[A-Z]+\.md$)/, 'test/docs/'],
  [/^(?:scripts\/|bench\/|\.)/, 'test/scripts/'],
]

/** Returns the tests for changed files, as paths of test files and folders for vitest. */
export function testsOf(changed: readonly string[]): string[] {
  const tests = changed.flatMap((path) => {
    const [pattern, ...places] = RULES.find(([one]) => one.test(path)) ?? [/^/, 'test/']
    const [, group = ''] = pattern.exec(path)!
    return places.map((place) => place.replace('$1', group))
  })
  return tests.includes('test/') ? ['test/'] : [...new Set(tests)].sort()
}

/** Returns the files that differ from the merge base, or from the last commit if git knows no `main`. */
async function changedFiles(): Promise<string[]> {
  // A clone may lack a branch `main`, or the common history.
  const base = await git('merge-base', 'HEAD', 'main').catch(() => 'HEAD')
  const changed = await git('diff', '--name-only', '--no-renames', base.trim())
  const untracked = await git('ls-files', '--others', '--exclude-standard')
  return (changed + untracked).split('\n').filter((path) => path !== '')
}

if (import.meta.main) {
  process.chdir(`${import.meta.dirname}/..`)
  const tests = testsOf(process.argv.length > 2 ? process.argv.slice(2) : await changedFiles())
  console.log(tests.length > 0 ? `Tests: ${tests.join(', ')}` : 'No changed files.')
  const args = ['node_modules/vitest/vitest.mjs', 'run', ...tests, '--tags-filter=!slow', '--passWithNoTests']
  // A terminal sends Ctrl-C to this process and to vitest. This process ignores it, so that vitest can end first.
  process.on('SIGINT', () => {})
  if (tests.length > 0)
    spawn(process.execPath, args, { stdio: 'inherit' }).on('exit', (code) => process.exit(code ?? 1))
}
