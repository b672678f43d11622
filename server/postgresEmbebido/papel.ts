// The role that the service works as. The cluster's superuser (`guias`) makes it, its database and nothing else: what gets
// into a statement can't read files, run programs or change the server's settings.

import { createHmac } from 'node:crypto'
import pg from 'pg'

/** Owns the database and may make roles, for migrations that keep parts of the service apart. */
export const PAPEL = 'guias_servicio'

/** Its password, made of the superuser's: an older DATA_DIR, whose file has but that one, needs no other. */
export const claveDelPapel = (clave: string) => createHmac('sha256', clave).update(PAPEL).digest('base64url')

/** Everything in the database that is the superuser's and not PostgreSQL's own; sequences go with their tables. */
const CEDER = `do $$ declare orden text; begin
  for orden in
    select format('alter schema %I', nspname) from pg_namespace n where n.nspowner = 'guias'::regrole and ${deUsuarios('n.oid')}
    union all
    select format('alter %s %s', case relkind when 'v' then 'view' when 'm' then 'materialized view' when 'S' then 'sequence' else 'table' end,
      c.oid::regclass) from pg_class c where c.relowner = 'guias'::regrole and relkind in ('r', 'p', 'v', 'm', 'S')
      and ${deUsuarios('c.relnamespace')} and not exists (select from pg_depend d where d.classid = 'pg_class'::regclass
        and d.objid = c.oid and d.deptype in ('a', 'i') and c.relkind = 'S')
    union all
    select format('alter type %s', t.oid::regtype) from pg_type t where t.typowner = 'guias'::regrole and typtype in ('e', 'd')
      and ${deUsuarios('t.typnamespace')}
    union all
    select format('alter routine %s', p.oid::regprocedure) from pg_proc p where p.proowner = 'guias'::regrole
      and ${deUsuarios('p.pronamespace')}
  loop execute orden || ' owner to ${PAPEL}'; end loop;
  alter database guias owner to ${PAPEL};
end $$`

function deUsuarios(esquema: string): string {
  return `${esquema} not in (select oid from pg_namespace where nspname like 'pg\\_%' or nspname = 'information_schema')`
}

/**
 * Makes the role and its database, or gives it the database of a DATA_DIR that was the superuser's.
 * @param cliente the superuser, in the database `postgres`
 * @param url of the superuser, in the database `guias`
 */
export async function asegurarBase(cliente: pg.Client, clave: string, url: string): Promise<void> {
  const { rows } = await cliente.query<{ papel: boolean; dueno: string | null }>(
    `select exists (select from pg_roles where rolname = $1) as papel,
       (select datdba::regrole::text from pg_database where datname = 'guias') as dueno`,
    [PAPEL],
  )
  const { papel, dueno } = rows[0]!
  if (!papel) await siFalta(cliente, `create role ${PAPEL} login createrole password '${claveDelPapel(clave)}'`)
  if (dueno === null) await siFalta(cliente, `create database guias owner ${PAPEL}`)
  else if (dueno !== PAPEL) await ceder(url)
}

/** Another process may make it meanwhile. */
const siFalta = (cliente: pg.Client, orden: string) =>
  cliente.query(orden).catch((error: pg.DatabaseError) => {
    if (!['42710', '42P04', '23505'].includes(error.code ?? '')) throw error
  })

async function ceder(url: string): Promise<void> {
  const cliente = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  cliente.on('error', () => {}) // a lost connection also rejects the query under way
  await cliente.connect()
  try {
    await cliente.query(CEDER)
  } finally {
    await cliente.end()
  }
}
