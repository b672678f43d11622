import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import type { Part } from '../../server/data/parts.ts'
import { ROOT } from '../../server/platform/root.ts'
import { useEnvironment } from '../environment.ts'
import { openShards } from '../postgres.ts'

const entorno = useEnvironment()

/** What is about everybody's rows, and asks every machine by the coordinator: why nobody's request waits for it, or must. */
const A_TODAS: Readonly<Record<string, string>> = {
  'metricas.webhooks': 'metrics',
  'metricas.pendientes': 'metrics',
  'metricas.atraso': 'metrics',
  'metricas.sinPdf': 'metrics',
  'metricas.atrasoDePdf': 'metrics',
  'buzon.ultimos': 'the mailbox of the embedded default',
  'personas.exportar': 'a person, at the console',
  'personas.enCurso': 'a person, at the console',
  'repartidores.suyas': 'what a courier carries, of all merchants',
  'repartidores.terminadas': 'what a courier finished today, of all merchants',
  'owners.of': 'several keys, each on its machine',
  'owners.note': 'new files and links, each on its machine',
  'owners.forget': 'files and links that are gone, each on its machine',
}

const UNO = '11111111-1111-4111-8111-111111111111'

/** A value of that type, as SQL. */
function valor(tipo: string, nombre: string): string {
  if (nombre === 'comercio_id') return `'${UNO}'::uuid`
  if (tipo.endsWith('[]')) return `array[${valor(tipo.slice(0, -2), '')}]::${tipo}`
  if (tipo === 'uuid') return `'22222222-2222-4222-8222-222222222222'::uuid`
  if (nombre === 'fecha') return `'2026-11-20'::${tipo}`
  if (tipo === 'text') return `'test'::text`
  if (tipo === 'boolean') return 'true'
  if (tipo === 'json' || tipo === 'jsonb') return `'[{"comercio_id": "${UNO}", "modo": "test", "n": 1}]'::${tipo}`
  if (tipo === 'pg_snapshot') return `'1:1:'::pg_snapshot`
  if (tipo === 'bytea') return `'\\x00'::bytea`
  return tipo.startsWith('time') || tipo === 'date' ? `'2026-11-20'::${tipo}` : `'1'::${tipo}`
}

/** The plan of a statement, of made-up values. */
async function planDe(cliente: pg.ClientBase, nombre: string): Promise<string[]> {
  const { text, parameters: parametros } = STATEMENTS.get(nombre)!
  await cliente.query(`prepare esta as ${text}`)
  const { rows } = await cliente.query<{ tipos: string[] }>(
    `select parameter_types::text[] as tipos from pg_prepared_statements where name = 'esta'`,
  )
  const conValores = text.replace(/\$(\d+)/g, (_todo, i) =>
    valor(rows[0]!.tipos[Number(i) - 1]!, parametros[Number(i) - 1]!),
  )
  const plan = await cliente.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${conValores}`)
  return plan.rows.map((fila) => fila['QUERY PLAN'])
}

/** What is wrong with a statement where it is run; undefined if nothing is. */
async function pegaDe(nombre: string, parte: Part): Promise<string | undefined> {
  const { reach } = STATEMENTS.get(nombre)!
  const cliente = new pg.Client({ connectionString: reach === 'central' ? entorno.databaseUrl : parte.url })
  await cliente.connect()
  try {
    if (reach !== 'central') await cliente.query(`set search_path = ${parte.schema}`)
    const lineas = await planDe(cliente, nombre)
    if (reach !== 'central') return lineas.some((linea) => linea.includes('Citus')) ? 'is planned by Citus' : undefined
    const tareas = Math.max(0, ...lineas.map((linea) => Number(/Task Count: (\d+)/.exec(linea)?.[1] ?? 0)))
    return tareas > 1 ? `asks ${tareas} parts` : undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await cliente.end()
  }
}

it('each statement about rows of one part is PostgreSQL’s own there, and few ask every machine', async () => {
  const archivos = globSync('server/**/*.ts', {
    cwd: fileURLToPath(ROOT),
    exclude: (ruta) => ruta.includes('generated'),
  })
  for (const archivo of archivos) {
    const ruta = fileURLToPath(new URL(archivo, ROOT))
    if (!ruta.endsWith('server/data/db.ts') && /\bstatement(<|\()/.test(readFileSync(ruta, 'utf8'))) await import(ruta)
  }
  const [parte] = (await openShards(entorno.databaseUrl))!.parts()
  const halladas: Record<string, string> = {}
  for (const nombre of STATEMENTS.keys()) {
    const pega = await pegaDe(nombre, parte!)
    if (pega && !(nombre in A_TODAS)) halladas[nombre] = pega
  }
  expect(halladas).toEqual({})
  expect(Object.keys(A_TODAS).filter((nombre) => STATEMENTS.get(nombre)?.reach !== 'central')).toEqual([])
})
