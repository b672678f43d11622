import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { FULL_RUN_ONLY } from '../factories.ts'

// In a process of its own: what it counts with is what measures the tests' coverage, too.
const PROGRAMA = `
  const { Cobertura } = await import('./test/fuzz/coverage.ts')
  const { createRandom } = await import('./test/random.ts')
  const { runFuzz } = await import('./test/fuzz/engine.ts')
  const cobertura = new Cobertura(process.argv[1] === 'led' ? /fuzz.planted/ : /nothing/)
  const { blanco } = await import('./test/fuzz/planted.ts')
  const siguiente = createRandom(1)
  let tandas = 0
  const { entradas, hallazgo } = await runFuzz(blanco, cobertura, (n) => Math.floor(siguiente() * n), () => tandas++ < Number(process.argv[2]))
  console.log(JSON.stringify({ entradas, error: hallazgo?.error.message, entrada: hallazgo?.entrada.toString('latin1') }))
`
const fuzzearPlantado = async (modo: 'led' | 'blind', tandas: string) => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAMA, modo, tandas])
  return JSON.parse(stdout) as { entradas: number; error?: string; entrada?: string }
}

it('is led by what runs to what breaks, and says it as short as it gets', FULL_RUN_ONLY, async () => {
  expect(await fuzzearPlantado('led', '5000')).toMatchObject({ error: 'planted', entrada: 'guía' })
})

it('finds nothing of the kind blindly', async () => {
  expect(await fuzzearPlantado('blind', '500')).toEqual({ entradas: 100_001 })
})
