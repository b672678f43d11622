import { randomUUID } from 'node:crypto'
import type { JobInsert } from 'pg-boss'
import { type Db, inTransaction, statement } from '../../data/db.ts'
import { VISIBLE_TO_FEED } from '../../data/eventOrder.ts'
import { queryReachableParts } from '../../data/partQueries.ts'
import { toJob } from '../../data/queue/jobRows.ts'
import type { webhook } from '../../generated/contract/prisma/client.ts'
import type { Deps } from '../deps.ts'
import {
  eventosToRecoverSql,
  isToSendSql,
  type RecoveryParameters,
  type RecoveryPosition,
  type RecoveryRow,
} from './recovery.ts'
import type { WebhookRow } from './webhook.ts'

/** Maximum number of events that one job of a recovery reads. */
const MAX_EVENTOS_PER_JOB = 1_000

/** Next step of a recovery, with the merchant. The id of the step is the id of its job. */
interface Step {
  id: string
  comercio_id: string
}

const PENDING_STEPS = statement<{ count: number }, Step>(
  'recuperacion.pendingSteps',
  'part',
  `select paso as id, comercio_id from recuperacion where estado = 'en_curso' order by creado_en limit :count`,
)

/**
 * Returns the jobs of the next steps of recoveries. Each step has its own job, so that a finished step never blocks the
 * next.
 */
export async function readPendingRecoveries({ db }: { db: Db }, count: number): Promise<JobInsert[]> {
  return (await queryReachableParts(db, ({ query }) => query(PENDING_STEPS, { count }))).map(toJob)
}

type TakenRecovery = RecoveryRow & Pick<WebhookRow, 'tipos'> & { webhook_estado: webhook['estado'] }

const TAKE_STEP = statement<Pick<RecoveryRow, 'paso' | 'comercio_id'>, TakenRecovery>(
  'recuperacion.takeStep',
  'merchant',
  `select r.*, w.tipos, w.estado as webhook_estado from recuperacion r
   join webhook w on w.comercio_id = r.comercio_id and w.modo = r.modo and w.webhook = r.webhook
   where r.paso = :paso and r.estado = 'en_curso' and r.comercio_id = :comercio_id for update of r`,
)

/**
 * Processes a batch in one statement. Creates deliveries that never existed and restarts deliveries that failed. With
 * `todas`, also restarts deliveries that succeeded. The delivery of the oldest event is due first, because the due time
 * of each delivery is the time of its event. Returns the counts and the last position of the batch.
 */
const ADVANCE = statement<RecoveryParameters & Pick<RecoveryPosition, 'fin'> & { now: Date }, BatchProgress>(
  'recuperacion.advance',
  'merchant',
  `with v as materialized (${eventosToRecoverSql(MAX_EVENTOS_PER_JOB, VISIBLE_TO_FEED)}), d as (
     insert into webhook_aviso (comercio_id, modo, webhook, guia_id, secuencia, evento, tipo, estado, causa, proximo_en, creado_en)
     select v.comercio_id, v.modo, :webhook, v.guia_id, v.secuencia, 'evt_' || v.guia || '_' || v.secuencia, v.tipo, 'pendiente',
       'recuperacion', least(v.registrado_en, :now::timestamptz), :now::timestamptz
     from v left join webhook_aviso e on e.comercio_id = v.comercio_id and e.modo = v.modo and e.webhook = :webhook
       and e.guia_id = v.guia_id and e.secuencia = v.secuencia
     where v.own and ${isToSendSql('e')}
     on conflict (comercio_id, modo, webhook, guia_id, secuencia) do update set estado = 'pendiente',
       causa = 'recuperacion', turno = webhook_aviso.turno + 1, intento = 0, proximo_en = excluded.proximo_en, terminado_en = null
     where webhook_aviso.estado = 'fallido' or (:todas and webhook_aviso.estado = 'entregado')
     returning 1
   )
   select count(*)::int as scanned, count(*) filter (where own)::int as eventos,
     (select count(*) from d)::int as avisos,
     (select json_build_object('xid', xid::text, 'guia_id', guia_id, 'secuencia', secuencia) from v
      order by v.xid desc, guia_id desc, secuencia desc limit 1) as ultimo,
     flujo_hasta() >= :fin::text::xid8 as all_visible
   from v`,
)

/** Adds the results of a batch to its recovery, and stores the position at which the next batch begins. */
const RECORD_STEP = statement<
  Pick<RecoveryRow, 'paso' | 'comercio_id' | 'posicion' | 'eventos' | 'avisos' | 'estado'> & {
    next: string
    now: Date
  }
>(
  'recuperacion.recordStep',
  'merchant',
  `update recuperacion set paso = :next, posicion = :posicion::jsonb, eventos = eventos + :eventos,
     avisos = avisos + :avisos, estado = :estado,
     terminado_en = case when :estado <> 'en_curso' then :now::timestamptz end where paso = :paso and comercio_id = :comercio_id`,
)

interface BatchProgress {
  scanned: number
  eventos: number
  avisos: number
  ultimo: Omit<RecoveryPosition, 'fin'> | null
  all_visible: boolean
}

type RecoveryDeps = Pick<Deps, 'db' | 'log' | 'clock' | 'notifyJobs'>

/** Processes one batch of each recovery. The results of a batch and its position commit together. */
export async function advanceRecoveries(deps: RecoveryDeps, steps: readonly Step[]): Promise<void> {
  const faults: unknown[] = []
  for (const step of steps) await advanceRecovery(deps, step).catch((err: unknown) => faults.push(err))
  // A recovery that fails must not stop the others.
  if (faults.length > 0) throw new AggregateError(faults, 'webhook recoveries failed')
}

async function advanceRecovery(
  { db, log, clock, notifyJobs }: RecoveryDeps,
  { id: paso, comercio_id }: Step,
): Promise<void> {
  const hasAdvanced = await inTransaction(db.forComercio(comercio_id), async (query) => {
    const [row] = await query(TAKE_STEP, { paso, comercio_id })
    if (!row) return false
    const now = clock()
    const { posicion } = row
    const cancelada = !['activo', 'pausado'].includes(row.webhook_estado)
    const [progress] = cancelada ? [] : await query(ADVANCE, { ...row, ...posicion, now })
    const isUnfinished = progress && (progress.scanned === MAX_EVENTOS_PER_JOB || !progress.all_visible)
    const estado = cancelada ? 'cancelada' : isUnfinished ? 'en_curso' : 'terminada'
    const { eventos = 0, avisos = 0, ultimo } = progress ?? {}
    const next = randomUUID()
    const newState = { posicion: { ...posicion, ...ultimo }, eventos, avisos, estado } as const
    await query(RECORD_STEP, { paso, comercio_id, next, ...newState, now })
    if (estado !== 'en_curso') log.info({ recuperacion: row.recuperacion, estado }, 'webhook recovery ended')
    return avisos > 0 || progress?.scanned === MAX_EVENTOS_PER_JOB
  })
  // A recovery that only waits for another transaction to end continues in the next round.
  if (hasAdvanced) notifyJobs()
}
