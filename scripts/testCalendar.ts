/**
 * Entry point of `npm run test:calendar`: all tests, samples included, with the clock moved by Debian's `faketime`, and
 * at the end a table. Takes six times as long as the tests. With the argument `samples`, runs only the samples and the
 * collection, in 40 and in 400 days. Other arguments are test files. Exits with 1 if a run failed.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { CLOCKS, CLOCKS_OF_SAMPLES, type MovedClock } from './tests/clocks.ts'
import { runTests } from './tests/run.ts'

const SAMPLES = ['samples', 'collection', 'exampleDays'].map((name) => `test/docs/${name}.test.ts`)
/** Name of the environment variable that marks the process below `faketime`. */
const MOVED = 'GUIAS_MOVED_CLOCK'

/**
 * Deletes what `faketime` left in shared memory for processes that were killed. It refuses to start a process for whose
 * number something is there.
 */
function deleteLeftovers(): void {
  for (const name of readdirSync('/dev/shm')) {
    const pid = /^(?:sem\.)?faketime_(?:sem|shm)_(\d+)$/.exec(name)?.[1]
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(`/dev/shm/${name}`, { force: true })
  }
}

/** Runs this program once more, below `faketime`. Returns true if the tests passed. */
function runAt({ name, start, env }: MovedClock, files: readonly string[]): Promise<boolean> {
  const now = new Date()
  const at = start(now)
  const seconds = Math.round((at.getTime() - now.getTime()) / 1_000)
  console.log(`\n=== ${name}: ${at.toISOString()}`)
  return new Promise((resolve, reject) => {
    const child = spawn('faketime', ['-f', `+${seconds}`, process.execPath, fileURLToPath(import.meta.url), ...files], {
      stdio: 'inherit',
      // The monotonic clock stays real: timers and PostgreSQL's waits need it.
      env: { ...process.env, ...env, FAKETIME_DONT_FAKE_MONOTONIC: '1', [MOVED]: '1' },
    })
    child.on('error', reject)
    child.on('close', (status) => resolve(status === 0))
  })
}

const args = process.argv.slice(2)
if (process.env[MOVED]) {
  const samples = args.every((file) => SAMPLES.includes(file)) && args.length > 0
  process.exitCode = (await runTests(samples ? args : ['--tags-filter=!slow', ...args])) ? 0 : 1
} else if (spawnSync('faketime', ['--version']).error) {
  console.error('faketime is missing: apt-get install faketime')
  process.exitCode = 1
} else {
  deleteLeftovers()
  const samples = args[0] === 'samples'
  const rows: string[] = []
  for (const clock of samples ? CLOCKS_OF_SAMPLES : CLOCKS) {
    const started = performance.now()
    const passed = await runAt(clock, samples ? SAMPLES : args)
    const seconds = ((performance.now() - started) / 1_000).toFixed(0)
    rows.push(`${passed ? 'passed' : 'FAILED'}  ${seconds.padStart(4)} s  ${clock.name}`)
  }
  console.log(`\n${rows.join('\n')}`)
  process.exitCode = rows.some((row) => row.startsWith('FAILED')) ? 1 : 0
}
