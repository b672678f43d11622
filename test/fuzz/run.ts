/**
 * `npm run fuzz [-- target [seconds [seed]]]`: feeds a target, or each of them, with mutations of its seeds, led by the
 * blocks of code that they reach, and says which input breaks what must hold.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { createRandom } from '../random.ts'
import { CodeCoverage } from './coverage.ts'
import { runFuzz } from './engine.ts'
import type { FuzzTarget } from './target.ts'

const TARGETS: Record<string, { covered: RegExp; load: () => Promise<{ target: FuzzTarget }> }> = {
  json: { covered: /http\/strictJson/, load: () => import('./targets/json.ts') },
  enlacesDeMapas: { covered: /maps\/links/, load: () => import('./targets/mapLinks.ts') },
  telefonos: { covered: /platform\/telephones\//, load: () => import('./targets/telephones.ts') },
  cursores: { covered: /lists\/cursor/, load: () => import('./targets/cursors.ts') },
  enlacesFirmados: { covered: /archivos\/links|llaves\/llave/, load: () => import('./targets/signedLinks.ts') },
  jws: { covered: /signing\/jws|jose\/|verificar|sdk\/dist/, load: () => import('./targets/jws.ts') },
  imagenes: { covered: /images\/readImage|exifr/, load: () => import('./targets/images.ts') },
  csv: { covered: /sdk\/dist\/hoja/, load: () => import('./targets/csv.ts') },
}
const [targetName = 'todos', seconds = '7', seed = String(Date.now() % 1_000_000)] = process.argv.slice(2)

/** One target, in a process of its own. */
async function runTarget(name: string): Promise<number> {
  const { covered, load } = TARGETS[name]!
  const coverage = new CodeCoverage(covered)
  const { target } = await load()
  const next = createRandom(Number(seed))
  const end = performance.now() + Number(seconds) * 1_000
  const fuzzRun = await runFuzz(
    target,
    coverage,
    (n) => Math.floor(next() * n),
    () => performance.now() < end,
  )
  const { inputCount, corpus, finding } = fuzzRun
  console.log(`${name}: ${inputCount} inputs, ${fuzzRun.coverage} of the code, ${corpus} kept (seed ${seed})`)
  if (fuzzRun.coverage.startsWith('0/')) {
    console.log('  no code was reached: the pattern of its files names none')
    return 1
  }
  if (!finding) return 0
  console.log(`  broken by ${JSON.stringify(finding.input.toString('latin1'))} (Latin-1)\n`, finding.error)
  return 1
}

if (targetName === 'todos') {
  const runInOwnProcess = (name: string) =>
    spawnSync(process.execPath, [fileURLToPath(import.meta.url), name, seconds, seed], {
      stdio: 'inherit',
      // What hangs behind a promise is ended here.
      timeout: (Number(seconds) + 120) * 1_000,
    })
  process.exitCode = Math.max(...Object.keys(TARGETS).map((name) => runInOwnProcess(name).status ?? 1))
} else if (targetName in TARGETS) {
  process.exitCode = await runTarget(targetName)
} else {
  console.error(`There is no target «${targetName}»: ${Object.keys(TARGETS).join(', ')}, or todos.`)
  process.exitCode = 2
}
