// Role of the service in the embedded PostgreSQL. The cluster's superuser (`guias`) creates the role and its database,
// and nothing else. An injected statement therefore cannot read files, run programs or change the server's settings.

import { createHmac } from 'node:crypto'
import pg from 'pg'

/** Role that owns the database. It may create roles, for migrations that keep parts of the service apart. */
export const SERVICE_ROLE = 'guias_servicio'

/**
 * Derives the role's password from the superuser's. The file of an earlier version has only the superuser's password,
 * so no further password needs to be stored.
 */
export const rolePassword = (clave: string) => createHmac('sha256', clave).update(SERVICE_ROLE).digest('base64url')

/**
 * Gives the role all objects in the database that belong to the superuser and not to PostgreSQL itself. Sequences go
 * with their tables.
 */
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
  loop execute orden || ' owner to ${SERVICE_ROLE}'; end loop;
  alter database guias owner to ${SERVICE_ROLE};
end $$`

function deUsuarios(esquema: string): string {
  return `${esquema} not in (select oid from pg_namespace where nspname like 'pg\\_%' or nspname = 'information_schema')`
}

/**
 * Creates the role and its database. If the database of an earlier DATA_DIR belongs to the superuser, gives it to the
 * role.
 * @param cliente the superuser's connection to the database `postgres`
 * @param url address of the database `guias` for the superuser
 */
export async function ensureDatabase(cliente: pg.Client, clave: string, url: string): Promise<void> {
  const { rows } = await cliente.query<{ papel: boolean; dueno: string | null }>(
    `select exists (select from pg_roles where rolname = $1) as papel,
       (select datdba::regrole::text from pg_database where datname = 'guias') as dueno`,
    [SERVICE_ROLE],
  )
  const { papel, dueno } = rows[0]!
  if (!papel) await siFalta(cliente, `create role ${SERVICE_ROLE} login createrole password '${rolePassword(clave)}'`)
  if (dueno === null) await siFalta(cliente, `create database guias owner ${SERVICE_ROLE}`)
  else if (dueno !== SERVICE_ROLE) await ceder(url)
}

/** Another process may create the role or database at the same time, so the error «already exists» is ignored. */
const siFalta = (cliente: pg.Client, orden: string) =>
  cliente.query(orden).catch((error: pg.DatabaseError) => {
    if (!['42710', '42P04', '23505'].includes(error.code ?? '')) throw error
  })

async function ceder(url: string): Promise<void> {
  const cliente = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 })
  cliente.on('error', () => {}) // A lost connection also rejects the running query, which reports the error.
  await cliente.connect()
  try {
    await cliente.query(CEDER)
  } finally {
    await cliente.end()
  }
}
