/**
 * Entry point of `npm test`: the static checks and the tests, at the same time. Tests also wait, for browsers and other
 * processes, and the checks use the processor meanwhile. Exits with 1 if either fails. Arguments go to vitest.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const raiz = fileURLToPath(new URL('../', import.meta.url))

/** Runs a program of Node with this process's output. Returns true if it succeeds. */
const correr = (...args: string[]): Promise<boolean> =>
  new Promise((resolve) => {
    const hijo = spawn(process.execPath, args, { cwd: raiz, stdio: 'inherit' })
    hijo.on('close', (codigo) => resolve(codigo === 0))
    hijo.on('error', () => resolve(false))
  })

const VITEST = 'node_modules/vitest/vitest.mjs'
const [checks, tests] = await Promise.all([
  correr('scripts/verificar.ts'),
  correr(VITEST, 'run', '--tags-filter=!completo', ...process.argv.slice(2)),
])
// The output of the checks is far above, between the tests.
if (!checks) console.error('The static checks failed: `npm run verificar` shows them alone.')
process.exitCode = checks && tests ? 0 : 1
