import { setTimeout as dormir } from 'node:timers/promises'
import { unaGuia } from '../fabricas.ts'
import { type Arnes, conArnes, esperar } from './arnes.ts'
import { type Escenario, entre } from './escenario.ts'
import type { Proceso } from './procesos.ts'

// What becomes of documents when PostgreSQL goes away while they are made.

const CUANTAS = 6
/** How long documents may take once PostgreSQL is back, in seconds. */
const RECUPERACION = 10

async function llamar({ llave }: Arnes, api: Proceso, ruta: string, cuerpo: unknown) {
  const respuesta = await fetch(`${api.url}/api/v1${ruta}`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${llave}`, 'Content-Type': 'application/json' },
    body: JSON.stringify(cuerpo),
  })
  if (!respuesta.ok) throw new Error(`${ruta}: ${respuesta.status} ${await respuesta.text()}`)
  return (await respuesta.json()) as { guia: string }
}

/** Guides that are out for delivery. */
const enRuta = (arnes: Arnes, api: Proceso) =>
  Promise.all(
    Array.from({ length: CUANTAS }, async () => {
      const { guia } = await llamar(arnes, api, '/guias', unaGuia())
      for (const estado of ['recolectado', 'en_ruta'])
        await llamar(arnes, api, `/simulador/guias/${guia}/avanzar`, { estado })
      return guia
    }),
  )

/** PostgreSQL dies while proofs are made: their PDFs are there soon after it is back. */
export const documentosSinPostgres: Escenario['correr'] = ({ veces }) =>
  conArnes(async (arnes) => {
    const api = await arnes.api()
    await arnes.worker()
    const hechos = async () =>
      (await arnes.db.pool.query<{ n: number }>('select count(*)::int as n from prueba_entrega where pdf is not null'))
        .rows[0]!.n
    const vueltas: number[] = []
    const fallas: string[] = []
    for (let i = 0; i < veces; i++) {
      const guias = await enRuta(arnes, api)
      for (const guia of guias) await llamar(arnes, api, `/simulador/guias/${guia}/avanzar`, { estado: 'entregado' })
      await dormir(entre(0, 400))
      const antes = await hechos()
      await arnes.reiniciarPostgres('immediate')
      const vuelta = Date.now()
      const todos = CUANTAS * (i + 1)
      const listos = await esperar(async () => (await hechos()) === todos, 150_000)
      vueltas.push((Date.now() - vuelta) / 1000)
      if (!listos) fallas.push(`restart ${i + 1}: ${todos - (await hechos())} proofs are without PDF`)
      if (antes === todos) fallas.push(`restart ${i + 1}: everything was made before it: nothing was tried`)
    }
    const recuperado = Math.max(...vueltas)
    if (recuperado > RECUPERACION) fallas.push(`documents took ${recuperado.toFixed(1)} s after PostgreSQL was back`)
    for (const queja of arnes.quejas.slice(0, 4)) fallas.push(`log: ${queja}`)
    return {
      escenario: 'PDF sin PostgreSQL',
      probado: `${veces} reinicios, ${veces * CUANTAS} pruebas`,
      perdido: 0,
      duplicado: 0,
      recuperado,
      fallas,
      notas: [`back after ${vueltas.map((s) => s.toFixed(1)).join(', ')} s`],
    }
  })
