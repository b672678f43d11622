import { setTimeout as dormir } from 'node:timers/promises'
import { buildGuia } from '../factories.ts'
import { type Arnes, conArnes, esperar } from './harness.ts'
import type { ScenarioProcess } from './processes.ts'
import { randomBetween, type Scenario } from './scenario.ts'

// Faults while the documents of proofs are made.

const PRUEBAS_PER_RESTART = 6
/** How long documents may take once PostgreSQL is back, in seconds. */
const RECUPERACION = 10
/** The same beside other tests on a busy machine. */
const LOADED_RECOVERY_SECONDS = 60

async function callApi({ llave }: Arnes, api: ScenarioProcess, ruta: string, cuerpo: unknown) {
  const respuesta = await fetch(`${api.url}/api/v1${ruta}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(cuerpo),
  })
  if (!respuesta.ok) throw new Error(`${ruta}: ${respuesta.status} ${await respuesta.text()}`)
  return (await respuesta.json()) as { guia: string }
}

/** Makes guides that are out for delivery. */
const enRuta = (arnes: Arnes, api: ScenarioProcess, guiaCount: number) =>
  Promise.all(
    Array.from({ length: guiaCount }, async () => {
      const { guia } = await callApi(arnes, api, '/guias', buildGuia())
      for (const estado of ['recolectado', 'en_ruta'])
        await callApi(arnes, api, `/simulador/guias/${guia}/avanzar`, { estado })
      return guia
    }),
  )

/** Counts the proofs that have their PDF. */
const conPdf = async ({ db }: Arnes): Promise<number> =>
  (await db.pool.query<{ n: number }>('select count(*)::int as n from prueba_entrega where pdf is not null')).rows[0]!.n

/** PostgreSQL dies while proofs are made: their PDFs are there soon after it is back. */
export const documentsWithoutPostgres: Scenario['correr'] = ({ times: veces }) =>
  conArnes(async (arnes) => {
    const api = await arnes.api()
    await arnes.worker()
    const hechos = () => conPdf(arnes)
    const vueltas: number[] = []
    const fallas: string[] = []
    for (let i = 0; i < veces; i++) {
      const guias = await enRuta(arnes, api, PRUEBAS_PER_RESTART)
      for (const guia of guias) await callApi(arnes, api, `/simulador/guias/${guia}/avanzar`, { estado: 'entregado' })
      await dormir(randomBetween(0, 400))
      const antes = await hechos()
      await arnes.reiniciarPostgres('immediate')
      const vuelta = Date.now()
      const expectedPruebas = PRUEBAS_PER_RESTART * (i + 1)
      const listos = await esperar(async () => (await hechos()) === expectedPruebas, 150_000)
      vueltas.push((Date.now() - vuelta) / 1000)
      if (!listos) fallas.push(`restart ${i + 1}: ${expectedPruebas - (await hechos())} proofs are without PDF`)
      if (antes === expectedPruebas) fallas.push(`restart ${i + 1}: everything was made before it: nothing was tried`)
    }
    const recuperado = Math.max(...vueltas)
    if (recuperado > (veces < 6 ? LOADED_RECOVERY_SECONDS : RECUPERACION))
      fallas.push(`documents took ${recuperado.toFixed(1)} s after PostgreSQL was back`)
    for (const queja of arnes.quejas.slice(0, 4)) fallas.push(`log: ${queja}`)
    return {
      escenario: 'PDF sin PostgreSQL',
      probado: `${veces} reinicios, ${veces * PRUEBAS_PER_RESTART} pruebas`,
      lost: 0,
      duplicado: 0,
      recuperado,
      fallas,
      notas: [`back after ${vueltas.map((s) => s.toFixed(1)).join(', ')} s`],
    }
  })

/** Time within which another worker takes up the proofs that a killed worker held, in seconds. */
const RELEVO = 10
/** The same beside other tests on a busy machine. Without the rescue it is two minutes. */
const LOADED_TAKEOVER_SECONDS = 60
/** How many proofs are made before a worker is killed. */
const ANTES = 4

/** Claims after that instant of jobs that an earlier worker had claimed, by the clock of the database. */
const RELEVADAS = `select count(*)::int as count,
    coalesce(extract(epoch from max(started_on) - $1::timestamptz), 0)::float8 as segundos
  from pgboss.job where name = 'pruebas' and retry_count > 0 and started_on > $1`

/** Kills one of two workers in the middle of many proofs: the other one takes up what the dead one held. */
export const documentsWithDeadWorker: Scenario['correr'] = ({ times: veces, size: guiaCount = 36 }) =>
  conArnes(async (arnes) => {
    const api = await arnes.api()
    const { pool } = arnes.db
    const ahora = async () => (await pool.query<{ en: Date }>('select clock_timestamp() as en')).rows[0]!.en
    const fallas: string[] = []
    const relevos: number[] = []
    const pausas: number[] = []
    let relevadas = 0
    let victima = await arnes.worker()
    // A worker that dies between two claims holds nothing.
    for (let i = 0; i < veces || (relevadas === 0 && i < 5 * veces); i++) {
      const otro = await arnes.worker()
      const guias = await enRuta(arnes, api, guiaCount)
      const antes = await conPdf(arnes)
      const expectedPruebas = antes + guiaCount
      for (const guia of guias) await callApi(arnes, api, `/simulador/guias/${guia}/avanzar`, { estado: 'entregado' })
      await esperar(async () => (await conPdf(arnes)) >= antes + ANTES, 60_000, 5)
      victima.matar('SIGKILL')
      await victima.fin
      const muerte = await ahora()
      const listos = await esperar(async () => (await conPdf(arnes)) === expectedPruebas, 240_000)
      if (!listos) fallas.push(`kill ${i + 1}: ${expectedPruebas - (await conPdf(arnes))} proofs are without PDF`)
      const { rows } = await pool.query<{ count: number; segundos: number }>(RELEVADAS, [muerte])
      relevadas += rows[0]!.count
      relevos.push(rows[0]!.segundos)
      const { rows: archivos } = await pool.query<{ en: Date }>(
        `select creado_en as en from archivo where tipo = 'pdf' and creado_en >= $1 order by 1`,
        [muerte],
      )
      const instantes = [muerte, ...archivos.map(({ en }) => en)].map((en) => en.getTime())
      pausas.push(Math.max(0, ...instantes.slice(1).map((en, n) => en - instantes[n]!)) / 1_000)
      victima = otro
    }
    const recuperado = Math.max(0, ...relevos)
    if (recuperado > (guiaCount < 50 ? LOADED_TAKEOVER_SECONDS : RELEVO))
      fallas.push(`the dead worker's proofs were taken up ${recuperado.toFixed(1)} s after its death`)
    if (relevadas === 0) fallas.push('no worker held a proof when it was killed: nothing was tried')
    for (const queja of arnes.quejas.slice(0, 4)) fallas.push(`log: ${queja}`)
    return {
      escenario: 'PDF con un worker muerto',
      probado: `${relevos.length} SIGKILL, ${relevos.length * guiaCount} pruebas`,
      lost: 0,
      duplicado: 0,
      recuperado,
      fallas,
      notas: [
        `${relevadas} proofs were held at the kills, taken up after ${relevos.map((s) => s.toFixed(1)).join(', ')} s`,
        `longest time without a new document: ${pausas.map((s) => s.toFixed(1)).join(', ')} s`,
      ],
    }
  })
