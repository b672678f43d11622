import type { Db } from '../../server/data/db.ts'

/** The tables in any of whose columns a person's data stand. */
export async function findTablesWith({ pool }: Pick<Db, 'pool'>, pattern: RegExp): Promise<string[]> {
  const { rows } = await pool.query<{ relation: string }>(
    `select format('%I.%I', table_schema, table_name) as relation from information_schema.tables
     where table_type = 'BASE TABLE' and table_schema not in ('pg_catalog', 'information_schema')`,
  )
  const foundTables: string[] = []
  for (const { relation } of rows) {
    const sql = `select from ${relation} t where to_jsonb(t)::text ~ $1 limit 1`
    if ((await pool.query(sql, [pattern.source])).rowCount) foundTables.push(relation)
  }
  return foundTables.sort()
}
