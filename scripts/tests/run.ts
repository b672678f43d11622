import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Maximum number of flaky tests of a green run. A flaky test fails among the others and passes alone. */
const MAX_FLAKY = 2

/** Name of the environment variable with the file to which `test/reportero.ts` writes the counts of a run. */
export const COUNTS_FILE = 'GUIAS_TEST_COUNTS'

/** Number of tests by outcome. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** Closing line of a run, which CI reads. */
export const lineOf = ({ passed, failed, skipped }: Counts) => `${passed} passed, ${failed} failed, ${skipped} skipped`

/** Part of the report of vitest's reporter `json` that is read here. */
interface Report {
  testResults: {
    name: string
    status: 'passed' | 'failed'
    message: string
    assertionResults: { fullName: string; status: string; failureMessages: string[] }[]
  }[]
}

interface Failure {
  /** Path of the test file, relative to the tree. */
  file: string
  /** Full name of the test. Empty if the file failed outside its tests, for example in a hook. */
  test: string
  output: string
}

interface Outcome {
  succeeded: boolean
  failures: readonly Failure[]
  /** Undefined if the run ended early, or if the tree has an older reporter. */
  counts: Counts | undefined
  /** Output of the run, if it was captured. */
  output: string
}

/**
 * Runs vitest in a tree. A failed test runs once more at the end: its file alone, in a fresh process. A test that then
 * passes is flaky. The run succeeds with at most 2 flaky tests, which the last lines name with both outputs.
 * @param args arguments of vitest: test files, and options with `=`
 * @param tree folder of the tests, if it is not this repository
 * @returns true if the run succeeded
 */
export async function runTests(args: readonly string[], tree = ROOT): Promise<boolean> {
  const first = await vitest(tree, args, false)
  if (first.succeeded || first.failures.length === 0) return close(first.counts, first.succeeded)
  if (first.failures.length > MAX_FLAKY) return close(first.counts, false)
  const options = args.filter((argument) => argument.startsWith('-'))
  const flaky: { failure: Failure; alone: string }[] = []
  for (const file of new Set(first.failures.map((failure) => failure.file))) {
    console.log(`\nRunning ${file} once more, alone…`)
    const { succeeded, output } = await vitest(tree, [file, ...options], true)
    const failures = first.failures.filter((failure) => failure.file === file)
    if (succeeded) flaky.push(...failures.map((failure) => ({ failure, alone: output })))
    else console.log(output)
  }
  if (flaky.length > 0) console.log(`\n${flaky.length} flaky: failed among the others, passed alone.`)
  for (const { failure, alone } of flaky)
    console.log(
      `${failure.file} > ${failure.test}\n${indent(`among the others:\n${failure.output}\nalone:\n${alone}`)}`,
    )
  const repeated = flaky.filter(({ failure }) => failure.test !== '').length
  const { counts } = first
  const settled = counts && { ...counts, passed: counts.passed + repeated, failed: counts.failed - repeated }
  return close(settled, flaky.length === first.failures.length)
}

const indent = (text: string) => text.trim().replaceAll(/^/gm, '    ')

function close(counts: Counts | undefined, succeeded: boolean): boolean {
  if (counts) console.log(`\n${lineOf(counts)}`)
  return succeeded
}

async function vitest(tree: string, args: readonly string[], capture: boolean): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'guias-report-'))
  const report = join(folder, 'report.json')
  const counts = join(folder, 'counts.json')
  try {
    const { succeeded, output } = await run(
      tree,
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=./test/reportero.ts',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...args,
      ],
      { [COUNTS_FILE]: counts },
      capture,
    )
    const failures = failuresOf(tree, await readJson<Report>(report))
    return { succeeded, failures, counts: await readJson<Counts>(counts), output }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

const readJson = async <T>(file: string): Promise<T | undefined> =>
  readFile(file, 'utf8').then(
    (text) => JSON.parse(text) as T,
    () => undefined,
  )

function failuresOf(tree: string, report: Report | undefined): Failure[] {
  return (report?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .flatMap(({ name, message, assertionResults }) => {
      const file = relative(tree, name)
      const failed = assertionResults.filter(({ status }) => status === 'failed')
      if (failed.length === 0) return [{ file, test: '', output: message }]
      return failed.map(({ fullName, failureMessages }) => ({
        file,
        test: fullName,
        output: failureMessages.join('\n'),
      }))
    })
}

function run(cwd: string, args: readonly string[], env: Record<string, string>, capture: boolean) {
  return new Promise<{ succeeded: boolean; output: string }>((resolve, reject) => {
    const stdio = capture ? (['ignore', 'pipe', 'pipe'] as const) : 'inherit'
    const child = spawn(process.execPath, args, { cwd, stdio: stdio as 'inherit', env: { ...process.env, ...env } })
    let output = ''
    const collect = (chunk: unknown) => {
      output += chunk
    }
    child.stdout?.on('data', collect)
    child.stderr?.on('data', collect)
    child.on('error', reject)
    child.on('close', (status) => resolve({ succeeded: status === 0, output }))
  })
}
