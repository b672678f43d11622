import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'

// In a process of its own: what it counts with is what measures the tests' coverage, too.
const PROGRAM = `
  const { CodeCoverage } = await import('./test/fuzz/coverage.ts')
  const { createRandom } = await import('./test/random.ts')
  const { runFuzz } = await import('./test/fuzz/engine.ts')
  const coverage = new CodeCoverage(process.argv[1] === 'led' ? /fuzz.planted/ : /nothing/)
  const { target } = await import('./test/fuzz/planted.ts')
  const siguiente = createRandom(1)
  let tandas = 0
  const { inputCount, finding } = await runFuzz(target, coverage, (n) => Math.floor(siguiente() * n), () => tandas++ < Number(process.argv[2]))
  console.log(JSON.stringify({ inputCount, error: finding?.error.message, input: finding?.input.toString('latin1') }))
`
const fuzzPlanted = async (modo: 'led' | 'blind', batches: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, modo, batches])
  return JSON.parse(stdout) as { inputCount: number; error?: string; input?: string }
}

it('is led by what runs to what breaks, and says it as short as it gets', FULL_RUN_ONLY, async () => {
  expect(await fuzzPlanted('led', '5000')).toMatchObject({ error: 'planted', input: 'guía' })
})

it('finds nothing of the kind blindly', async () => {
  expect(await fuzzPlanted('blind', '500')).toEqual({ inputCount: 100_001 })
})
