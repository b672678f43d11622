import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { expect, it } from 'vitest'
import { STATEMENTS } from '../../server/data/db.ts'
import type { Part } from '../../server/data/parts.ts'
import { ROOT } from '../../server/platform/root.ts'
import { useEnvironment } from '../environment.ts'
import { openShards } from '../postgres.ts'

const environment = useEnvironment()

/** What is about everybody's rows, and asks every machine by the coordinator: why nobody's request waits for it, or must. */
const A_TODAS: Readonly<Record<string, string>> = {
  'metrics.estados': 'metrics',
  'metrics.pending': 'metrics',
  'metrics.deliveryDelay': 'metrics',
  'metrics.withoutPdf': 'metrics',
  'metrics.pdfDelay': 'metrics',
  'buzon.latestMensajes': 'the mailbox of the embedded default',
  'personas.export': 'a person, at the console',
  'personas.ongoing': 'a person, at the console',
  'repartidores.findCarried': 'what a courier carries, of all merchants',
  'repartidores.findFinished': 'what a courier finished today, of all merchants',
  'owners.ownersByKey': 'several keys, each on its machine',
  'owners.insert': 'new files and links, each on its machine',
  'owners.delete': 'files and links that are gone, each on its machine',
}

const ANY_UUID = '11111111-1111-4111-8111-111111111111'

/** A value of that type, as SQL. */
function value(tipo: string, name: string): string {
  if (name === 'comercio_id') return `'${ANY_UUID}'::uuid`
  if (tipo.endsWith('[]')) return `array[${value(tipo.slice(0, -2), '')}]::${tipo}`
  if (tipo === 'uuid') return `'22222222-2222-4222-8222-222222222222'::uuid`
  if (name === 'fecha') return `'2026-11-20'::${tipo}`
  if (tipo === 'text') return `'test'::text`
  if (tipo === 'boolean') return 'true'
  if (tipo === 'json' || tipo === 'jsonb') return `'[{"comercio_id": "${ANY_UUID}", "modo": "test", "n": 1}]'::${tipo}`
  if (tipo === 'pg_snapshot') return `'1:1:'::pg_snapshot`
  if (tipo === 'bytea') return `'\\x00'::bytea`
  return tipo.startsWith('time') || tipo === 'date' ? `'2026-11-20'::${tipo}` : `'1'::${tipo}`
}

/** The plan of a statement, of made-up values. */
async function planOf(client: pg.ClientBase, name: string): Promise<string[]> {
  const { text, parameters } = STATEMENTS.get(name)!
  await client.query(`prepare esta as ${text}`)
  const { rows } = await client.query<{ tipos: string[] }>(
    `select parameter_types::text[] as tipos from pg_prepared_statements where name = 'esta'`,
  )
  const withValues = text.replace(/\$(\d+)/g, (_match, i) =>
    value(rows[0]!.tipos[Number(i) - 1]!, parameters[Number(i) - 1]!),
  )
  const plan = await client.query<{ 'QUERY PLAN': string }>(`explain (costs off) ${withValues}`)
  return plan.rows.map((row) => row['QUERY PLAN'])
}

/** What is wrong with a statement where it is run; undefined if nothing is. */
async function findFlaw(name: string, part: Part): Promise<string | undefined> {
  const { reach } = STATEMENTS.get(name)!
  const client = new pg.Client({ connectionString: reach === 'central' ? environment.databaseUrl : part.url })
  await client.connect()
  try {
    if (reach !== 'central') await client.query(`set search_path = ${part.schema}`)
    const lines = await planOf(client, name)
    if (reach !== 'central') return lines.some((line) => line.includes('Citus')) ? 'is planned by Citus' : undefined
    const taskCount = Math.max(0, ...lines.map((line) => Number(/Task Count: (\d+)/.exec(line)?.[1] ?? 0)))
    return taskCount > 1 ? `asks ${taskCount} parts` : undefined
  } catch (error) {
    return (error as Error).message
  } finally {
    await client.end()
  }
}

it('each statement about rows of one part is PostgreSQL’s own there, and few ask every machine', async () => {
  const archivos = globSync('server/**/*.ts', {
    cwd: fileURLToPath(ROOT),
    exclude: (path) => path.includes('generated'),
  })
  for (const file of archivos) {
    const path = fileURLToPath(new URL(file, ROOT))
    if (!path.endsWith('server/data/db.ts') && /\bstatement(<|\()/.test(readFileSync(path, 'utf8'))) await import(path)
  }
  const [part] = (await openShards(environment.databaseUrl))!.parts()
  const findings: Record<string, string> = {}
  for (const name of STATEMENTS.keys()) {
    const flaw = await findFlaw(name, part!)
    if (flaw && !(name in A_TODAS)) findings[name] = flaw
  }
  expect(findings).toEqual({})
  expect(Object.keys(A_TODAS).filter((name) => STATEMENTS.get(name)?.reach !== 'central')).toEqual([])
})
