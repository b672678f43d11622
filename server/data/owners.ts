import { type Db, esRepartida, sentencia } from '../db.ts'
import { askByPart } from './spread.ts'

// Where merchants' rows lie in parts, whoever knows no merchant (a courier with a code, a recipient with a link) must learn
// first in which. A guide's code names its part; whose a file is or a link, and a code that was given out before codes named
// parts, says the table `dueno`. Elsewhere nobody asks it, and it stays empty.

const OF_CODES = sentencia<{ guias: readonly string[] }, Found>(
  'owners.ofCodes',
  `select guia as key, i.comercio_id as merchant from guia_indice i
   where guia = any(:guias::text[]) and exists (select from comercio c where c.id = i.comercio_id)`,
  { alcance: 'parte' },
)
const OF = sentencia<{ claves: readonly string[] }, Found>(
  'owners.of',
  'select clave as key, comercio_id as merchant from dueno where clave = any(:claves::text[])',
)
const NOTE = sentencia<{ claves: readonly string[]; de: readonly string[] }>(
  'owners.note',
  `insert into dueno (clave, comercio_id) select * from unnest(:claves::text[], :de::uuid[]) on conflict (clave) do nothing`,
)
const FORGET = sentencia<{ claves: readonly string[] }>(
  'owners.forget',
  'delete from dueno where clave = any(:claves::text[])',
)

interface Found {
  key: string
  merchant: string
}

/** The database as it is asked about everybody's rows, whoever wants to know. */
const anybody = (db: Db): Db => db.central.como('guias_operacion')

/** Whose keys are, those that are somebody's. */
async function ownersOf(db: Db, keys: readonly string[]): Promise<Found[]> {
  const { partes } = db.pool
  const all = anybody(db)
  const named = Map.groupBy(
    keys.flatMap((key) => partes!.named(key).map((part) => ({ key, part }))),
    ({ part }) => part,
  )
  const found = (
    await Promise.all(
      [...named].map(([part, codes]) => all.enParte(part).consultar(OF_CODES, { guias: codes.map(({ key }) => key) })),
    )
  ).flat()
  const known = new Set(found.map(({ key }) => key))
  const others = keys.filter((key) => !known.has(key))
  return others.length > 0 ? [...found, ...(await all.consultar(OF, { claves: others }))] : found
}

/** The database where the rows are that a key names; undefined if it names none. */
export async function whereIs(db: Db, key: string): Promise<Db | undefined> {
  if (!esRepartida(db)) return db
  const [owner] = await ownersOf(db, [key])
  return owner && db.de(owner.merchant)
}

/** Asks for what keys name, where it lies; the answers are in no order. */
export async function askByKey<R>(
  db: Db,
  keys: readonly string[],
  ask: (db: Db, keys: readonly string[]) => Promise<R[]>,
): Promise<R[]> {
  if (!esRepartida(db)) return ask(db, keys)
  const owners = await ownersOf(db, keys)
  return askByPart(
    db,
    owners,
    ({ merchant }) => merchant,
    (there, some) =>
      ask(
        there,
        some.map(({ key }) => key),
      ),
  )
}

/** Says whose keys are, before what they name is written. */
export async function noteOwners(db: Db, keys: readonly { key: string; merchant: string }[]): Promise<void> {
  if (!esRepartida(db) || keys.length === 0) return
  await anybody(db).consultar(NOTE, {
    claves: keys.map(({ key }) => key),
    de: keys.map(({ merchant }) => merchant),
  })
}

/** What keys named isn't there, or no longer. */
export async function forgetOwners(db: Db, keys: readonly string[]): Promise<void> {
  if (esRepartida(db) && keys.length > 0) await anybody(db).consultar(FORGET, { claves: keys })
}
