import pg from 'pg'
import { expect, it } from 'vitest'
import { useEnvironment } from '../environment.ts'
import { buildGuiaWithoutDestino } from '../factories.ts'

const entorno = useEnvironment()

/** Runs as a role, for some merchants, and undoes it. */
async function como(rol: string, comercios: readonly string[] | undefined, sql: string): Promise<pg.QueryResult> {
  const cliente = new pg.Client({ connectionString: entorno.databaseUrl })
  await cliente.connect()
  try {
    await cliente.query(`set citus.propagate_set_commands to 'local'; begin; set local role ${rol}`)
    if (comercios) await cliente.query(`set local guias.comercios = '{${comercios}}'`)
    return await cliente.query(sql)
  } finally {
    await cliente.end()
  }
}

it('the wall stands on every machine: a merchant’s role sees his rows alone, and none without a merchant', async () => {
  const [uno, otro] = [await entorno.nuevoComercio(), await entorno.nuevoComercio()]
  for (const { api } of [uno, otro]) await api.guias.crear(buildGuiaWithoutDestino())
  const { rows: tablas } = await entorno.db.pool.query<{ tabla: string }>(
    `select logicalrelid::text as tabla from pg_dist_partition where partmethod = 'h' and logicalrelid::text <> 'dueno'`,
  )
  expect(tablas.length).toBeGreaterThan(15)
  const deLaEmpresa = ['nota', 'asignacion']
  for (const tabla of deLaEmpresa)
    await expect(como('guias_api', [uno.id], `select from ${tabla}`), tabla).rejects.toThrow('permission denied')
  for (const { tabla } of tablas.filter(({ tabla }) => !deLaEmpresa.includes(tabla))) {
    const { rows } = await como('guias_api', [uno.id], `select distinct comercio_id as de from ${tabla}`)
    expect(
      rows.filter(({ de }) => de !== uno.id),
      tabla,
    ).toEqual([])
  }
  for (const tabla of ['guia', 'evento', 'mensaje', 'guia_indice']) {
    expect(
      (await como('guias_api', [uno.id, otro.id], `select distinct comercio_id from ${tabla}`)).rowCount,
      tabla,
    ).toBe(2)
    await expect(como('guias_api', undefined, `select from ${tabla}`), tabla).rejects.toThrow(
      /guias\.comercios|array literal/,
    )
  }
  const deOtro = `insert into guia_indice values ('0', '${otro.id}', 'live', gen_random_uuid())`
  await expect(como('guias_api', [uno.id], deOtro)).rejects.toThrow('row-level security')
  await expect(como('guias_api', [uno.id], 'select from llave')).rejects.toThrow('permission denied')
})
