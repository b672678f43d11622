/** What keeps the data: PostgreSQL, or a Citus cluster by its coordinator. */
export type Motor = 'postgres' | 'citus'

/** What one statement says to each engine, where Citus can't do what PostgreSQL is told. */
export type PorMotor = Readonly<Record<Motor, string>>
