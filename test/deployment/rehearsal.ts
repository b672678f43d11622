import { setTimeout as dormir } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { buildPrevious, findBase } from '../../scripts/previous/migration.ts'
import { ROOT } from '../../server/platform/root.ts'
import { migrate } from '../../server/startup/migrations.ts'
import { esperar } from '../resilience/harness.ts'
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
const ENTRE_PASOS = 1_500

async function startAll(despliegue: Deployment, folder: string): Promise<void> {
  const [firstName, ...otherNames] = NOMBRES
  // The first migrates.
  await despliegue.start(firstName!, folder)
  await Promise.all(otherNames.map((nombre) => despliegue.start(nombre, folder)))
  await despliegue.poblar(folder, { '/todo': ['*'], '/canceladas': ['guia.cancelado'] })
  despliegue.receptor.handle = handleSlowly
  const pool = openPool(despliegue, 1)
  // Until the proxy has asked everybody how he is.
  const sirve = async () => (await requestThroughProxy(pool, despliegue.llave, '/cuenta')).status === 200
  if (!(await esperar(sirve, 15_000, 500))) throw new Error('the proxy serves nothing')
  await pool.close()
}

/** Closes the books, once every proof has its PDF. */
async function cerrar(
  despliegue: Deployment,
  traffic: Traffic,
  escenario: string,
  probado: string,
): Promise<ScenarioResult> {
  const danado = Date.now()
  await dormir(ENTRE_PASOS)
  await traffic.stop()
  const countWithoutPdf = async () =>
    (await despliegue.db.pool.query<{ n: number }>('select count(*)::int as n from prueba_entrega where pdf is null'))
      .rows[0]!.n
  const listas = await esperar(async () => (await countWithoutPdf()) === 0, 60_000)
  const resultado = await closeLedger(despliegue, {
    escenario,
    probado: `${probado}, ${traffic.bien()} solicitudes`,
    load: traffic,
    danado,
  })
  if (!listas) resultado.fallas.push(`${await countWithoutPdf()} proofs are without PDF`)
  for (const aviso of despliegue.avisos.keys()) if (aviso.startsWith('start')) resultado.fallas.push(aviso)
  if (traffic.bien() < 100) resultado.fallas.push(`${traffic.bien()} good requests: nothing was tried`)
  return resultado
}

async function renewAll(despliegue: Deployment, folder: string): Promise<void> {
  for (const nombre of NOMBRES) {
    await despliegue.renew(nombre, folder)
    await dormir(ENTRE_PASOS)
  }
}

const relevo: Scenario['correr'] = ({ times: veces }) =>
  withSteps(async (pasos) => {
    const despliegue = await startDeployment(pasos)
    await startAll(despliegue, OWN_FOLDER)
    const traffic = startTraffic(despliegue)
    await dormir(ENTRE_PASOS)
    for (let i = 0; i < veces; i++) await renewAll(despliegue, OWN_FOLDER)
    return cerrar(despliegue, traffic, 'relevo de todo, uno tras otro', `${veces * NOMBRES.length} relevos`)
  })

const actualizacion: Scenario['correr'] = () =>
  withSteps(async (pasos) => {
    const base = await findBase()
    if ('missing' in base) throw new Error(base.missing)
    const antes = await buildPrevious(base)
    const despliegue = await startDeployment(pasos)
    await startAll(despliegue, antes)
    const traffic = startTraffic(despliegue)
    await dormir(2 * ENTRE_PASOS)
    const aplicadas = await migrate(despliegue.databaseUrl)
    // What runs is of before, and its schema isn't.
    await dormir(2 * ENTRE_PASOS)
    await renewAll(despliegue, OWN_FOLDER)
    const probado = `${base.tag} → aquí, ${NOMBRES.length} relevos`
    const resultado = await cerrar(despliegue, traffic, 'actualización, uno tras otro', probado)
    const faltan = base.migrations.filter((nombre) => !aplicadas.includes(nombre))
    if (faltan.length > 0) resultado.fallas.push(`${faltan.join(', ')} weren't applied`)
    return resultado
  })

const explainMissingCaddy = async () => (HAS_CADDY ? undefined : 'there is no caddy, and no other proxy would do')

export const REHEARSAL_SCENARIOS: readonly Scenario[] = [
  {
    clave: 'relevo',
    titulo: 'every process of compose.yaml renewed under load, one after the other',
    missing: explainMissingCaddy,
    correr: relevo,
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
    correr: actualizacion,
    ci: { times: 1 },
    complete: { times: 1 },
  },
]
