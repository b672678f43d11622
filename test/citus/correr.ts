/**
 * `CITUS_URL=… npm run test:citus`: the functional tests against that cluster, and then its faults; with `-- --corto` what a
 * change of the engine is most likely to break, in some three minutes.
 */
import { spawnSync } from 'node:child_process'

if (!process.env.CITUS_URL) {
  console.error('CITUS_URL names the coordinator’s database of a Citus cluster, as its superuser.')
  process.exit(2)
}
const correr = (...args: string[]) =>
  spawnSync('vitest', ['run', ...args], { stdio: 'inherit', shell: false }).status ?? 1
const FUNCIONALES = '--tags-filter=!completo && !postgres && !nodos'
const CORTO = [
  'citus',
  'guias/crear',
  'eventos',
  'webhooks/crear',
  'webhooks/recuperar',
  'http/tenencia',
  'bitacora/listar',
]
if (process.argv.includes('--corto')) process.exit(correr(FUNCIONALES, ...CORTO.map((cual) => `test/${cual}`)))
const deSiempre = correr(FUNCIONALES)
// Nodes that go away go away for everybody: last, and alone.
const conFallas = process.env.CITUS_CLUSTER ? correr('--tags-filter=nodos', '--maxWorkers=1') : 0
if (!process.env.CITUS_CLUSTER) console.warn('CITUS_CLUSTER names no program that stops nodes: faults are NOT tested.')
process.exitCode = deSiempre || conFallas
