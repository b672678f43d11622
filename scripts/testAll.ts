/**
 * Entry point of `npm run test:all`: every suite, one after the other, and at the end a table of what passed, failed,
 * was flaky and was skipped. Takes about half an hour on two idle cores. Arguments name the suites to run. The part on
 * Citus needs `CITUS_URL`. Exits with 1 if a suite failed.
 */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** Arguments of npm, by suite. */
const SUITES: Record<string, { args: readonly string[]; needs?: string }> = {
  check: { args: ['run', 'check', '--', 'slow'] },
  test: { args: ['test'] },
  slow: { args: ['run', 'test:slow'] },
  schema: { args: ['run', 'test:schema'] },
  previous: { args: ['run', 'test:previous'] },
  fuzz: { args: ['run', 'fuzz'] },
  bench: { args: ['run', 'bench', '--', '--corto'] },
  citus: { args: ['run', 'test:citus', '--', '--corto'], needs: 'CITUS_URL' },
}

const COUNTS = /^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$/gm
const FLAKY = /^(\d+) flaky:/gm

interface Row {
  suite: string
  result: string
  passed: string
  failed: string
  flaky: string
  skipped: string
  seconds: string
}

const sum = (matches: RegExpExecArray[], group: number) =>
  matches.length === 0 ? '' : String(matches.reduce((total, match) => total + Number(match[group] ?? 0), 0))

/** Runs a suite, shows its output, and counts its tests from its closing lines. */
function runSuite(suite: string): Promise<Row> {
  const { args, needs } = SUITES[suite]!
  const empty = { suite, passed: '', failed: '', flaky: '', skipped: '', seconds: '' }
  if (needs && !process.env[needs]) return Promise.resolve({ ...empty, result: `not run: ${needs} is not set` })
  console.log(`\n=== ${suite}: npm ${args.join(' ')}`)
  const started = performance.now()
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, {
      cwd: ROOT,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32',
    })
    let output = ''
    for (const [stream, own] of [
      [child.stdout, process.stdout],
      [child.stderr, process.stderr],
    ] as const)
      stream.on('data', (chunk) => {
        output += chunk
        own.write(chunk)
      })
    child.on('error', reject)
    child.on('close', (status) => {
      const counts = [...output.matchAll(COUNTS)]
      resolve({
        suite,
        result: status === 0 ? 'passed' : 'FAILED',
        passed: sum(counts, 1),
        failed: sum(counts, 2),
        flaky: sum([...output.matchAll(FLAKY)], 1),
        skipped: sum(counts, 3),
        seconds: ((performance.now() - started) / 1_000).toFixed(0),
      })
    })
  })
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((suite) => !(suite in SUITES))
if (unknown.length > 0) {
  console.error(`There is no suite ${unknown.join(', ')}. The suites are ${Object.keys(SUITES).join(', ')}.`)
  process.exit(2)
}
const rows: Row[] = []
for (const suite of chosen.length > 0 ? chosen : Object.keys(SUITES)) rows.push(await runSuite(suite))
const columns = ['suite', 'result', 'passed', 'failed', 'flaky', 'skipped', 'seconds'] as const
const width = (column: (typeof columns)[number]) => Math.max(column.length, ...rows.map((row) => row[column].length))
const line = (row: Row | undefined) =>
  columns
    .map((column) => (row ? row[column] : column).padEnd(width(column)))
    .join('  ')
    .trimEnd()
console.log(`\n${[undefined, ...rows].map(line).join('\n')}`)
process.exitCode = rows.some(({ result }) => result === 'FAILED') ? 1 : 0
