import { type Db, sentencia } from '../db.ts'

// Processes that send webhooks, as rows: which of them live, and which leases each holds. A lease is a job of pg-boss; its own
// heartbeat would be a write for each lease every few seconds.

/** The queue of leases: a job of it is an endpoint that some process holds, or that waits for one. */
export const COLA_DE_ARRIENDOS = 'arriendos'
/** Seconds that a process, or a lease that isn't noted yet, lasts without a sign of life. What it held is then anybody's. */
export const VIGENCIA_S = 25

/** Stands for a lease in statements: a job, and which claim of it. */
export interface Toma {
  id: string
  retryCount: number
}

/**
 * SQL of the condition that the claim that `a` notes is still held. It looks each job up by its key: planned as a join while the
 * tables were small, it would compare all with all.
 */
const SE_TIENE = `(select j.state = 'active' and j.retry_count = a.intento from pgboss.job j
     where j.name = '${COLA_DE_ARRIENDOS}' and j.id = a.trabajo) is true`

/** One statement for a process, however many leases it holds: it also forgets those whose job is gone or another's. */
const LATIR = sentencia<{ bomba: string; nueva: boolean }, { viva: boolean; perdidos: string[] | null }>(
  'bombas.latir',
  `with alta as (
     insert into webhook_bomba (id, latido_en) select :bomba::uuid, now() where :nueva::boolean returning id
   ), suya as (
     update webhook_bomba set latido_en = now() where id = :bomba::uuid and not :nueva::boolean returning id
   ), p as (
     delete from webhook_arriendo a where a.bomba = :bomba::uuid and not ${SE_TIENE} returning a.trabajo
   )
   select exists (select 1 from alta union all select 1 from suya) as viva, (select array_agg(trabajo) from p) as perdidos`,
)

/**
 * Gives a process's sign of life.
 * @param nueva true if it has no row yet
 * @returns the jobs of leases that it holds no longer; undefined: the process was given up, and holds none
 */
export async function latir(db: Pick<Db, 'consultar'>, bomba: string, nueva: boolean): Promise<string[] | undefined> {
  const [fila] = await db.consultar(LATIR, { bomba, nueva })
  return fila!.viva ? (fila!.perdidos ?? []) : undefined
}

/** The row of the process is locked, so that nobody takes it for dead meanwhile. */
const ANOTAR = sentencia<
  { bomba: string; trabajos: readonly string[]; intentos: readonly number[] },
  { trabajo: string }
>(
  'bombas.anotar',
  `with b as materialized (select id from webhook_bomba where id = :bomba::uuid for key share)
   insert into webhook_arriendo (trabajo, intento, bomba)
   select a.trabajo, a.intento, b.id from b, unnest(:trabajos::uuid[], :intentos::int[]) as a(trabajo, intento)
   where ${SE_TIENE}
   on conflict (trabajo, intento) do update set bomba = excluded.bomba returning trabajo`,
)

/** Notes leases of a living process, again if need be. @returns the jobs of those that it still holds */
export async function anotarTomas(db: Pick<Db, 'consultar'>, bomba: string, tomas: readonly Toma[]): Promise<string[]> {
  const filas = await db.consultar(ANOTAR, {
    bomba,
    trabajos: tomas.map(({ id }) => id),
    intentos: tomas.map(({ retryCount }) => retryCount),
  })
  return filas.map(({ trabajo }) => trabajo)
}

/** The row that says when somebody last looked. */
const TURNO = '00000000-0000-0000-0000-000000000000'
/** Seconds between two looks of all processes together. */
const ENTRE_MIRADAS_S = 4

/** Takes the turn, if it is time, and forgets processes that died. */
const ENTERRAR = sentencia<object, { toca: boolean }>(
  'bombas.enterrar',
  `with t as (
     insert into webhook_bomba as b (id, latido_en) values ('${TURNO}', now())
     on conflict (id) do update set latido_en = now() where b.latido_en < now() - interval '${ENTRE_MIRADAS_S} seconds'
     returning id
   ), m as (
     delete from webhook_bomba where id <> '${TURNO}' and latido_en < now() - interval '${VIGENCIA_S} seconds'
       and exists (select from t) returning id
   )
   select exists (select from t) as toca`,
)

/** SQL of the processes that live. */
const VIVAS = 'array(select id from webhook_bomba)'

/**
 * Leases that nobody holds: noted for no living process, and without a heartbeat of their own. A claim that isn't noted yet has
 * the heartbeat of its beginning, and those of a version without `webhook_bomba` renew theirs.
 */
const HUERFANAS = sentencia<object, Toma>(
  'bombas.huerfanas',
  `with s as (
     delete from webhook_arriendo where bomba <> all (${VIVAS})
   )
   select id, retry_count as "retryCount" from pgboss.job
   where name = '${COLA_DE_ARRIENDOS}' and state = 'active' and heartbeat_on < now() - interval '${VIGENCIA_S} seconds'
   except select trabajo, intento from webhook_arriendo where bomba = any (${VIVAS})`,
)

/**
 * Finds leases that nobody holds, if no process has looked for some seconds. Processes that died are forgotten by a statement of
 * their own: the next one sees who was quicker with a sign of life.
 */
export async function hallarHuerfanas(db: Pick<Db, 'consultar'>): Promise<Toma[]> {
  const [turno] = await db.consultar(ENTERRAR)
  return turno!.toca ? db.consultar(HUERFANAS) : []
}
