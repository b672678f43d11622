import { createOwnerTurns, createTurns } from '../../api/http/turns.ts'
import { type Db, statement } from '../../data/db.ts'
import type { EnsayoDeRecuperacion } from '../../generated/contract/types/index.ts'
import { unavailable } from '../../platform/errors.ts'
import {
  eventosToRecoverSql,
  findRange,
  isToSendSql,
  type RecoveryParameters,
  type RecoveryPosition,
} from './recovery.ts'

/** Maximum number of events that one statement of a dry run reads: some ten milliseconds of the database. */
const STEP = 1_000
/** Maximum number of events that a dry run reads. */
const MAX_EVENTOS = 50_000
/** Maximum duration of a dry run, in milliseconds, because a client waits for the response. */
const TIMEOUT_MS = 2_000
/** Maximum concurrent statements of dry runs, over all merchants: a quarter of the process's connections. */
const MAX_AT_ONCE = 2

interface Step {
  eventos: number
  scanned: number
  avisos: number
  ultimo: Omit<RecoveryPosition, 'fin' | 'tope'> | null
}

const DRY_RUN = statement<RecoveryParameters, Step>(
  'recuperacion.dryRun',
  'merchant',
  `with v as materialized (${eventosToRecoverSql(STEP)})
   select count(*) filter (where own)::int as eventos, count(*)::int as scanned,
     count(*) filter (where own and ${isToSendSql('e')})::int as avisos,
     (select json_build_object('xid', xid::text, 'guia_id', guia_id, 'secuencia', secuencia) from v
      order by v.xid desc, guia_id desc, secuencia desc limit 1) as ultimo
   from v left join webhook_aviso e on v.own and e.comercio_id = v.comercio_id and e.modo = v.modo
     and e.webhook = :webhook and e.guia_id = v.guia_id and e.secuencia = v.secuencia`,
)

export type DryRunInput = Omit<RecoveryParameters, keyof RecoveryPosition>

/** Counts the deliveries that a recovery would send. Stops early if the count takes too long. */
export type DryRun = (input: DryRunInput, signal: AbortSignal) => Promise<EnsayoDeRecuperacion>

/**
 * Creates the function for dry runs. Each merchant has one dry run at a time, in steps that take turns with the steps
 * of other merchants. Most connections therefore remain for other requests, for any number of dry runs.
 * @param ms clock in milliseconds, of which only differences matter
 */
export function createDryRuns(db: Db, ms = () => performance.now()): DryRun {
  const comercioTurns = createOwnerTurns(1)
  const turn = createTurns(MAX_AT_ONCE)
  return (input, signal) =>
    comercioTurns(input.comercio_id, async () => {
      if (signal.aborted) throw unavailable('La solicitud se abandonó.')
      const deadline = ms() + TIMEOUT_MS
      const { comercio_id: comercioId, modo, desde, hasta } = input
      const shardDb = db.asRole('guias_api', [comercioId])
      let position = await turn(() => findRange(shardDb, { comercioId, modo }, desde, hasta))
      const totals = { eventos: 0, avisos: 0 }
      for (let scanned = 0; scanned < MAX_EVENTOS && ms() < deadline && !signal.aborted; scanned += STEP) {
        const [step] = await turn(() => shardDb.query(DRY_RUN, { ...input, ...position }))
        totals.eventos += step!.eventos
        totals.avisos += step!.avisos
        if (step!.scanned < STEP) return { ...totals, exacto: true }
        position = { ...position, ...step!.ultimo }
      }
      return { ...totals, exacto: false }
    })
}
