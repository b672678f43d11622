/** What keeps the data: PostgreSQL, or a Citus cluster by its coordinator. */
export type Motor = 'postgres' | 'citus'

/** What one statement says to each engine, where Citus can't do what PostgreSQL is told. */
export type PorMotor = Readonly<Record<Motor, string>> & { readonly porTurno?: true }

/** One statement of both engines that differ in parts: it is written once, and asks where. */
export const enCadaMotor = (escribir: (citus: boolean) => string): PorMotor => ({
  postgres: escribir(false),
  citus: escribir(true),
})

/**
 * A statement that writes on all machines and names several tables. Citus locks the parts of each in the order of the
 * statement's tables, so two such statements would wait for each other: there one is done after the other.
 */
export const porTurno = (sql: string | PorMotor): PorMotor => ({
  ...(typeof sql === 'string' ? { postgres: sql, citus: sql } : sql),
  porTurno: true,
})

/** SQL that waits for one's turn ({@link porTurno}), which lasts as long as the transaction. */
export const TOMAR_TURNO = "select pg_advisory_xact_lock(hashtextextended('en todas', 0))"

/**
 * The condition, as SQL, that Citus needs of each table of a statement to ask one machine, and not all: the merchant, by a
 * value. That one table's merchant is another's doesn't tell it.
 */
export const suyo = (citus: boolean, tabla: string) => (citus ? ` and ${tabla}.comercio_id = :comercio_id` : '')

/**
 * SQL of whence an insert into a merchant's table takes the rows of a CTE. Citus doesn't know of a CTE whose rows those are: it
 * sends them to every machine, and one that is lost keeps every merchant waiting (12.1). A row of the merchant's beside them
 * says where they go, if the insert's `comercio_id` is that one's: `flujo` has one for each merchant and mode. Such an insert
 * stands in a CTE itself: one that is the whole statement takes its CTEs along to where they can't be done.
 */
export const enSuMaquina = (citus: boolean, cte: string, donde = '') =>
  citus
    ? `flujo join ${cte} using (comercio_id, modo) where flujo.comercio_id = :comercio_id${donde && ` and ${donde}`}`
    : `${cte}${donde && ` where ${donde}`}`

/**
 * SQL that locks the rows of a batch, of whatever merchants, for whoever works on them. Citus locks one merchant's alone; there
 * two workers may take the same rows, and what the second does to them changes nothing.
 */
export const apartar = (citus: boolean, como: string) => (citus ? '' : ` ${como}`)

/**
 * The end of an insert of what a query gives, where nobody wants to know. Citus copies what nothing comes back from, which
 * PostgreSQL refuses behind row-level security.
 */
export const sinCopiar = (citus: boolean) => (citus ? ' returning 1' : '')

/**
 * SQL of a CTE that locks what it reads. Citus hands on what locks leave behind in each row as well, and takes it for something
 * else (12.1: «PGCOPY»), unless a query stands around it.
 */
export const apartando = (citus: boolean, consulta: string) => (citus ? `select * from (${consulta}) x` : consulta)

/** Whose rows a statement is about where it needs to know ({@link suyo}); null: PostgreSQL doesn't ask. */
export interface DeUno {
  comercio_id: string | null
}

/**
 * Things in the parts that are done, and fail, together: all of them, or on Citus each merchant's, for the machine where his
 * rows lie may be away while others' are there.
 */
export const enPartes = <T>(motor: Motor, cosas: readonly T[], comercioDe: (cosa: T) => string): (readonly T[])[] =>
  motor === 'postgres' ? [cosas] : [...Map.groupBy(cosas, comercioDe).values()]

/** Does something with all rows at once; on Citus with each merchant's by themselves, side by side. */
export async function porComercio<F extends { comercio_id: string }, R>(
  motor: Motor,
  filas: readonly F[],
  hacer: (filas: readonly F[], comercio_id: string | null) => Promise<readonly R[]>,
): Promise<R[]> {
  if (motor === 'postgres') return [...(await hacer(filas, null))]
  const grupos = Map.groupBy(filas, ({ comercio_id }) => comercio_id)
  return (await Promise.all([...grupos].map(([comercio_id, suyas]) => hacer(suyas, comercio_id)))).flat()
}

/**
 * SQL of an instant so much after another, without what depends on a session's time zone: Citus takes nothing of that kind with
 * the columns of an update.
 */
export const masTarde = (base: string, intervalo: string) =>
  `((${base}::timestamptz at time zone 'UTC') + (${intervalo})) at time zone 'UTC'`

/** A pending row as its job, which says whose it is. */
export const aTrabajo = ({ id, comercio_id }: { id: string; comercio_id: string }) => ({ id, data: { comercio_id } })

/** The row that a job is about. */
export const deTrabajo = ({ id, data }: { id: string; data: object }) => ({ id, ...(data as { comercio_id: string }) })
