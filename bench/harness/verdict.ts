import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import type { Bench } from './environment.ts'
import { formatNumber } from './number.ts'
import type { Measurement, MeasurementResult, ReportRow } from './report.ts'

/**
 * Minimum share of the cores for a decisive attempt. Below it other programs use the machine, and figures are not
 * reliable.
 */
const MIN_QUIET_SHARE = 0.9

/**
 * Maximum attempts at a measurement that misses its floor (INTENTOS). A measurement fails after DECISIVOS attempts
 * below its floor on a machine that is quiet before and after the attempt.
 */
const INTENTOS = 5
const DECISIVE_ATTEMPTS = 2

/**
 * Lists, in Spanish, the figures that miss their floor in every round, because noise affects only some rounds. The
 * floor is half of the mark, or twice the mark if lower is better.
 */
export const figuresBelowFloor = (rows: readonly ReportRow[]): string[] =>
  rows.flatMap(({ measurement, reference, program, ratio, target }) => {
    const judgedSeries = target?.isAbsolute ? program : ratio
    if (!target || !judgedSeries) return []
    const floor = target.comparison === '≥' ? target.value / 2 : target.value * 2
    const isBelowFloor = target.comparison === '≥' ? judgedSeries.max < floor : judgedSeries.min > floor
    const name = target.isAbsolute ? measurement : `${measurement} / ${reference?.name}`
    const figure = formatNumber(judgedSeries.median)
    return isBelowFloor ? [`${name}: ${figure}, cuando el suelo es ${target.comparison} ${formatNumber(floor)}`] : []
  })

/** Result of one attempt: the figures below their floor, and if only this run used the machine. */
export interface Intento {
  failedFigures: readonly string[]
  isQuiet: boolean
}

/**
 * Decides which figures fail a short run: those below their floor in every attempt. Noise must not fail a run, so one
 * good attempt clears a measurement, because slow code is slow in every attempt.
 * @returns the failing figures; undefined while more attempts are needed
 */
export function judgeAttempts(intentos: readonly Intento[]): readonly string[] | undefined {
  if (intentos.some(({ failedFigures }) => failedFigures.length === 0)) return []
  const decisiveAttempts = intentos.filter(({ isQuiet }) => isQuiet)
  return decisiveAttempts.length >= DECISIVE_ATTEMPTS ? decisiveAttempts.at(-1)!.failedFigures : undefined
}

/**
 * Repeats a measurement until {@link judgeAttempts} decides, at most {@link INTENTOS} times.
 * @returns `unjudged`: figures below their floor, without a verdict because the machine was too seldom quiet
 */
export async function measureWithVerdict(
  measurement: Measurement,
  bench: Bench,
): Promise<{ resultado: MeasurementResult; failedFigures: readonly string[]; unjudged: readonly string[] }> {
  const intentos: Intento[] = []
  for (;;) {
    const before = await measureFreeShare()
    const resultado = await measurement.measure(bench)
    const isQuiet = Math.min(before, await measureFreeShare()) >= MIN_QUIET_SHARE
    const last = { failedFigures: figuresBelowFloor(resultado.rows), isQuiet }
    intentos.push(last)
    const failedFigures = judgeAttempts(intentos)
    if (failedFigures || intentos.length === INTENTOS)
      return { resultado, failedFigures: failedFigures ?? [], unjudged: failedFigures ? [] : last.failedFigures }
  }
}

const SPIN_MS = 300
const SPIN_CODE = `
  const { parentPort } = require('node:worker_threads')
  const antes = process.threadCpuUsage()
  const inicio = performance.now()
  while (performance.now() - inicio < ${SPIN_MS});
  const { user, system } = process.threadCpuUsage(antes)
  parentPort.postMessage((user + system) / 1000 / (performance.now() - inicio))`

/** Returns the smallest share of a core, 0 to 1, that a busy thread gets while one such thread runs per core. */
async function measureFreeShare(): Promise<number> {
  const threads = Array.from({ length: availableParallelism() }, () => new Worker(SPIN_CODE, { eval: true }))
  const shares = await Promise.all(
    threads.map(
      (thread) => new Promise<number>((resolve, reject) => thread.once('message', resolve).once('error', reject)),
    ),
  )
  return Math.min(...shares)
}
