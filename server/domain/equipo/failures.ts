import { type Query, statement } from '../../data/db.ts'
import type { Actor } from '../bitacora/bitacora.ts'
import type { Deps } from '../deps.ts'

/** Maximum lines of the audit record about failed second factors of one person within an hour. */
const LINES_PER_HOUR = 5

/** Failures of a person's second factor within an hour, in proofs of presence, at which the session ends. */
export const CLOSING_FAILURES = 5

/** Counts a failure of a person's second factor. The hour begins with its first failure. */
const FAIL = statement<{ persona_id: string; now: Date }, { fallas: number; persona: string }>(
  'equipo.fail',
  'central',
  `insert into segundo_factor as f (persona_id, fallas, fallas_desde) values (:persona_id, 1, :now)
   on conflict (persona_id) do update set
     fallas = case when f.fallas_desde > excluded.fallas_desde - interval '1 hour'
       and f.fallas_desde <= excluded.fallas_desde + interval '1 minute' then f.fallas + 1 else 1 end,
     fallas_desde = case when f.fallas_desde > excluded.fallas_desde - interval '1 hour'
       and f.fallas_desde <= excluded.fallas_desde + interval '1 minute' then f.fallas_desde else excluded.fallas_desde end
   returning fallas, (select persona from persona where id = f.persona_id) as persona`,
)

/**
 * Counts a failed second factor, and records it: the first {@link LINES_PER_HOUR} of an hour, and each one that ends
 * the attempts of a day.
 * @param actor author; its identity is null in a sign-in, because nothing proves that the person failed
 * @returns failures of the person within the hour
 */
export async function recordFailure(
  query: Query,
  { clock, bitacora }: Pick<Deps, 'clock' | 'bitacora'>,
  actor: Actor,
  { persona_id, con, locks = false }: { persona_id: string; con: 'codigo' | 'passkey'; locks?: boolean },
): Promise<number> {
  const [row] = await query(FAIL, { persona_id, now: clock() })
  const { fallas, persona } = row!
  if (fallas <= LINES_PER_HOUR || locks)
    await bitacora.record(query, actor, {
      accion: 'fallarSegundoFactor',
      sobre: ['persona', persona],
      despues: { con, fallas, ...(locks && { bloqueada: true }) },
    })
  return fallas
}
