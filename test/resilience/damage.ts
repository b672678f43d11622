import { setTimeout as sleep } from 'node:timers/promises'
import { createRandom } from '../random.ts'
import { createFleet, prepareEndpoints } from './fleet.ts'
import { wait, withHarness } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { type MerchantLoad, startLoads } from './load.ts'
import { randomBetween, type Scenario } from './scenario.ts'

// Faults of processes, of the database and of the queue under load.

/** From now until the service takes something again, in seconds. */
async function measureRecoverySeconds(load: MerchantLoad): Promise<number> {
  const from = Date.now()
  await wait(async () => load.ultima > from, 30_000, 10)
  return (Date.now() - from) / 1000
}

const formatMax = (numbers: readonly number[]) => Math.max(0, ...numbers).toFixed(1)

export const apiDeath: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api(), await harness.api()]
    const workers = [await harness.worker()]
    await prepareEndpoints(harness, apis[0]!)
    const fleet = createFleet(apis, workers, harness)
    const load = startLoads(harness, { apis: () => apis })
    // On until what is to be tried has happened, which is a matter of chance.
    const mustRepeat = (i: number) => i < times || (load.repetidas === 0 && i < 10 * times)
    for (let i = 0; mustRepeat(i); i++) {
      await sleep(randomBetween(200, 600))
      // Its writes are held up, so it dies for certain between asking and hearing that they are committed.
      await harness.withClient(async (client) => {
        const caller = `guias pid=${apis[0]!.pid}`
        await client.query('begin')
        await client.query('lock table guia in exclusive mode')
        await wait(
          async () =>
            (
              await client.query(
                `select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
                [caller],
              )
            ).rowCount! > 0,
          3_000,
          10,
        )
        const replacement = fleet.replaceApi('SIGKILL')
        await sleep(50)
        // Every second time the statement dies with its process; else it is committed and nobody hears of it.
        if (i % 2 === 0)
          await client.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
            caller,
          ])
        await client.query('commit')
        await replacement
      })
    }
    const danado = Date.now()
    await sleep(500)
    await load.stop()
    const result = await closeLedger(harness, {
      scenario: 'API muerta antes y después del commit',
      trial: `${times} SIGKILL`,
      load,
      danado,
      notas: [`${load.repetidas} repeated creations found their guide`],
    })
    if (load.repetidas === 0) result.fallas.push('no creation was committed without its answer: nothing was tried')
    return result
  })

export const postgresRestart: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    await harness.worker()
    await prepareEndpoints(harness, apis[0]!)
    const load = startLoads(harness, { apis: () => apis })
    const recoveryTimes: number[] = []
    for (let i = 0; i < times; i++) {
      await sleep(randomBetween(700, 1_500))
      await harness.restartPostgres(i % 2 === 0 ? 'immediate' : 'fast')
      recoveryTimes.push(await measureRecoverySeconds(load))
    }
    const danado = Date.now()
    await sleep(500)
    await load.stop()
    const result = await closeLedger(harness, {
      scenario: 'PostgreSQL reiniciado',
      trial: `${times} reinicios`,
      load,
      danado,
      allowedRepeats: times,
      notas: [`the API was back ${formatMax(recoveryTimes)} s after PostgreSQL at the latest`],
    })
    if (Math.max(...recoveryTimes) > 10) result.fallas.push(`the API took ${formatMax(recoveryTimes)} s to come back`)
    return result
  })

export const cutConnections: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    await harness.worker()
    await prepareEndpoints(harness, apis[0]!)
    const load = startLoads(harness, { apis: () => apis })
    let cutCount = 0
    for (let i = 0; i < times; i++) {
      await sleep(randomBetween(300, 900))
      cutCount += await harness.cutConnections()
    }
    const danado = Date.now()
    await sleep(500)
    await load.stop()
    return closeLedger(harness, {
      scenario: 'conexiones cortadas',
      trial: `${times} veces todas, ${cutCount} sesiones`,
      load,
      danado,
      allowedRepeats: times,
    })
  })

export const unansweredCommit: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    const databaseProxy = await harness.openDatabaseProxy()
    await harness.worker({ databaseUrl: databaseProxy.databaseUrl })
    await prepareEndpoints(harness, apis[0]!)
    const load = startLoads(harness, { apis: () => apis })
    for (let i = 1; i <= times; i++) {
      await sleep(randomBetween(200, 500))
      databaseProxy.loseCommits(1)
      await wait(async () => databaseProxy.lostCount() >= i, 10_000, 10)
    }
    const danado = Date.now()
    await sleep(500)
    await load.stop()
    const result = await closeLedger(harness, {
      scenario: 'commit del saldo sin respuesta',
      trial: `${databaseProxy.lostCount()} commits`,
      load,
      danado,
    })
    if (databaseProxy.lostCount() < times) result.fallas.push(`only ${databaseProxy.lostCount()} commits came by`)
    return result
  })

export const orderlyStop: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    const workers = [await harness.worker(), await harness.worker()]
    await prepareEndpoints(harness, apis[0]!)
    // Now and then one that is long under way when its worker is told to stop.
    harness.receptor.handle = async () => {
      await sleep(Math.random() < 0.005 ? 3_000 : randomBetween(0, 60))
      return 204
    }
    const fleet = createFleet(apis, workers, harness)
    const load = startLoads(harness, { apis: () => apis, rate: 25 })
    const exitTimes: number[] = []
    for (let i = 0; i < times; i++) {
      await sleep(randomBetween(300, 900))
      exitTimes.push(await fleet.replaceWorker('SIGTERM'))
    }
    const danado = Date.now()
    await load.stop()
    return closeLedger(harness, {
      scenario: 'SIGTERM y relevo de workers',
      trial: `${times} SIGTERM`,
      load,
      danado,
      recuperacion: 30,
      notas: [`the slowest exit took ${formatMax(exitTimes)} s`],
    })
  })

export const chaos: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e9))
    const random = createRandom(seed)
    const [api, ...otherProcesses] = await Promise.all([
      harness.api(),
      harness.api(),
      harness.worker(),
      harness.worker(),
    ])
    const apis = [api, otherProcesses[0]!]
    const workers = otherProcesses.slice(1)
    await prepareEndpoints(harness, api)
    const fleet = createFleet(apis, workers, harness)
    const faults: Record<string, () => Promise<unknown>> = {
      'kill worker': () => fleet.replaceWorker('SIGKILL'),
      'kill API': () => fleet.replaceApi('SIGKILL'),
      'TERM worker': () => fleet.replaceWorker('SIGTERM'),
      'TERM API': () => fleet.replaceApi('SIGTERM'),
      'PostgreSQL immediate': () => harness.restartPostgres('immediate'),
      'PostgreSQL fast': () => harness.restartPostgres('fast'),
      connections: () => harness.cutConnections(),
      cola: () => harness.withClient((client) => client.query('delete from pgboss.job')),
    }
    const load = startLoads(harness, { apis: () => apis })
    const doneFaults: string[] = []
    const names = Object.keys(faults)
    while (doneFaults.length < times) {
      // Each kind once before any comes again.
      if (names.length === 0) names.push(...Object.keys(faults))
      const [name] = names.splice(Math.floor(random() * names.length), 1)
      await sleep(randomBetween(200, 1_200, random))
      await faults[name!]!()
      doneFaults.push(name!)
    }
    const danado = Date.now()
    await sleep(500)
    await load.stop()
    return closeLedger(harness, {
      scenario: 'de todo al azar, 2 API y 2 workers',
      trial: `${times} daños`,
      load,
      danado,
      timeout: 90_000,
      allowedRepeats: times,
      notas: [`SEED=${seed}`, doneFaults.join(', ')],
    })
  })

export const lostQueue: Scenario['run'] = ({ times }) =>
  withHarness(async (harness) => {
    const apis = [await harness.api()]
    await harness.worker()
    await prepareEndpoints(harness, apis[0]!)
    // Slow enough that there is something under way.
    harness.receptor.handle = async () => {
      await sleep(randomBetween(50, 250))
      return 204
    }
    // An endpoint gets four at a time: about 25 a second.
    const load = startLoads(harness, { apis: () => apis, rate: 10 })
    let lostJobs = 0
    let lostLeases = 0
    for (let i = 0; i < times; i++) {
      await sleep(randomBetween(200, 600))
      await wait(async () => (await harness.db.pool.query(`select from webhook_arriendo limit 1`)).rowCount, 2_000, 5)
      lostJobs += (await harness.db.pool.query('delete from pgboss.job')).rowCount ?? 0
      lostLeases += (await harness.db.pool.query('delete from webhook_arriendo')).rowCount ?? 0
    }
    const danado = Date.now()
    await load.stop()
    return closeLedger(harness, {
      scenario: 'cola borrada',
      trial: `${times} veces, ${lostJobs} trabajos, ${lostLeases} arriendos`,
      load,
      danado,
      recuperacion: 30,
      allowedRepeats: times,
    })
  })
