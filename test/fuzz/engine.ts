import { Script } from 'node:vm'
import type { Cobertura } from './coverage.ts'
import { mutateInput, type RandomBelow } from './mutate.ts'
import type { FuzzTarget } from './target.ts'

/** An input that breaks what must hold, made as short as it could be. */
export interface Finding {
  entrada: Buffer
  error: Error
}

/** What feeding one target came to. */
export interface FuzzRun {
  entradas: number
  /** How much of the code ran. */
  cobertura: string
  corpus: number
  hallazgo: Finding | undefined
}

/** Milliseconds after which inputs are said to hang: a thousand times what they take. */
const COLGADO = 20_000
/** As many inputs are fed at once: to ask for coverage, or to watch the time, costs more than most of them do. */
const TANDA = 200
const CALL = new Script('__alimentar()')

/** The first of some inputs that fails; one that keeps the thread for too long fails, too, even within a regular expression. */
async function probar(
  blanco: FuzzTarget,
  inputs: readonly Buffer[],
): Promise<{ failedIndex: number; error: Error } | undefined> {
  let failedIndex = 0
  const alimentar = async () => {
    for (; failedIndex < inputs.length; failedIndex++) {
      const running = blanco.probar(inputs[failedIndex]!)
      // Without a promise there is no pause, and the time limit holds for all of them.
      if (running) await running
    }
  }
  try {
    Object.assign(globalThis, { __alimentar: alimentar })
    await CALL.runInThisContext({ timeout: COLGADO })
    return undefined
  } catch (error) {
    return { failedIndex, error: error instanceof Error ? error : new Error(String(error)) }
  }
}

/** Takes away whatever isn't needed for the same kind of failure. */
async function acortar(blanco: FuzzTarget, input: Buffer, error: Error): Promise<Finding> {
  let corta = { entrada: input, error }
  for (let largo = input.length >> 1; largo > 0; largo >>= 1) {
    for (let i = 0; i + largo <= corta.entrada.length; ) {
      const shortened = Buffer.concat([corta.entrada.subarray(0, i), corta.entrada.subarray(i + largo)])
      const falla = await probar(blanco, [shortened])
      if (falla?.error.name === error.name) corta = { entrada: shortened, error: falla.error }
      else i += largo
    }
  }
  return corta
}

/** Those of some inputs that lead where none before them did. */
async function filterReaching(blanco: FuzzTarget, cobertura: Cobertura, inputs: readonly Buffer[]): Promise<Buffer[]> {
  const llegan: Buffer[] = []
  for (const input of inputs) {
    await probar(blanco, [input])
    const newPlaces = cobertura.nuevo()
    cobertura.record(newPlaces)
    if (newPlaces.length > 0) llegan.push(input)
  }
  return llegan
}

/** Feeds mutations of whatever led somewhere new, until something breaks or it is time to stop. */
export async function runFuzz(
  blanco: FuzzTarget,
  cobertura: Cobertura,
  azar: RandomBelow,
  sigue: () => boolean,
): Promise<FuzzRun> {
  const corpus: Buffer[] = blanco.semillas.map((semilla) => Buffer.from(semilla as Uint8Array))
  let inputCount = 0
  let tanda: readonly Buffer[] = corpus
  do {
    const falla = await probar(blanco, tanda)
    inputCount += falla ? falla.failedIndex + 1 : tanda.length
    if (falla) {
      const hallazgo = await acortar(blanco, tanda[falla.failedIndex]!, falla.error)
      return { entradas: inputCount, cobertura: cobertura.ratio, corpus: corpus.length, hallazgo }
    }
    const nuevo = cobertura.nuevo()
    if (nuevo.length > 0) corpus.push(...(await filterReaching(blanco, cobertura, tanda)))
    // What only ran once, since something is remembered, isn't looked for again.
    cobertura.record(nuevo)
    const tomar = () => corpus[azar(corpus.length)]!
    tanda = Array.from({ length: TANDA }, () => mutateInput(tomar(), azar, tomar(), blanco.words))
  } while (sigue())
  return { entradas: inputCount, cobertura: cobertura.ratio, corpus: corpus.length, hallazgo: undefined }
}
