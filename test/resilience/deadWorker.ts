import { setTimeout as dormir } from 'node:timers/promises'
import { type Arnes, conArnes, esperar } from './harness.ts'
import { closeLedger } from './ledger.ts'
import { createAcknowledgedLote } from './load.ts'
import type { ScenarioProcess } from './processes.ts'
import { handleSlowly, randomBetween, type Scenario } from './scenario.ts'

// What a worker that is killed costs: only what it had under way comes again.

/** Longest that a killed worker's claims hold its deliveries back, in seconds. */
const RECUPERACION = 60

export const deathAfterAnswer: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const { receptor } = arnes
    const api = await arnes.api()
    await arnes.registrar(api, '/todo')
    const guias = new Map<string, string>()
    const victimas = new Map<string, number>()
    for (let i = 0; i < veces; i++) {
      const worker = await arnes.worker()
      // Few: a dead worker's lease holds its endpoint's deliveries back until it lapses.
      const killAt = Math.floor(randomBetween(1, 4))
      let nuevas = 0
      const muerto = new Promise<void>((resolve) => {
        receptor.afterAnswer = (ruta, id, arrivalNumber) => {
          if (arrivalNumber > 1 || ++nuevas !== killAt) return
          worker.matar('SIGKILL')
          victimas.set(`${ruta} ${id}`, Date.now())
          resolve()
        }
      })
      await createAcknowledgedLote(arnes, api, 3, guias)
      if (!(await Promise.race([muerto.then(() => true), dormir(60_000)])))
        arnes.quejas.push(`kill ${i + 1}: ${killAt} deliveries didn't arrive within 60 s`)
      receptor.afterAnswer = () => {}
      worker.matar('SIGKILL')
      await worker.fin
    }
    const danado = Date.now()
    await arnes.worker()
    const resultado = await closeLedger(arnes, {
      escenario: 'worker muerto tras el 2xx',
      probado: `${veces} SIGKILL`,
      load: { guias, canceladas: new Set(), fallas: [], respuestas: new Map() },
      danado,
      // One that came again may be under way at the next kill, too.
      repeticiones: veces,
    })
    // The ones that stood between answer and settling came again, soon after their worker's death.
    const tardanzas = [...victimas].map(([clave, muerte]) => {
      const segunda = receptor.receptions.get(clave)?.[1]
      return segunda ? (segunda.en - muerte) / 1000 : undefined
    })
    const repetidas = tardanzas.filter((tardanza) => tardanza !== undefined)
    const lenta = Math.max(0, ...repetidas)
    if (lenta > RECUPERACION) resultado.fallas.push(`resumed ${lenta.toFixed(1)} s after the kill`)
    resultado.notas.push(`${repetidas.length} of ${veces} victims came again, the last after ${lenta.toFixed(1)} s`)
    resultado.recuperado = lenta
    return resultado
  })

const RUTAS = ['/todo-1', '/todo-2', '/todo-3', '/todo-4']

/** What the receiver answered with success and the database doesn't know, once nobody can settle any of it any more. */
async function readUnsettled({ db, receptor }: Arnes, { pid }: ScenarioProcess): Promise<string[]> {
  const sesiones = async () =>
    (await db.pool.query('select from pg_stat_activity where application_name like $1', [`guias%pid=${pid}`])).rowCount
  await esperar(async () => (await sesiones()) === 0, 10_000, 10)
  const { rows } = await db.pool.query<{ clave: string }>(
    `select w.url || ' ' || e.evento as clave from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     where e.estado = 'pendiente'`,
  )
  return rows
    .map(({ clave }) => clave.slice(receptor.base.length))
    .filter((clave) => receptor.receptions.get(clave)?.some(({ status }) => status === 204))
}

/** In the midst of its work, at any instant: what comes twice was answered and unsettled at a kill, once for each kill. */
export const deathUnderLoad: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const { receptor } = arnes
    receptor.handle = handleSlowly
    const api = await arnes.api()
    for (const ruta of RUTAS) await arnes.registrar(api, ruta)
    const guias = new Map<string, string>()
    const unsettledCounts = new Map<string, number>()
    const porMuerte: number[] = []
    for (let i = 0; i < veces; i++) {
      const worker = await arnes.worker()
      const killAt = Math.floor(randomBetween(50, 300))
      let nuevas = 0
      const muerto = new Promise<void>((resolve) => {
        receptor.afterAnswer = () => {
          if (++nuevas !== killAt) return
          worker.matar('SIGKILL')
          resolve()
        }
      })
      await createAcknowledgedLote(arnes, api, 100, guias)
      // What the one before it held is nobody's until its leases lapse.
      if (!(await Promise.race([muerto.then(() => true), dormir(60_000)])))
        arnes.quejas.push(`kill ${i + 1}: ${killAt} deliveries didn't arrive within 60 s`)
      receptor.afterAnswer = () => {}
      worker.matar('SIGKILL')
      await worker.fin
      const claves = await readUnsettled(arnes, worker)
      porMuerte.push(claves.length)
      for (const clave of claves) unsettledCounts.set(clave, (unsettledCounts.get(clave) ?? 0) + 1)
    }
    const danado = Date.now()
    await arnes.worker()
    const resultado = await closeLedger(arnes, {
      escenario: 'worker muerto bajo carga',
      probado: `${veces} SIGKILL`,
      load: { guias, canceladas: new Set(), fallas: [], respuestas: new Map() },
      danado,
      repeticiones: veces,
      notas: [`answered and unsettled at each kill: ${porMuerte.join(', ')}`],
    })
    for (const [clave, recepciones] of receptor.receptions) {
      const repetida = recepciones.filter(({ status }) => status === 204).length - 1
      const debida = unsettledCounts.get(clave) ?? 0
      if (repetida > debida) resultado.fallas.push(`${clave} came ${repetida} times again, unsettled ${debida} times`)
    }
    if (unsettledCounts.size === 0) resultado.fallas.push('nothing was unsettled at any kill: nothing was tried')
    return resultado
  })
