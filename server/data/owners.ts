import { type Db, isDistributed, statement } from './db.ts'
import { queryByPart } from './partQueries.ts'

// Some requests name no merchant: a courier has a code, a recipient has a link. On Citus, merchants' rows lie in
// several databases (parts), and such a request must first find the part. A guide's code names its part. The table
// `dueno` has the merchant of a file, of a link, and of a code from before codes named parts. On a single machine no
// code reads `dueno`, and the table stays empty.

const OWNERS_BY_CODE = statement<{ guias: readonly string[] }, Found>(
  'owners.ownersByCode',
  'part',
  `select guia as key, i.comercio_id as merchant from guia_indice i
   where guia = any(:guias::text[]) and exists (select from comercio c where c.id = i.comercio_id)`,
)
const OWNERS_BY_KEY = statement<{ claves: readonly string[] }, Found>(
  'owners.ownersByKey',
  'central',
  'select clave as key, comercio_id as merchant from dueno where clave = any(:claves::text[])',
)
const INSERT = statement<{ claves: readonly string[]; de: readonly string[] }>(
  'owners.insert',
  'central',
  `insert into dueno (clave, comercio_id) select * from unnest(:claves::text[], :de::uuid[]) on conflict (clave) do nothing`,
)
const DELETE = statement<{ claves: readonly string[] }>(
  'owners.delete',
  'central',
  'delete from dueno where clave = any(:claves::text[])',
)

interface Found {
  key: string
  merchant: string
}

/** Returns the database at the coordinator, with the role that sees the rows of all merchants. */
const anybody = (db: Db): Db => db.central.asRole('guias_operacion')

/** Finds the merchants that own keys (codes, links or files); unknown keys are skipped. */
async function ownersOf(db: Db, keys: readonly string[]): Promise<Found[]> {
  const { placements: parts } = db.pool
  const all = anybody(db)
  const named = Map.groupBy(
    keys.flatMap((key) => parts!.named(key).map((part) => ({ key, part }))),
    ({ part }) => part,
  )
  const found = (
    await Promise.all(
      [...named].map(([part, codes]) => all.inPart(part).query(OWNERS_BY_CODE, { guias: codes.map(({ key }) => key) })),
    )
  ).flat()
  const known = new Set(found.map(({ key }) => key))
  const others = keys.filter((key) => !known.has(key))
  return others.length > 0 ? [...found, ...(await all.query(OWNERS_BY_KEY, { claves: others }))] : found
}

/** Returns the database that has the rows of a key; undefined if the key is unknown. */
export async function dbOfKey(db: Db, key: string): Promise<Db | undefined> {
  if (!isDistributed(db)) return db
  const [owner] = await ownersOf(db, [key])
  return owner && db.forComercio(owner.merchant)
}

/** Runs a query for several keys, once in each part that has rows of them. The results are in no particular order. */
export async function askByKey<R>(
  db: Db,
  keys: readonly string[],
  ask: (db: Db, keys: readonly string[]) => Promise<R[]>,
): Promise<R[]> {
  if (!isDistributed(db)) return ask(db, keys)
  const owners = await ownersOf(db, keys)
  return queryByPart(
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

/** Records the merchants that own keys. Callers do so before they write the rows that the keys name. */
export async function saveOwners(db: Db, keys: readonly { key: string; merchant: string }[]): Promise<void> {
  if (!isDistributed(db) || keys.length === 0) return
  await anybody(db).query(INSERT, {
    claves: keys.map(({ key }) => key),
    de: keys.map(({ merchant }) => merchant),
  })
}

/** Deletes the records of keys whose rows were deleted or never written. */
export async function deleteOwners(db: Db, keys: readonly string[]): Promise<void> {
  if (isDistributed(db) && keys.length > 0) await anybody(db).query(DELETE, { claves: keys })
}
