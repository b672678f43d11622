import { hash } from 'node:crypto'
import { statement } from '../../data/db.ts'
import type { eslabon, sello } from '../../generated/contract/prisma/client.ts'
import type { ClavePublica } from '../../generated/contract/types/index.ts'
import { signJws } from '../../platform/signing/jws.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'

export const SEAL_TYPE = 'bitacora-sello+jws'

/** Content of a day's seal: the last link of each chain at the end of the day, and the digest of the previous seal. */
export interface Seal {
  version: 1
  emisor: string
  /** Day in UTC. */
  dia: string
  eslabones: Record<string, { numero: number; hash: string }>
  /** SHA-256 of the previous seal's JWS; null in the first seal. */
  anterior: string | null
}

/** Returns the SHA-256 digest of a seal. The next seal contains this digest. */
export const sealDigest = (jws: string) => hash('sha256', jws)

const LAST = statement<object, { dia: string; jws: string }>(
  'sellos.last',
  'central',
  'select dia::text as dia, jws from sello order by sello.dia desc limit 1',
)

/** Reads the last link of each chain before `hoy`. `nuevo` is true for a link that no seal covers yet. */
const LAST_LINKS = statement<
  { hoy: Date; sealed: string | null },
  Pick<eslabon, 'registro' | 'numero' | 'hash'> & { dia: string; nuevo: boolean }
>(
  'sellos.lastLinks',
  'central',
  `with recursive r as (
     (select registro from eslabon order by registro limit 1)
     union all
     select (select e.registro from eslabon e where e.registro > r.registro order by e.registro limit 1) from r
     where r.registro is not null
   )
   select e.registro, e.numero, e.hash, e.creado_en::date::text as dia,
     coalesce(e.creado_en::date > :sealed::text::date, true) as nuevo
   from r, lateral (
     select * from eslabon where registro = r.registro and creado_en < :hoy order by creado_en desc, numero desc limit 1) e`,
)

const SEAL = statement<
  Pick<sello, 'jws'> & { dia: string; kid: string; jwk: ClavePublica; now: Date },
  { dia: string }
>(
  'sellos.seal',
  'central',
  `with k as (
     insert into clave_publica (kid, jwk, creado_en) values (:kid, :jwk::jsonb, :now) on conflict (kid) do nothing
   )
   insert into sello (dia, jws, creado_en) values (:dia::text::date, :jws, :now::timestamptz)
   on conflict (dia) do nothing returning dia::text as dia`,
)

/**
 * Seals the links that were created before today and that no seal covers yet. Does nothing if there is no such link.
 * Logs each seal, so that a copy exists outside the database.
 */
export async function sealDay({
  db,
  clock,
  log,
  secretos,
  settings,
}: Pick<Deps, 'db' | 'clock' | 'log' | 'secretos' | 'settings'>): Promise<void> {
  const now = clock()
  const hoy = new Date(Math.floor(now.getTime() / DAY_MS) * DAY_MS)
  const [last] = await db.query(LAST)
  const lastLinks = await db.query(LAST_LINKS, { hoy, sealed: last?.dia ?? null })
  if (!lastLinks.some(({ nuevo }) => nuevo)) return
  const dia = lastLinks
    .map((sealRow) => sealRow.dia)
    .sort()
    .at(-1)!
  const content: Seal = {
    version: 1,
    emisor: settings.publicUrl,
    dia,
    eslabones: Object.fromEntries(
      lastLinks.map(({ registro, numero, hash: de }) => [registro, { numero, hash: Buffer.from(de).toString('hex') }]),
    ),
    anterior: last ? sealDigest(last.jws) : null,
  }
  const { jws, publicKey } = await signJws(secretos, SEAL_TYPE, content)
  const [sealed] = await db.query(SEAL, { dia, jws, kid: publicKey.kid, jwk: publicKey, now })
  if (sealed) log.info({ dia, jws }, 'audit record sealed')
}
