import { setTimeout as dormir } from 'node:timers/promises'
import { createRandom } from '../random.ts'
import { createFleet, prepareEndpoints } from './fleet.ts'
import { conArnes, esperar } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { type MerchantLoad, startLoads } from './load.ts'
import { randomBetween, type Scenario } from './scenario.ts'

// Faults of processes, of the database and of the queue under load.

/** From now until the service takes something again, in seconds. */
async function vuelta(load: MerchantLoad): Promise<number> {
  const desde = Date.now()
  await esperar(async () => load.ultima > desde, 30_000, 10)
  return (Date.now() - desde) / 1000
}

const mayor = (numeros: readonly number[]) => Math.max(0, ...numeros).toFixed(1)

export const apiDeath: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api(), await arnes.api()]
    const workers = [await arnes.worker()]
    await prepareEndpoints(arnes, apis[0]!)
    const flota = createFleet(apis, workers, arnes)
    const load = startLoads(arnes, { apis: () => apis })
    // On until what is to be tried has happened, which is a matter of chance.
    const faltan = (i: number) => i < veces || (load.repetidas === 0 && i < 10 * veces)
    for (let i = 0; faltan(i); i++) {
      await dormir(randomBetween(200, 600))
      // Its writes are held up, so it dies for certain between asking and hearing that they are committed.
      await arnes.conCliente(async (cliente) => {
        const quien = `guias pid=${apis[0]!.pid}`
        await cliente.query('begin')
        await cliente.query('lock table guia in exclusive mode')
        await esperar(
          async () =>
            (
              await cliente.query(
                `select from pg_stat_activity where application_name = $1 and wait_event_type = 'Lock'`,
                [quien],
              )
            ).rowCount! > 0,
          3_000,
          10,
        )
        const reemplazo = flota.reemplazarApi('SIGKILL')
        await dormir(50)
        // Every second time the statement dies with its process; else it is committed and nobody hears of it.
        if (i % 2 === 0)
          await cliente.query('select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1', [
            quien,
          ])
        await cliente.query('commit')
        await reemplazo
      })
    }
    const danado = Date.now()
    await dormir(500)
    await load.stop()
    const resultado = await closeLedger(arnes, {
      escenario: 'API muerta antes y después del commit',
      probado: `${veces} SIGKILL`,
      load,
      danado,
      notas: [`${load.repetidas} repeated creations found their guide`],
    })
    if (load.repetidas === 0) resultado.fallas.push('no creation was committed without its answer: nothing was tried')
    return resultado
  })

export const postgresRestart: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await prepareEndpoints(arnes, apis[0]!)
    const load = startLoads(arnes, { apis: () => apis })
    const vueltas: number[] = []
    for (let i = 0; i < veces; i++) {
      await dormir(randomBetween(700, 1_500))
      await arnes.reiniciarPostgres(i % 2 === 0 ? 'immediate' : 'fast')
      vueltas.push(await vuelta(load))
    }
    const danado = Date.now()
    await dormir(500)
    await load.stop()
    const resultado = await closeLedger(arnes, {
      escenario: 'PostgreSQL reiniciado',
      probado: `${veces} reinicios`,
      load,
      danado,
      repeticiones: veces,
      notas: [`the API was back ${mayor(vueltas)} s after PostgreSQL at the latest`],
    })
    if (Math.max(...vueltas) > 10) resultado.fallas.push(`the API took ${mayor(vueltas)} s to come back`)
    return resultado
  })

export const cutConnections: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await prepareEndpoints(arnes, apis[0]!)
    const load = startLoads(arnes, { apis: () => apis })
    let cortadas = 0
    for (let i = 0; i < veces; i++) {
      await dormir(randomBetween(300, 900))
      cortadas += await arnes.cutConnections()
    }
    const danado = Date.now()
    await dormir(500)
    await load.stop()
    return closeLedger(arnes, {
      escenario: 'conexiones cortadas',
      probado: `${veces} veces todas, ${cortadas} sesiones`,
      load,
      danado,
      repeticiones: veces,
    })
  })

export const unansweredCommit: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    const intermediario = await arnes.intermediario()
    await arnes.worker({ databaseUrl: intermediario.databaseUrl })
    await prepareEndpoints(arnes, apis[0]!)
    const load = startLoads(arnes, { apis: () => apis })
    for (let i = 1; i <= veces; i++) {
      await dormir(randomBetween(200, 500))
      intermediario.perder(1)
      await esperar(async () => intermediario.lostCount() >= i, 10_000, 10)
    }
    const danado = Date.now()
    await dormir(500)
    await load.stop()
    const resultado = await closeLedger(arnes, {
      escenario: 'commit del saldo sin respuesta',
      probado: `${intermediario.lostCount()} commits`,
      load,
      danado,
    })
    if (intermediario.lostCount() < veces) resultado.fallas.push(`only ${intermediario.lostCount()} commits came by`)
    return resultado
  })

