import type pg from 'pg'
import { orderFunctions, ownPlace } from '../eventOrder.ts'
import type { Part } from '../parts.ts'

/** Shard of a table, and its machine. A table without a range of hashes is copied to every machine. */
export interface Placement {
  table: string
  shardid: string
  /** Number of the machine's group in Citus (`groupid`). */
  nodo: number
  nodename: string
  nodeport: number
  desde: number | null
  hasta: number | null
}

/** Part (shards with the rows of some merchants) whose schema is to be created, with the shards that its views show. */
interface PartSchema {
  part: Part
  /** UUID that belongs to no merchant and whose hash lies in the part. */
  nobody: string
  tables: readonly Placement[]
}

/**
 * SQL of the function `partes.tomar`, with which a session prevents a part from moving to another machine. The function
 * takes the lock that Citus takes to write a shard. A move waits for sessions that hold the lock, and a later session
 * gets SQLSTATE 55006. Without the lock, two moves lost 591 of 6,083 confirmed guides.
 */
export const CREATE_MOVE_LOCK = `create schema if not exists partes; grant usage on schema partes to public;
  create or replace function partes.tomar(_shard bigint) returns void language plpgsql security definer as $f$ begin
    perform pg_catalog.lock_shard_metadata(5, array[_shard]);
    if not exists (select from pg_catalog.pg_dist_placement where shardid operator(pg_catalog.=) _shard
      and groupid operator(pg_catalog.=) (select groupid from pg_catalog.pg_dist_local_group))
    then
      raise exception 'the part has moved' using errcode = '55006';
    end if;
  end $f$;
  grant execute on function partes.tomar(bigint) to public`

const THERE = `select nspname as schema, obj_description(oid, 'pg_namespace') as version from pg_namespace
  where nspname ~ '^p[0-9]+_[0-9]+$'`

/**
 * Columns, by table, that are unique by themselves within one machine. Citus would require the merchant's id in each
 * unique index. A move of the part to another machine drops these indexes.
 */
const UNIQUE: Readonly<Record<string, string>> = {
  guia_indice: 'guia',
  archivo_indice: 'archivo',
  enlace_ubicacion: 'huella',
}

const ROLES = 'guias_api, guias_operacion, guias_trabajos'

/**
 * Distance between the transaction numbers of two eras. A part begins a new era with each move to another machine. At
 * 50,000 transactions a second, one era lasts 11 years.
 */
const EPOCH = 2n ** 44n

/**
 * SQL that creates the schema of one part. Its last statement records the migration for which the schema was created.
 */
function schemaOf({ part, nobody, tables }: PartSchema, version: string): string {
  const { schema, era } = part
  const distance = BigInt(era) * EPOCH
  return [
    `create schema ${schema}; grant usage on schema ${schema} to public`,
    ...tables.flatMap(({ table, shardid }) => {
      if (table === 'bitacora_de_parte') return []
      const view = `${schema}.${table}`
      return [
        `create view ${view} with (security_invoker) as select * from public.${table}_${shardid}`,
        `grant select, insert, update, delete on ${view} to ${ROLES}; grant select on ${view} to guias_lectura`,
      ]
    }),
    // Each machine has its own transaction numbers. The era, which grows with each move, comes first in the order.
    `alter view ${schema}.evento alter column xid set default ${ownPlace(distance)}`,
    orderFunctions(schema, distance),
    // A change's audit line is written in the change's part, and collected later (data/audit.ts).
    ...tables
      .filter(({ table }) => table === 'bitacora_de_parte')
      .flatMap(({ table, shardid }) => [
        `create view ${schema}.bitacora with (security_invoker) as select * from public.${table}_${shardid}`,
        `alter view ${schema}.bitacora alter column parte set default '${nobody}'`,
        `grant select, insert on ${schema}.bitacora to ${ROLES}; grant delete on ${schema}.bitacora to guias_operacion`,
      ]),
    ...tables.flatMap(({ table, shardid }) => {
      const key = UNIQUE[table]
      if (!key) return []
      return [`create unique index if not exists ${table}_${key}_key_${shardid} on public.${table}_${shardid} (${key})`]
    }),
    `comment on schema ${schema} is '${version}'`,
  ].join(';\n')
}

/** Creates the missing schemas of the parts on a machine. Concurrent calls wait for each other. */
export async function createPartSchemas(
  machine: pg.Client,
  lastMigration: string,
  lays: readonly PartSchema[],
): Promise<void> {
  const versionOf = ({ tables }: PartSchema) =>
    `${lastMigration} ${tables
      .map(({ shardid }) => shardid)
      .sort()
      .join(' ')}`
  const missing = async () => {
    const { rows } = await machine.query<{ schema: string; version: string | null }>(THERE)
    const there = new Map(rows.map(({ schema, version }) => [schema, version]))
    return { there, lays: lays.filter((lay) => there.get(lay.part.schema) !== versionOf(lay)) }
  }
  if ((await missing()).lays.length === 0) return
  await machine.query(`begin; select pg_advisory_xact_lock(hashtextextended('partes', 0)); ${CREATE_MOVE_LOCK}`)
  const { there, lays: now } = await missing()
  for (const lay of now) {
    const old = [...there.keys()].filter((schema) => schema.startsWith(`p${lay.part.number}_`))
    for (const schema of old) await machine.query(`drop schema ${schema} cascade`)
    await machine.query(schemaOf(lay, versionOf(lay)))
  }
  await machine.query('commit')
}

/** SQL for the coordinator that drops the views on all machines, because they would block a migration. */
export const DROP_PART_SCHEMAS = `select run_command_on_all_nodes($cmd$do $do$ declare esquema text; begin
  for esquema in select nspname from pg_namespace where nspname ~ '^p[0-9]+_[0-9]+$' loop
    execute format('drop schema %I cascade', esquema);
  end loop; end $do$$cmd$)`
