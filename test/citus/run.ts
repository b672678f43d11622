/**
 * `CITUS_URL=… npm run test:citus`: the functional tests against that cluster, and then its faults; with `-- --corto` what a
 * change of the engine is most likely to break, in some three minutes.
 */
import { runTests } from '../../scripts/tests/run.ts'

if (!process.env.CITUS_URL) {
  console.error('CITUS_URL names the coordinator’s database of a Citus cluster, as its superuser.')
  process.exit(2)
}
const FUNCTIONAL_TAGS_FILTER = '--tags-filter=!slow && !postgres && !nodos'
const SHORT_TESTS = [
  'citus',
  'guias/crear',
  'eventos',
  'webhooks/crear',
  'webhooks/recuperar',
  'http/tenancy',
  'bitacora/listar',
]
const isShort = process.argv.includes('--corto')
const functional = await runTests([
  FUNCTIONAL_TAGS_FILTER,
  ...(isShort ? SHORT_TESTS.map((testPath) => `test/${testPath}`) : []),
])
// Nodes that go away go away for everybody: last, and alone.
const withFaults = !isShort && process.env.CITUS_CLUSTER
const faults = withFaults ? await runTests(['--tags-filter=nodos', '--maxWorkers=1']) : true
if (!isShort && !withFaults) console.warn('CITUS_CLUSTER names no program that stops nodes: faults are NOT tested.')
process.exitCode = functional && faults ? 0 : 1
