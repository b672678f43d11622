/**
 * Entry point of `npm test`: the static checks and the tests, at the same time. Tests also wait, for browsers and other
 * processes, and the checks use the processor meanwhile. `npm run test:completo` passes `completo`: the tests that take
 * minutes, without the checks. Exits with 1 if a check or a test fails. Other arguments go to vitest.
 */
import { fileURLToPath } from 'node:url'
import { runIn } from './anterior/construir.ts'
import { runTests } from './tests/run.ts'

const root = fileURLToPath(new URL('../', import.meta.url))

/** Runs the static checks. Returns true if they pass. */
const check = () =>
  runIn(root, process.execPath, 'scripts/verificar.ts').then(
    () => true,
    () => false,
  )

const args = process.argv.slice(2)
const long = args[0] === 'completo'
const [checks, tests] = await Promise.all([
  long || check(),
  long ? runTests(['--tags-filter=completo', ...args.slice(1)]) : runTests(['--tags-filter=!completo', ...args]),
])
// By now, the output of the checks is far above, mixed with that of the tests.
if (!checks) console.error('The static checks failed: `npm run verificar` shows them alone.')
process.exitCode = checks && tests ? 0 : 1
