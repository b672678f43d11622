import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import type { Reporter, TestModule } from 'vitest/node'
import { closeRun, type RunSummary, SUMMARY_FILE } from '../scripts/tests/run.ts'
import { listDeclaredResponses } from './witness.ts'

const CLI_ARGUMENTS = process.argv.slice(2)
/** What `npm test` and `npm run test:slow` run: the tests without and with the tag. */
const FILTRO = /^--tags-filter=(!?)slow$/
const filtro = CLI_ARGUMENTS.map((argument) => FILTRO.exec(argument)).find((match) => match)
/** Arguments that leave a run whole. */
const WHOLE_RUN_ARGUMENT = /^(?:run|--(?:coverage|reporter|outputFile).*)$/

/**
 * Ends a run with its slowest files and its counts. Fails a whole run of `npm test` if the contract declares an answer
 * that no test has seen.
 */
export default class RunReporter implements Reporter {
  onTestRunEnd(testModules: readonly TestModule[], errores: readonly unknown[]) {
    const pruebas = testModules
      .flatMap((testModule) => [...testModule.children.allTests()])
      // What belongs to the other command isn't skipped.
      .filter(({ tags }) => !filtro || tags.includes('slow') !== (filtro[1] === '!'))
    const countByState = (estado: string) => pruebas.filter((prueba) => prueba.result().state === estado).length
    const slowestFiles = testModules
      .map((testModule) => ({
        archivo: relative('', testModule.moduleId),
        seconds: testModule.diagnostic().duration / 1_000,
      }))
      .sort((a, b) => b.seconds - a.seconds)
      .slice(0, 10)
    console.log('\nThe slowest files:')
    for (const { archivo, seconds } of slowestFiles) console.log(`${seconds.toFixed(1).padStart(7)} s  ${archivo}`)
    const seen = readSeenResponses()
    const summary: RunSummary = {
      passed: countByState('passed'),
      failed: countByState('failed'),
      skipped: countByState('skipped'),
      errors: errores.length,
      unseen: isPartialRun() ? [] : listDeclaredResponses().filter((pair) => !seen.has(pair)),
      seen: [...seen],
    }
    // The runner of `npm test` ends the run itself, after it has repeated the failed tests.
    const file = process.env[SUMMARY_FILE]
    if (file) writeFileSync(file, JSON.stringify(summary))
    else if (!closeRun(summary, true)) process.exitCode = 1
  }
}

/** A run of some files or names, or of what is not in `npm test`, says nothing about the others. */
const isPartialRun = () =>
  filtro?.[1] === '' || CLI_ARGUMENTS.some((argument) => !WHOLE_RUN_ARGUMENT.test(argument) && !FILTRO.test(argument))

function readSeenResponses(): Set<string> {
  // Without a folder the preparation of the run failed, and vitest reports why.
  const folder = process.env.GUIAS_RUN_FOLDER
  if (folder === undefined) return new Set()
  return new Set(
    readdirSync(folder)
      .filter((file) => file.startsWith('respuestas-'))
      .flatMap((file) => readFileSync(join(folder, file), 'utf8').split('\n')),
  )
}
