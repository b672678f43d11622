import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildPrevious, findBase } from '../../scripts/previous/migration.ts'
import { ROOT } from '../../server/platform/root.ts'
import { migrate } from '../../server/startup/migrations.ts'
import { wait } from '../resilience/harness.ts'
import { closeLedger, type ScenarioResult } from '../resilience/ledger.ts'
import { handleSlowly, type Scenario } from '../resilience/scenario.ts'
import { withSteps } from '../resilience/steps.ts'
import { type Deployment, startDeployment } from './bringUp.ts'
import { OWN_SERVICES } from './compose.ts'
import { HAS_CADDY } from './proxy.ts'
import { openPool, requestThroughProxy, startTraffic, type Traffic } from './traffic.ts'

// The rehearsal of what `despliegue/` describes: renewed and upgraded under load, by clients that repeat nothing.

const OWN_FOLDER = fileURLToPath(ROOT)
const NOMBRES = OWN_SERVICES.map(({ nombre }) => nombre)
/** How long the load goes on between two steps, in milliseconds. */
const STEP_INTERVAL_MS = 1_500

async function startAll(deployment: Deployment, folder: string): Promise<void> {
  const [firstName, ...otherNames] = NOMBRES
  // The first migrates.
  await deployment.start(firstName!, folder)
  await Promise.all(otherNames.map((name) => deployment.start(name, folder)))
  await deployment.seedComercio(folder, { '/todo': ['*'], '/canceladas': ['guia.cancelado'] })
  deployment.receptor.handle = handleSlowly
  const pool = openPool(deployment, 1)
  // Until the proxy has asked everybody how he is.
  const isServing = async () => (await requestThroughProxy(pool, deployment.llave, '/cuenta')).status === 200
  if (!(await wait(isServing, 15_000, 500))) throw new Error('the proxy serves nothing')
  await pool.close()
}

/** Closes the books, once every proof has its PDF. */
async function finishRehearsal(
  deployment: Deployment,
  traffic: Traffic,
  scenarioName: string,
  trialSummary: string,
): Promise<ScenarioResult> {
  const danado = Date.now()
  await sleep(STEP_INTERVAL_MS)
  await traffic.stop()
  const countWithoutPdf = async () =>
    (await deployment.db.pool.query<{ n: number }>('select count(*)::int as n from prueba_entrega where pdf is null'))
      .rows[0]!.n
  const hasAllPdfs = await wait(async () => (await countWithoutPdf()) === 0, 60_000)
  const result = await closeLedger(deployment, {
    scenario: scenarioName,
    trial: `${trialSummary}, ${traffic.bien()} solicitudes`,
    load: traffic,
    danado,
  })
  if (!hasAllPdfs) result.fallas.push(`${await countWithoutPdf()} proofs are without PDF`)
  for (const aviso of deployment.avisos.keys()) if (aviso.startsWith('start')) result.fallas.push(aviso)
  if (traffic.bien() < 100) result.fallas.push(`${traffic.bien()} good requests: nothing was tried`)
  return result
}

async function renewAll(deployment: Deployment, folder: string): Promise<void> {
  for (const name of NOMBRES) {
    await deployment.renew(name, folder)
    await sleep(STEP_INTERVAL_MS)
  }
}

const rehearseRenewal: Scenario['run'] = ({ times }) =>
  withSteps(async (steps) => {
    const deployment = await startDeployment(steps)
    await startAll(deployment, OWN_FOLDER)
    const traffic = startTraffic(deployment)
    await sleep(STEP_INTERVAL_MS)
    for (let i = 0; i < times; i++) await renewAll(deployment, OWN_FOLDER)
    return finishRehearsal(deployment, traffic, 'relevo de todo, uno tras otro', `${times * NOMBRES.length} relevos`)
  })

const rehearseUpgrade: Scenario['run'] = () =>
  withSteps(async (steps) => {
    const base = await findBase()
    if ('missing' in base) throw new Error(base.missing)
    const before = await buildPrevious(base)
    const deployment = await startDeployment(steps)
    await startAll(deployment, before)
    const traffic = startTraffic(deployment)
    await sleep(2 * STEP_INTERVAL_MS)
    const appliedMigrations = await migrate(deployment.databaseUrl)
    // What runs is of before, and its schema isn't.
    await sleep(2 * STEP_INTERVAL_MS)
    await renewAll(deployment, OWN_FOLDER)
    const trialSummary = `${base.tag} → aquí, ${NOMBRES.length} relevos`
    const result = await finishRehearsal(deployment, traffic, 'actualización, uno tras otro', trialSummary)
    const missingMigrations = base.migrations.filter((name) => !appliedMigrations.includes(name))
    if (missingMigrations.length > 0) result.fallas.push(`${missingMigrations.join(', ')} weren't applied`)
    return result
  })

const explainMissingCaddy = async () => (HAS_CADDY ? undefined : 'there is no caddy, and no other proxy would do')

export const REHEARSAL_SCENARIOS: readonly Scenario[] = [
  {
    clave: 'relevo',
    titulo: 'every process of compose.yaml renewed under load, one after the other',
    missing: explainMissingCaddy,
    run: rehearseRenewal,
    ci: { times: 1 },
    complete: { times: 3 },
  },
  {
    clave: 'actualizacion',
    titulo: 'from the last release to this commit, under load',
    async missing() {
      const base = await findBase()
      return 'missing' in base ? base.missing : explainMissingCaddy()
    },
    run: rehearseUpgrade,
    ci: { times: 1 },
    complete: { times: 1 },
  },
]
