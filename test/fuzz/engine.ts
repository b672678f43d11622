import { Script } from 'node:vm'
import type { CodeCoverage } from './coverage.ts'
import { mutateInput, type RandomBelow } from './mutate.ts'
import type { FuzzTarget } from './target.ts'

/** An input that breaks what must hold, made as short as it could be. */
export interface Finding {
  input: Buffer
  error: Error
}

/** What feeding one target came to. */
export interface FuzzRun {
  inputCount: number
  /** How much of the code ran. */
  coverage: string
  corpus: number
  finding: Finding | undefined
}

/** Milliseconds after which inputs are said to hang: a thousand times what they take. */
const HANG_TIMEOUT_MS = 20_000
/** As many inputs are fed at once: to ask for coverage, or to watch the time, costs more than most of them do. */
const BATCH_SIZE = 200
const CALL = new Script('__feed()')

/** The first of some inputs that fails; one that keeps the thread for too long fails, too, even within a regular expression. */
async function probar(
  target: FuzzTarget,
  inputs: readonly Buffer[],
): Promise<{ failedIndex: number; error: Error } | undefined> {
  let failedIndex = 0
  const feed = async () => {
    for (; failedIndex < inputs.length; failedIndex++) {
      const running = target.probar(inputs[failedIndex]!)
      // Without a promise there is no pause, and the time limit holds for all of them.
      if (running) await running
    }
  }
  try {
    Object.assign(globalThis, { __feed: feed })
    await CALL.runInThisContext({ timeout: HANG_TIMEOUT_MS })
    return undefined
  } catch (error) {
    return { failedIndex, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** Takes away whatever isn't needed for the same kind of failure. */
async function shortenInput(target: FuzzTarget, input: Buffer, error: Error): Promise<Finding> {
  let shortest = { input, error }
  for (let length = input.length >> 1; length > 0; length >>= 1) {
    for (let i = 0; i + length <= shortest.input.length; ) {
      const shortened = Buffer.concat([shortest.input.subarray(0, i), shortest.input.subarray(i + length)])
      const fault = await probar(target, [shortened])
      if (fault?.error.name === error.name) shortest = { input: shortened, error: fault.error }
      else i += length
    }
  }
  return shortest
}

/** Those of some inputs that lead where none before them did. */
async function filterReaching(
  target: FuzzTarget,
  coverage: CodeCoverage,
  inputs: readonly Buffer[],
): Promise<Buffer[]> {
  const reachingInputs: Buffer[] = []
  for (const input of inputs) {
    await probar(target, [input])
    const newPlaces = coverage.newPlaces()
    coverage.record(newPlaces)
    if (newPlaces.length > 0) reachingInputs.push(input)
  }
  return reachingInputs
}

/** Feeds mutations of whatever led somewhere new, until something breaks or it is time to stop. */
export async function runFuzz(
  target: FuzzTarget,
  coverage: CodeCoverage,
  randomBelow: RandomBelow,
  shouldContinue: () => boolean,
): Promise<FuzzRun> {
  const corpus: Buffer[] = target.seeds.map((seed) => Buffer.from(seed as Uint8Array))
  let inputCount = 0
  let batch: readonly Buffer[] = corpus
  do {
    const fault = await probar(target, batch)
    inputCount += fault ? fault.failedIndex + 1 : batch.length
    if (fault) {
      const finding = await shortenInput(target, batch[fault.failedIndex]!, fault.error)
      return { inputCount, coverage: coverage.ratio, corpus: corpus.length, finding }
    }
    const nuevo = coverage.newPlaces()
    if (nuevo.length > 0) corpus.push(...(await filterReaching(target, coverage, batch)))
    // What only ran once, since something is remembered, isn't looked for again.
    coverage.record(nuevo)
    const tomar = () => corpus[randomBelow(corpus.length)]!
    batch = Array.from({ length: BATCH_SIZE }, () => mutateInput(tomar(), randomBelow, tomar(), target.words))
  } while (shouldContinue())
  return { inputCount, coverage: coverage.ratio, corpus: corpus.length, finding: undefined }
}
