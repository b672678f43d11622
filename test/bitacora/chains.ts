import type { Db } from '../../server/data/db.ts'
import { waitUntil } from '../factories.ts'

/** Chains until all lines and events are chained; other databases of the same server may hold them back for a while. */
export const chainAll = ({ pool }: Pick<Db, 'pool'>, chain: () => Promise<unknown>) =>
  waitUntil(async () => {
    await chain()
    const { rows } = await pool.query<{ complete: boolean }>(`select (select count(*) from bitacora)
      + (select count(*) from evento) = (select sum(lineas) from eslabon) as complete`)
    return rows[0]!.complete
  })
