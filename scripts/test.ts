/**
 * Entry point of `npm test`: the static checks and the tests, at the same time. Tests also wait, for browsers and other
 * processes, and the checks use the processor meanwhile. `npm run test:slow` passes `slow`: the tests that take
 * minutes, without the checks. Exits with 1 if a check or a test fails. Other arguments go to vitest.
 */
import { fileURLToPath } from 'node:url'
import { runIn } from './previous/build.ts'
import { runTests } from './tests/run.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Runs the static checks. Returns true if they pass. */
const check = () =>
  runIn(root, process.execPath, 'scripts/check.ts').then(
    () => true,
    () => false,
  )

const args = process.argv.slice(2)
const long = args[0] === 'slow'
const [checks, tests] = await Promise.all([
  long || check(),
  long ? runTests(['--tags-filter=slow', ...args.slice(1)]) : runTests(['--tags-filter=!slow', ...args]),
])
// By now, the output of the checks is far above, mixed with that of the tests.
if (!checks) console.error('The static checks failed: `npm run check` shows them alone.')
process.exitCode = checks && tests ? 0 : 1
