import type pg from 'pg'
import { DROP_PART_SCHEMAS } from './partViews.ts'

// Tables on Citus. Tables with a column `comercio_id` are distributed by it and colocated, so that one machine serves
// all requests of a merchant. `comercio` is on every machine, for joins. `dueno` is distributed by its own key, for
// requests that name no merchant. `llave`, `bitacora`, tables without a merchant, and the queue stay on the
// coordinator.

/** Database engine: PostgreSQL, or a Citus cluster that is reached by its coordinator. */
export type Engine = 'postgres' | 'citus'

/**
 * Error: the database is not the engine that the configuration names. The message, in Spanish, addresses the operator.
 */
export class EngineError extends Error {
  override readonly name = 'EngineError'
}

const HAS_CITUS = `select exists (select from pg_extension where extname = 'citus') as citus`
const CLUSTER_STATE = `select coalesce((select groupid = 0 from pg_dist_local_group), false) as coordinator,
  (select count(*)::int from pg_dist_node where isactive and shouldhaveshards) as machines,
  exists (select from pg_dist_partition where logicalrelid = to_regclass('guia') and partmethod = 'h') as distributed`

/**
 * Finds the database's engine, and checks it against the configuration.
 * @throws EngineError if the database is another engine than configured, a Citus worker, or a cluster without machines
 * for data
 */
export async function findEngine(client: pg.Client, configured: Engine | undefined): Promise<Engine> {
  const [{ citus } = { citus: false }] = (await client.query<{ citus: boolean }>(HAS_CITUS)).rows
  if (configured === 'citus' && !citus)
    throw new EngineError('DATABASE_ENGINE=citus y la base no tiene la extensión: «CREATE EXTENSION citus» la pone.')
  if (!citus) return 'postgres'
  const [clusterState] = (
    await client.query<{ coordinator: boolean; machines: number; distributed: boolean }>(CLUSTER_STATE)
  ).rows
  const { coordinator, machines, distributed } = clusterState!
  if (configured === 'postgres') {
    if (distributed) throw new EngineError('DATABASE_ENGINE=postgres y Citus ya tiene repartidas las tablas.')
    return 'postgres'
  }
  if (!coordinator)
    throw new EngineError('DATABASE_URL lleva a un worker de Citus: el servicio entra por el coordinador.')
  if (machines === 0)
    throw new EngineError('Citus no tiene máquinas para los datos: agregue una con «SELECT citus_add_node(…)».')
  return 'citus'
}

/**
 * Distributes the tables, all or none. Database roles get the right to log in, because the service signs in with them
 * on the workers. Existing rows are distributed with their table. On PostgreSQL, row-level policies contain a subquery
 * that saves a function call per row. Citus refuses the subquery, so the policies are changed. Citus requires the
 * merchant's id in the primary key of a distributed table. Only the table `dueno` keeps keys such as a file's code
 * unique without it.
 */
const DISTRIBUTE = `do $$
declare
  role text;
  t record;
begin
  set local client_min_messages to warning;
  set local citus.multi_shard_modify_mode to 'sequential';
  for role in select rolname from pg_roles
    where rolname in ('guias_api', 'guias_operacion', 'guias_trabajos', 'guias_lectura') and not rolcanlogin
  loop
    execute format('alter role %I login', role);
  end loop;
  if not exists (select from pg_dist_partition where logicalrelid = to_regclass('guia') and partmethod = 'h') then
    insert into dueno (clave, comercio_id)
      select guia, comercio_id from guia_indice union all select archivo, comercio_id from archivo_indice
      union all select encode(huella, 'hex'), comercio_id from enlace_ubicacion on conflict do nothing;
  end if;
  for t in select polrelid::regclass as tabla, case relname when 'comercio' then 'id' else 'comercio_id' end as columna
    from pg_policy join pg_class c on c.oid = polrelid
    where polname = 'de_sus_comercios' and pg_get_expr(polqual, polrelid) like '%SELECT%'
  loop
    execute format('alter policy de_sus_comercios on %s using ((%I = any (comercios_del_ambito())) is true)', t.tabla,
      t.columna);
  end loop;
  for t in select quote_ident(c.relname) as tabla, k.conname as corta, pg_get_constraintdef(k.oid) as clave,
      case c.relname when 'comercio' then null when 'dueno' then 'clave' when 'bitacora_de_parte' then 'parte'
        else 'comercio_id' end as columna,
      case when c.relname in ('guia', 'dueno') then 'none' else 'guia' end as junto_a
    from pg_class c left join pg_constraint k on k.conrelid = c.oid and k.contype = 'p'
      and c.relname not in ('comercio', 'dueno', 'bitacora_de_parte') and pg_get_constraintdef(k.oid) not like '%comercio_id%'
    where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
      and c.relname not in ('llave', 'bitacora') and (c.relname = 'comercio' or exists (select from pg_attribute a
        where a.attrelid = c.oid and a.attname = 'comercio_id' and not a.attisdropped))
      and not exists (select from pg_dist_partition d where d.logicalrelid = c.oid and (d.partmethod = 'h' or d.repmodel = 't'))
    order by c.relname <> 'comercio', c.relname <> 'guia', c.relname
  loop
    if t.corta is not null then
      execute format('alter table %s drop constraint %I, add constraint %I %s', t.tabla, t.corta, t.corta,
        replace(t.clave, ')', ', comercio_id)'));
    end if;
    if t.columna is null then
      perform create_reference_table(t.tabla::regclass);
    else
      perform create_distributed_table(t.tabla::regclass, t.columna, colocate_with => t.junto_a);
      perform truncate_local_data_after_distributing_table(t.tabla::regclass);
    end if;
  end loop;
  -- An event's place in the feed is given where it is written (laying.ts): elsewhere nobody writes one.
  if exists (select from pg_attrdef d join pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
    where d.adrelid = 'evento'::regclass and a.attname = 'xid')
  then
    alter table evento alter column xid drop default;
  end if;
end $$`

/**
 * Changes the database's defaults on every machine, because the coordinator does not pass the service's session
 * settings on to the workers. Without sequential scans, a query that reads a whole table looks so expensive that
 * PostgreSQL compiles it (`jit`). That takes half a second for an empty table. Every commit waits for the disk, because
 * a shard that moves to another machine takes along only what is on the disk.
 */
const APPLY_SETTINGS = `select run_command_on_all_nodes(format('alter database %I set %s', current_database(), ajuste))
  from unnest(array['timezone to ''UTC''', 'enable_seqscan to off', 'jit to off', 'synchronous_commit to on']) ajuste`

/** Distributes the tables that are not distributed yet. The caller holds the lock of the migrations. */
export async function distribute(client: pg.Client): Promise<void> {
  await client.query(APPLY_SETTINGS)
  await client.query(DISTRIBUTE)
}

/**
 * Drops the views through which sessions see the shards of a machine, because PostgreSQL refuses to drop or change
 * columns that a view uses. Does nothing without Citus.
 */
export async function dropPartViews(client: pg.Client): Promise<void> {
  const { rows } = await client.query<{ exists: boolean }>(
    `select exists (select from pg_extension where extname = 'citus') and to_regclass('parte') is not null as exists`,
  )
  if (rows[0]!.exists) await client.query(DROP_PART_SCHEMAS)
}

/**
 * Note for the console: on Citus no replica is read, because a replica of the coordinator does not tell how far the
 * workers' replicas are behind.
 */
export const REPLICA_UNSUPPORTED =
  'DATABASE_URL_READ no se usa con Citus: nadie sabe cuánto atraso llevan las réplicas de sus máquinas.'
