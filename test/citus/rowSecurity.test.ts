import pg from 'pg'
import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'

const environment = useEnvironment()

/** Runs as a role, for some merchants, and undoes it. */
async function asSpecified(
  dbRole: string,
  comercios: readonly string[] | undefined,
  sql: string,
): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString: environment.databaseUrl })
  await client.connect()
  try {
    await client.query(`set citus.propagate_set_commands to 'local'; begin; set local role ${dbRole}`)
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
  const ofCompany = ['nota', 'asignacion']
  for (const table of ofCompany)
    await expect(asSpecified('guias_api', [one.id], `select from ${table}`), table).rejects.toThrow('permission denied')
  for (const { tabla: tableName } of tables.filter(({ tabla: tableName }) => !ofCompany.includes(tableName))) {
    const { rows } = await asSpecified('guias_api', [one.id], `select distinct comercio_id as de from ${tableName}`)
    expect(
      rows.filter(({ de }) => de !== one.id),
      tableName,
    ).toEqual([])
  }
  for (const table of ['guia', 'evento', 'mensaje', 'guia_indice']) {
    expect(
      (await asSpecified('guias_api', [one.id, other.id], `select distinct comercio_id from ${table}`)).rowCount,
      table,
    ).toBe(2)
    await expect(asSpecified('guias_api', undefined, `select from ${table}`), table).rejects.toThrow(
      /guias\.comercios|array literal/,
    )
  }
  const ofOther = `insert into guia_indice values ('0', '${other.id}', 'live', gen_random_uuid())`
  await expect(asSpecified('guias_api', [one.id], ofOther)).rejects.toThrow('row-level security')
  await expect(asSpecified('guias_api', [one.id], 'select from llave')).rejects.toThrow('permission denied')
})
