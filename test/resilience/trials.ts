import { buildGuia } from '../factories.ts'
import { type Harness, wait, withHarness } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'
import { randomBetween, type Scenario } from './scenario.ts'

// Faults while the documents of proofs are made.

const PRUEBAS_PER_RESTART = 6
/** How long documents may take once PostgreSQL is back, in seconds. */
const RECUPERACION = 10
/** The same beside other tests on a busy machine. */
const LOADED_RECOVERY_SECONDS = 60

async function callApi({ llave }: Harness, api: ScenarioProcess, path: string, body: unknown) {
  const response = await fetch(`${api.url}/api/v1${path}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as { guia: string }
}

/** Makes guides that are out for delivery. */
const onRoute = (harness: Harness, api: ScenarioProcess, guiaCount: number) =>
  Promise.all(
    Array.from({ length: guiaCount }, async () => {
      const { guia } = await callApi(harness, api, '/guias', buildGuia())
      for (const estado of ['recolectado', 'en_ruta'])
        await callApi(harness, api, `/simulador/guias/${guia}/avanzar`, { estado })
      return guia
    }),
  )

/** Counts the proofs that have their PDF. */
const waitForPdf = async ({ db }: Harness): Promise<number> =>
  (await db.pool.query<{ n: number }>('select count(*)::int as n from prueba_entrega where pdf is not null')).rows[0]!.n

/** PostgreSQL dies while proofs are made: their PDFs are there soon after it is back. */
export const documentsWithoutPostgres: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const api = await harness.api()
    await harness.worker()
    const countMade = () => waitForPdf(harness)
    const recoveryTimes: number[] = []
    const faults: string[] = []
    let interruptedCount = 0
    for (let i = 0; i < times; i++) {
      const guias = await onRoute(harness, api, PRUEBAS_PER_RESTART)
      for (const guia of guias) await callApi(harness, api, `/simulador/guias/${guia}/avanzar`, { estado: 'entregado' })
      const madeBefore = PRUEBAS_PER_RESTART * i
      const madeAtFault = madeBefore + Math.floor(randomBetween(0, PRUEBAS_PER_RESTART - 2))
      await wait(async () => (await countMade()) >= madeAtFault, 150_000)
      await harness.restartPostgres('immediate')
      const backAt = Date.now()
      const expected = madeBefore + PRUEBAS_PER_RESTART
      if ((await countMade()) < expected) interruptedCount++
      const allMade = await wait(async () => (await countMade()) === expected, 150_000)
      recoveryTimes.push((Date.now() - backAt) / 1000)
      if (!allMade) faults.push(`restart ${i + 1}: ${expected - (await countMade())} proofs are without PDF`)
    }
    // On a slow machine all proofs of a round can be made between the look and the fault.
    if (interruptedCount === 0) faults.push('every proof was made before its restart: nothing was tried')
    const recoverySeconds = Math.max(...recoveryTimes)
    if (recoverySeconds > (times < 6 ? LOADED_RECOVERY_SECONDS : RECUPERACION))
      faults.push(`documents took ${recoverySeconds.toFixed(1)} s after PostgreSQL was back`)
    for (const complaint of harness.complaints.slice(0, 4)) faults.push(`log: ${complaint}`)
    return {
      scenario: 'PDF sin PostgreSQL',
      trial: `${times} reinicios, ${times * PRUEBAS_PER_RESTART} pruebas`,
      lost: 0,
      duplicateCount: 0,
      recoverySeconds,
      fallas: faults,
      notas: [`back after ${recoveryTimes.map((s) => s.toFixed(1)).join(', ')} s`],
    }
  })

/** Time within which another worker takes up the proofs that a killed worker held, in seconds. */
const TAKEOVER_SECONDS = 10
/** The same beside other tests on a busy machine. Without the rescue it is two minutes. */
const LOADED_TAKEOVER_SECONDS = 60
/** How many proofs are made before a worker is killed. */
const ANTES = 4

/** Claims after that instant of jobs that an earlier worker had claimed, by the clock of the database. */
const TAKEN_OVER_SQL = `select count(*)::int as count,
    coalesce(extract(epoch from max(started_on) - $1::timestamptz), 0)::float8 as segundos
  from pgboss.job where name = 'pruebas' and retry_count > 0 and started_on > $1`

/** Kills one of two workers in the middle of many proofs: the other one takes up what the dead one held. */
export const documentsWithDeadWorker: Scenario['run'] = ({ times, size: guiaCount = 36 }) =>
  withHarness(async (harness) => {
    const api = await harness.api()
    const { pool } = harness.db
    const now = async () => (await pool.query<{ en: Date }>('select clock_timestamp() as en')).rows[0]!.en
    const faults: string[] = []
    const takeoverTimes: number[] = []
    const pauses: number[] = []
    let takenOverCount = 0
    let victim = await harness.worker()
    // A worker that dies between two claims holds nothing.
    for (let i = 0; i < times || (takenOverCount === 0 && i < 5 * times); i++) {
      const other = await harness.worker()
      const guias = await onRoute(harness, api, guiaCount)
      const before = await waitForPdf(harness)
      const expectedPruebas = before + guiaCount
      for (const guia of guias) await callApi(harness, api, `/simulador/guias/${guia}/avanzar`, { estado: 'entregado' })
      await wait(async () => (await waitForPdf(harness)) >= before + ANTES, 60_000, 5)
      victim.kill('SIGKILL')
      await victim.fin
      const killedAt = await now()
      const allMade = await wait(async () => (await waitForPdf(harness)) === expectedPruebas, 240_000)
      if (!allMade)
        faults.push(`kill ${i + 1}: ${expectedPruebas - (await waitForPdf(harness))} proofs are without PDF`)
      const { rows } = await pool.query<{ count: number; segundos: number }>(TAKEN_OVER_SQL, [killedAt])
      takenOverCount += rows[0]!.count
      takeoverTimes.push(rows[0]!.segundos)
      const { rows: archivos } = await pool.query<{ en: Date }>(
        `select creado_en as en from archivo where tipo = 'pdf' and creado_en >= $1 order by 1`,
        [killedAt],
      )
      const instants = [killedAt, ...archivos.map(({ en: triedAt }) => triedAt)].map((triedAt) => triedAt.getTime())
      pauses.push(Math.max(0, ...instants.slice(1).map((triedAt, n) => triedAt - instants[n]!)) / 1_000)
      victim = other
    }
    const recoverySeconds = Math.max(0, ...takeoverTimes)
    if (recoverySeconds > (guiaCount < 50 ? LOADED_TAKEOVER_SECONDS : TAKEOVER_SECONDS))
      faults.push(`the dead worker's proofs were taken up ${recoverySeconds.toFixed(1)} s after its death`)
    if (takenOverCount === 0) faults.push('no worker held a proof when it was killed: nothing was tried')
    for (const complaint of harness.complaints.slice(0, 4)) faults.push(`log: ${complaint}`)
    return {
      scenario: 'PDF con un worker muerto',
      trial: `${takeoverTimes.length} SIGKILL, ${takeoverTimes.length * guiaCount} pruebas`,
      lost: 0,
      duplicateCount: 0,
      recoverySeconds,
      fallas: faults,
      notas: [
        `${takenOverCount} proofs were held at the kills, taken up after ${takeoverTimes.map((s) => s.toFixed(1)).join(', ')} s`,
        `longest time without a new document: ${pauses.map((s) => s.toFixed(1)).join(', ')} s`,
      ],
    }
  })
