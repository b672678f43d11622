import { spawn } from 'node:child_process'
import { globSync } from 'node:fs'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** Maximum number of flaky tests of a green run. A flaky test fails among the others and passes alone. */
const MAX_FLAKY = 2

/** Name of the environment variable with the file to which `test/reporter.ts` writes the {@link RunSummary}. */
export const SUMMARY_FILE = 'GUIAS_TEST_SUMMARY'

/** Summary of a run, which `test/reporter.ts` writes. */
export interface RunSummary {
  passed: number
  failed: number
  skipped: number
  /** Errors outside all tests. No test can be blamed for them, so they fail the run. */
  errors: number
  /** Answers that the contract declares and no test of the run has seen. Empty for a run of only some tests. */
  unseen: readonly string[]
  /** Answers that a test of the run has seen. */
  seen: readonly string[]
}

/** Closing line of a run, which CI reads. */
const lineOf = ({ passed, failed, skipped, unseen }: RunSummary) =>
  `${passed} passed, ${failed + unseen.length} failed, ${skipped} skipped`

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
  summary: RunSummary | undefined
  /** Output of the run, if it was captured. */
  output: string
}

/**
 * Runs vitest in a tree. A failed test runs once more at the end: its file alone, in a fresh process. A test that then
 * passes is flaky. The run succeeds with at most 2 flaky tests, which the last lines name with both outputs. It fails
 * if an error occurs outside all tests, or if the contract declares an answer that no test has seen.
 * @param args arguments of vitest: test files, and options with `=`
 * @param tree folder of the tests, if it is not this repository
 * @returns true if the run succeeded
 * @throws if a path of `test/` matches no test
 */
export async function runTests(args: readonly string[], tree = ROOT): Promise<boolean> {
  requireTests(tree, args)
  const { succeeded, failures, summary } = await vitest(tree, args, false)
  const errors = summary?.errors ?? 0
  if (succeeded || failures.length === 0 || failures.length > MAX_FLAKY || errors > 0)
    return closeRun(summary, succeeded)
  const options = args.filter((argument) => argument.startsWith('-'))
  const flaky: { failure: Failure; alone: string }[] = []
  const seen = new Set<string>()
  for (const file of new Set(failures.map((failure) => failure.file))) {
    console.log(`\nRunning ${file} once more, alone…`)
    const alone = await vitest(tree, [file, ...options], true)
    if (alone.succeeded)
      for (const failure of failures) if (failure.file === file) flaky.push({ failure, alone: alone.output })
    if (!alone.succeeded) console.log(alone.output)
    for (const answer of alone.summary?.seen ?? []) seen.add(answer)
  }
  if (flaky.length > 0) console.log(`\n${flaky.length} flaky: failed among the others, passed alone.`)
  for (const { failure, alone } of flaky)
    console.log(
      `${failure.file} > ${failure.test}\n${indent(`among the others:\n${failure.output}\nalone:\n${alone}`)}`,
    )
  const repeated = flaky.filter(({ failure }) => failure.test !== '').length
  const settled = summary && {
    ...summary,
    passed: summary.passed + repeated,
    failed: summary.failed - repeated,
    unseen: summary.unseen.filter((answer) => !seen.has(answer)),
  }
  return closeRun(settled, flaky.length === failures.length)
}

/** Refuses a path of `test/` that no test matches: vitest says nothing of it as long as another path matches. */
function requireTests(tree: string, args: readonly string[]): void {
  const files = globSync('test/**/*.test.ts', { cwd: tree })
  const unmatched = args.filter((arg) => arg.startsWith('test/') && !files.some((file) => file.includes(arg)))
  if (unmatched.length > 0) throw new Error(`no test matches ${unmatched.join(', ')}`)
}

const indent = (text: string) => text.trim().replaceAll(/^/gm, '    ')

/** Prints the end of a run. Returns true if the run succeeded and no declared answer is unseen. */
export function closeRun(summary: RunSummary | undefined, succeeded: boolean): boolean {
  if (!summary) return succeeded
  const { unseen } = summary
  if (unseen.length > 0)
    console.error(`\nThe contract declares answers that no test has seen:\n  ${unseen.join('\n  ')}`)
  console.log(`\n${lineOf(summary)}`)
  return succeeded && unseen.length === 0
}

async function vitest(tree: string, args: readonly string[], capture: boolean): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'guias-report-'))
  const report = join(folder, 'report.json')
  const summary = join(folder, 'summary.json')
  try {
    const { succeeded, output } = await run(
      tree,
      [
        'node_modules/vitest/vitest.mjs',
        'run',
        '--reporter=default',
        '--reporter=./test/reporter.ts',
        '--reporter=json',
        `--outputFile.json=${report}`,
        ...args,
      ],
      { [SUMMARY_FILE]: summary },
      capture,
    )
    const failures = failuresOf(tree, await readJson<Report>(report))
    return { succeeded, failures, summary: await readJson<RunSummary>(summary), output }
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
    const stdio = capture ? 'pipe' : 'inherit'
    const child = spawn(process.execPath, args, { cwd, stdio, env: { ...process.env, ...env } })
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