export const orderlyStop: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    const workers = [await arnes.worker(), await arnes.worker()]
    await prepareEndpoints(arnes, apis[0]!)
    // Now and then one that is long under way when its worker is told to stop.
    arnes.receptor.handle = async () => {
      await dormir(Math.random() < 0.005 ? 3_000 : randomBetween(0, 60))
      return 204
    }
    const flota = createFleet(apis, workers, arnes)
    const load = startLoads(arnes, { apis: () => apis, rate: 25 })
    const salidas: number[] = []
    for (let i = 0; i < veces; i++) {
      await dormir(randomBetween(300, 900))
      salidas.push(await flota.reemplazarWorker('SIGTERM'))
    }
    const danado = Date.now()
    await load.stop()
    return closeLedger(arnes, {
      escenario: 'SIGTERM y relevo de workers',
      probado: `${veces} SIGTERM`,
      load,
      danado,
      recuperacion: 30,
      notas: [`the slowest exit took ${mayor(salidas)} s`],
    })
  })

export const chaos: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const semilla = Number(process.env.SEMILLA ?? Math.floor(Math.random() * 1e9))
    const azar = createRandom(semilla)
    const [api, ...otherProcesses] = await Promise.all([arnes.api(), arnes.api(), arnes.worker(), arnes.worker()])
    const apis = [api, otherProcesses[0]!]
    const workers = otherProcesses.slice(1)
    await prepareEndpoints(arnes, api)
    const flota = createFleet(apis, workers, arnes)
    const danos: Record<string, () => Promise<unknown>> = {
      'kill worker': () => flota.reemplazarWorker('SIGKILL'),
      'kill API': () => flota.reemplazarApi('SIGKILL'),
      'TERM worker': () => flota.reemplazarWorker('SIGTERM'),
      'TERM API': () => flota.reemplazarApi('SIGTERM'),
      'PostgreSQL immediate': () => arnes.reiniciarPostgres('immediate'),
      'PostgreSQL fast': () => arnes.reiniciarPostgres('fast'),
      conexiones: () => arnes.cutConnections(),
      cola: () => arnes.conCliente((cliente) => cliente.query('delete from pgboss.job')),
    }
    const load = startLoads(arnes, { apis: () => apis })
    const hechos: string[] = []
    const nombres = Object.keys(danos)
    while (hechos.length < veces) {
      // Each kind once before any comes again.
      if (nombres.length === 0) nombres.push(...Object.keys(danos))
      const [nombre] = nombres.splice(Math.floor(azar() * nombres.length), 1)
      await dormir(randomBetween(200, 1_200, azar))
      await danos[nombre!]!()
      hechos.push(nombre!)
    }
    const danado = Date.now()
    await dormir(500)
    await load.stop()
    return closeLedger(arnes, {
      escenario: 'de todo al azar, 2 API y 2 workers',
      probado: `${veces} daños`,
      load,
      danado,
      timeout: 90_000,
      repeticiones: veces,
      notas: [`SEMILLA=${semilla}`, hechos.join(', ')],
    })
  })

export const lostQueue: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const apis = [await arnes.api()]
    await arnes.worker()
    await prepareEndpoints(arnes, apis[0]!)
    // Slow enough that there is something under way.
    arnes.receptor.handle = async () => {
      await dormir(randomBetween(50, 250))
      return 204
    }
    // An endpoint gets four at a time: about 25 a second.
    const load = startLoads(arnes, { apis: () => apis, rate: 10 })
    let perdidos = 0
    for (let i = 0; i < veces; i++) {
      await dormir(randomBetween(200, 600))
      await esperar(
        async () => (await arnes.db.pool.query(`select from pgboss.job where name = 'arriendos' limit 1`)).rowCount,
        2_000,
        5,
      )
      perdidos += (await arnes.db.pool.query('delete from pgboss.job')).rowCount ?? 0
    }
    const danado = Date.now()
    await load.stop()
    return closeLedger(arnes, {
      escenario: 'cola borrada',
      probado: `${veces} veces, ${perdidos} trabajos`,
      load,
      danado,
      recuperacion: 30,
      repeticiones: veces,
    })
  })
