/**
 * Entry point of `npm run test:cambios`: runs the tests of the changed files. Changed are the files that differ from
 * the merge base with `main`, also uncommitted and untracked ones. `npm run test:cambios -- <path …>` takes these paths
 * as changed instead. The rule is a choice for speed; only `npm test` runs everything:
 *
 * - A file in a folder of `server/domain/`: all tests in the folder of the same name below `test/`, the tests that
 *   import the file directly, and one test that starts the service. If the test folder has more than 12 files, an
 *   operation with a test of its own runs only that test when its file changes.
 * - A shared layer (`api`, `data`, `platform`, `startup`): the tests that `vitest related` finds. These are almost all,
 *   because `test/entorno.ts` imports the whole server.
 * - A test: the test. A helper of tests: all tests that import it, also through other helpers.
 * - Pages, contract, migrations, SDK, scripts, deployment and documents: their folder below `test/`.
 */
import { execFileSync, spawn } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { selectTests } from './changed/select.ts'

process.chdir(fileURLToPath(new URL('../', import.meta.url)))

const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
const linesOf = (output: string) => output.split('\n').filter((line) => line !== '')

/** Commit with which the files are compared: the merge base with `main`, or the last commit if no `main` is known. */
function mergeBase(): string {
  for (const branch of ['main', 'origin/main'])
    try {
      return git('merge-base', 'HEAD', branch).trim()
    } catch {} // `main` is unknown to git, or a shallow clone lacks the common history
  return 'HEAD'
}

const changedFiles = () => [
  ...linesOf(git('diff', '--name-only', '--no-renames', mergeBase())),
  ...linesOf(git('ls-files', '--others', '--exclude-standard')),
]

const paths = process.argv.slice(2)
const changed = paths.length > 0 ? paths : changedFiles()
const modules = new Map(
  globSync('test/**/*.ts').map((path) => [path.replaceAll('\\', '/'), readFileSync(path, 'utf8')] as const),
)
const { tests, shared } = selectTests(changed, modules)
const related = shared.filter((path) => existsSync(path))
console.log(
  `${changed.length} changed files: ${tests.length} test files` +
    (related.length > 0 ? `, and the tests related to ${related.length} files of shared layers` : ''),
)
if (tests.length + related.length > 0) {
  // `vitest related` also runs the tests that are among its arguments.
  const order = related.length > 0 ? ['related', '--run', ...related] : ['run']
  const args = ['node_modules/vitest/vitest.mjs', ...order, ...tests, '--tags-filter=!completo']
  const child = spawn(process.execPath, args, { stdio: 'inherit' })
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
  // A terminal sends Ctrl-C to this process and to vitest. This process ignores it, so that vitest can end first.
  process.on('SIGINT', () => {})
  process.on('SIGTERM', () => child.kill('SIGTERM'))
}
