import pg from 'pg'
import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'

const environment = useEnvironment()

/** Runs as a role, for some merchants, and undoes it. */
async function como(rol: string, comercios: readonly string[] | undefined, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  try {
    await client.query(`set citus.propagate_set_commands to 'local'; begin; set local role ${rol}`)
    if (comercios) await client.query(`set local guias.comercios = '{${comercios}}'`)
    return await client.query(sql)
  } finally {
    await client.end()
  }
}

it('the wall stands on every machine: a merchant’s role sees his rows alone, and none without a merchant', async () => {
  const [one, other] = [await environment.createComercio(), await environment.createComercio()]
  for (const { api } of [one, other]) await api.guias.crear(buildGuiaWithoutDestino())
  const { rows: tables } = await environment.db.pool.query<{ tabla: string }>(
    `select logicalrelid::text as tabla from pg_dist_partition where partmethod = 'h' and logicalrelid::text <> 'dueno'`,
  )
  expect(tables.length).toBeGreaterThan(15)
  const deLaEmpresa = ['nota', 'asignacion']
  for (const table of deLaEmpresa)
    await expect(como('guias_api', [one.id], `select from ${table}`), table).rejects.toThrow('permission denied')
  for (const { tabla } of tables.filter(({ tabla }) => !deLaEmpresa.includes(tabla))) {
    const { rows } = await como('guias_api', [one.id], `select distinct comercio_id as de from ${tabla}`)
    expect(
      rows.filter(({ de }) => de !== one.id),
      tabla,
    ).toEqual([])
  }
  for (const table of ['guia', 'evento', 'mensaje', 'guia_indice']) {
    expect(
      (await como('guias_api', [one.id, other.id], `select distinct comercio_id from ${table}`)).rowCount,
      table,
    ).toBe(2)
    await expect(como('guias_api', undefined, `select from ${table}`), table).rejects.toThrow(
      /guias\.comercios|array literal/,
    )
  }
  const deOtro = `insert into guia_indice values ('0', '${other.id}', 'live', gen_random_uuid())`
  await expect(como('guias_api', [one.id], deOtro)).rejects.toThrow('row-level security')
  await expect(como('guias_api', [one.id], 'select from llave')).rejects.toThrow('permission denied')
})
