import { type Db, sentencia } from './db.ts'

// On Citus a merchant's rows are found by the merchant. Who knows none (a courier with a code, a recipient with a link) asks
// the table `dueno` first, which is distributed by what he has; on PostgreSQL nobody asks it, and it stays empty.

type Base = Pick<Db, 'consultar' | 'motor'>

const DE = sentencia<{ claves: readonly string[] }, { clave: string; comercio_id: string }>(
  'duenos.de',
  'select clave, comercio_id from dueno where clave = any(:claves::text[])',
)
const DE_UNA = sentencia<{ clave: string }, { comercio_id: string }>(
  'duenos.deUna',
  'select comercio_id from dueno where clave = :clave',
)
const ANOTAR = sentencia<{ claves: readonly string[]; comercio_id: string }>(
  'duenos.anotar',
  'insert into dueno (clave, comercio_id) select unnest(:claves::text[]), :comercio_id returning 1',
)
const REANOTAR = sentencia<{ claves: readonly string[]; comercio_id: string }>(
  'duenos.reanotar',
  `insert into dueno (clave, comercio_id) select unnest(:claves::text[]), :comercio_id on conflict (clave) do nothing`,
)
const OLVIDAR = sentencia<{ claves: readonly string[] }>(
  'duenos.olvidar',
  'delete from dueno where clave = any(:claves::text[])',
)

/** Nobody: what is his is not to be found. */
const NADIE = '00000000-0000-0000-0000-000000000000'

/** Whose a key is, for a statement that needs to know; null: it doesn't. */
export async function duenoDe({ consultar, motor }: Base, clave: string): Promise<string | null> {
  if (motor === 'postgres') return null
  return (await consultar(DE_UNA, { clave }))[0]?.comercio_id ?? NADIE
}

/** Asks for what keys name; on Citus each merchant's by themselves. */
export async function porDueno<R>(
  { consultar, motor }: Base,
  claves: readonly string[],
  hacer: (claves: readonly string[], comercio_id: string | null) => Promise<R[]>,
): Promise<R[]> {
  if (motor === 'postgres') return hacer(claves, null)
  const duenos = Map.groupBy(await consultar(DE, { claves }), ({ comercio_id }) => comercio_id)
  const partes = [...duenos].map(([comercio_id, suyas]) =>
    hacer(
      suyas.map(({ clave }) => clave),
      comercio_id,
    ),
  )
  return (await Promise.all(partes)).flat()
}

/** Says whose new keys are, before what they name is written. @throws if somebody has one of them already */
export async function anotarDuenos({ consultar, motor }: Base, comercio_id: string, claves: readonly string[]) {
  if (motor === 'citus' && claves.length > 0) await consultar(ANOTAR, { claves, comercio_id })
}

/** Says whose keys are, which may be known already. */
export async function reanotarDuenos({ consultar, motor }: Base, comercio_id: string, claves: readonly string[]) {
  if (motor === 'citus' && claves.length > 0) await consultar(REANOTAR, { claves, comercio_id })
}

/** What keys named isn't there, or no longer. */
export async function olvidarDuenos({ consultar, motor }: Base, claves: readonly string[]): Promise<void> {
  if (motor === 'citus' && claves.length > 0) await consultar(OLVIDAR, { claves })
}
