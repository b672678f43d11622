import pg from 'pg'

/**
 * SQL condition that the event feed may already serve an event. Rows become visible in the order in which their
 * transactions commit, not in the order of a number in the rows. A reader that follows a time or a sequence skips rows
 * that commit late.
 *
 * Events are therefore ordered by their writing transaction. Only events below the oldest transaction under way are
 * served: no event can appear there any more. A long transaction anywhere in the server holds the feed back until it
 * ends; it never loses an event.
 *
 * Each server has its own transaction numbers. A database may be moved to another server, or restored to an earlier
 * instant ({@link raiseXidOffsetIfNeeded}). A part of a Citus cluster may move to another machine (data/citus/partViews.ts). An
 * offset (distance) is then added to the numbers, so that they keep growing.
 */
export const VISIBLE_TO_FEED = 'xid < flujo_hasta()'

const SNAPSHOT = 'pg_catalog.pg_current_snapshot()'

/** SQL of a transaction's number in the order of events: PostgreSQL's number plus the offset. */
const placed = (distance: bigint, xid: string) => `((${xid})::text::int8 + ${distance})::text::xid8`

/** SQL of the default of the columns `xid`. */
export const ownPlace = (distance: bigint): string => placed(distance, 'pg_catalog.pg_current_xact_id()')

/** SQL that creates the functions of the order in a schema, or replaces them. */
export const orderFunctions = (schema: string, distance: bigint): string =>
  `create or replace function ${schema}.flujo_hasta() returns xid8 stable parallel safe language sql
     return ${placed(distance, `pg_catalog.pg_snapshot_xmin(${SNAPSHOT})`)};
   create or replace function ${schema}.flujo_fin() returns xid8 stable parallel safe language sql
     return ${placed(distance, `pg_catalog.pg_snapshot_xmax(${SNAPSHOT})`)};
   create or replace function ${schema}.flujo_ahora() returns pg_snapshot stable parallel safe language sql
     return (select (${schema}.flujo_hasta()::text || ':' || ${schema}.flujo_fin()::text || ':'
       || coalesce(string_agg(${placed(distance, 'xip')}::text, ',' order by xip), ''))::pg_snapshot
       from pg_catalog.pg_snapshot_xip(${SNAPSHOT}) xip)`

/**
 * Unit of the offset that is added to transaction numbers after a database was moved or restored. A server with 5,000
 * transactions a second uses 2^40 numbers in seven years. No number of the earlier server therefore reaches the next
 * unit. Parts of a Citus cluster have larger offsets.
 */
const STEP = 2n ** 40n

/**
 * SQL of the server's identifier and its timeline. PostgreSQL starts a new timeline after a recovery from an archive,
 * and when a replica is promoted.
 */
const SERVER = `(select system_identifier from pg_catalog.pg_control_system())::text || '/' ||
  left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8)`

/**
 * SQL that reads the newest transaction number in the rows, and the next number of the server. Also reads the present
 * server, and the server for which the offset was set.
 */
const NEWEST = `select flujo_fin()::text as next, coalesce(greatest(
    (select xid from evento where secuencia > 0 order by evento.xid desc limit 1),
    (select xid from bitacora order by bitacora.xid desc limit 1)), '0')::text as ultimo,
  ${SERVER} as server, flujo_servidor() as known`

/**
 * Raises the offset of the event order after a database was copied with `pg_dump`, restored to an earlier instant, or
 * replaced by its replica. The server would otherwise assign transaction numbers that are already in clients' cursors,
 * and clients would miss new events. With the raised offset, all new numbers are larger, and existing cursors stay
 * valid. For a database on one machine; the caller holds the lock of the migrations.
 */
export async function raiseXidOffsetIfNeeded(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { next, ultimo, server, known } = await readNewest(client)
  if (ultimo >= next || (known !== null && known !== server)) await raiseXidOffset(client)
  else if (known === null) await client.query(knownServer(server))
}

/**
 * Raises the offset like {@link raiseXidOffsetIfNeeded}, but always. For a copy of a whole server, whose identifier equals the
 * original's.
 */
export async function raiseXidOffset(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { next, ultimo } = await readNewest(client)
  await setXidOffset(client, ((ultimo > next ? ultimo : next) / STEP + 1n) * STEP)
}

async function readNewest(client: Pick<pg.Client, 'query'>) {
  const { rows } = await client.query<{ next: string; ultimo: string; server: string; known: string | null }>(NEWEST)
  return { ...rows[0]!, next: BigInt(rows[0]!.next), ultimo: BigInt(rows[0]!.ultimo) }
}

/** SQL that stores for which server the offset was set. */
const knownServer = (server: string) =>
  `create or replace function public.flujo_servidor() returns text stable parallel safe language sql
     return ${pg.escapeLiteral(server)}`

/**
 * Sets the offset of a database on one machine. The `alter table` statements lock the tables. `LOCK TABLE` would need
 * rights that the owner lacks, because the audit record allows only inserts.
 */
export async function setXidOffset(client: Pick<pg.Client, 'query'>, distance: bigint): Promise<void> {
  const { server } = await readNewest(client)
  await client.query(`begin;
    alter table evento alter column xid set default ${ownPlace(distance)};
    alter table bitacora alter column xid set default ${ownPlace(distance)};
    ${orderFunctions('public', distance)}; ${knownServer(server)}; commit`)
}
