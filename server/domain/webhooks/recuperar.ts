import { randomUUID } from 'node:crypto'
import { type Db, inTransaction, statement } from '../../data/db.ts'
import type { RecuperacionParaCrear } from '../../generated/contract/types/index.ts'
import { randomBase32 } from '../../platform/codes/codes.ts'
import { Problema, problemOfFaults } from '../../platform/errors.ts'
import { readInstant } from '../../platform/time/instant.ts'
import { DAY_MS } from '../../platform/time/units.ts'
import type { Deps } from '../deps.ts'
import { doOnce, type Remember } from '../idempotencia/idempotencia.ts'
import type { Handler } from '../operation.ts'
import type { WebhookKey } from '../records/webhookKey.ts'
import { findRange, presentRecovery, type RecoveryRow, readRecovery } from './recovery.ts'
import { requireWebhook } from './webhook.ts'

const CREATE_RECOVERY = statement<
  WebhookKey & Pick<RecoveryRow, 'recuperacion' | 'paso' | 'desde' | 'hasta' | 'todas' | 'posicion' | 'creado_en'>,
  RecoveryRow
>(
  'recuperacion.createRecovery',
  'merchant',
  `insert into recuperacion (comercio_id, modo, webhook, recuperacion, paso, desde, hasta, todas, posicion, estado, creado_en)
   values (:comercio_id, :modo, :webhook, :recuperacion, :paso, :desde, :hasta, :todas, :posicion::jsonb, 'en_curso',
     :creado_en)
   on conflict (comercio_id, modo, webhook) where (estado = 'en_curso'::text) do nothing returning *`,
)

type RecoveryStartDeps = Pick<Deps, 'db' | 'clock' | 'notifyJobs' | 'settings' | 'bitacora'>
type RecoveryInput = Parameters<Handler<'recuperarAvisosDeWebhook'>>[0]

export const recuperarAvisosDeWebhook: Handler<'recuperarAvisosDeWebhook'> = async (input, deps) => {
  const { path, body, identity } = input
  // A dry run changes nothing, so it needs no idempotency key.
  if (body.ensayo) {
    const requestedRecovery = await readRequestedRecovery(input, deps, deps.clock())
    return { status: 200, body: await deps.dryRun(requestedRecovery, input.abandonSignal()) }
  }
  const { result, headers } = await doOnce(deps, 'recuperarAvisosDeWebhook', input, {
    perform: (remember) => startRecovery(input, deps, remember),
    reread: (recuperacion) => readRecovery(deps.db, identity, path.webhook, recuperacion),
  })
  const Location = `/api/v1/webhooks/${result.webhook}/recuperaciones/${result.recuperacion}`
  return { status: 202, headers: { ...headers, Location }, body: presentRecovery(result) }
}

/** Reads the endpoint and the range of the requested recovery. @throws Problema 404, 422 */
async function readRequestedRecovery(
  { path, body, identity }: RecoveryInput,
  { db, settings }: RecoveryStartDeps,
  now: Date,
) {
  const webhook = await requireWebhook(db, identity, path.webhook, now)
  const { desde, hasta } = requireTimeRange(body, now, settings.webhookRetention)
  return { ...webhook, desde, hasta, todas: body.todas ?? false }
}

/** Starts the recovery, and stores its request's key with it. */
async function startRecovery(input: RecoveryInput, deps: RecoveryStartDeps, remember: Remember): Promise<RecoveryRow> {
  const { path, identity, requestId, red } = input
  const { db, clock, notifyJobs, bitacora } = deps
  const now = clock()
  const requestedRecovery = await readRequestedRecovery(input, deps, now)
  const { desde, hasta, todas } = requestedRecovery
  if (requestedRecovery.estado !== 'activo') {
    throw new Problema(
      'webhook_inactivo',
      `El webhook está ${requestedRecovery.estado}. Reactívelo con PATCH {"estado":"activo"} y repita.`,
    )
  }
  const recuperacion = `rec_${randomBase32(12)}`
  const posicion = await findRange(db, identity, desde, hasta)
  const created = await inTransaction(db, async (query) => {
    const [row] = await query(CREATE_RECOVERY, {
      ...requestedRecovery,
      recuperacion,
      paso: randomUUID(),
      posicion,
      creado_en: now,
    })
    if (!row) return undefined
    await bitacora.record(
      query,
      { identity, requestId, red },
      {
        accion: 'recuperarAvisosDeWebhook',
        sobre: ['webhook', path.webhook],
        despues: { recuperacion, desde, hasta, todas },
      },
    )
    await remember(query, recuperacion)
    return row
  })
  if (!created) return refuseSecond(db, requestedRecovery)
  notifyJobs()
  return created
}

async function refuseSecond(db: Db, { comercio_id, modo, webhook }: WebhookKey): Promise<never> {
  const current = await db.prisma.recuperacion.findFirst({ where: { comercio_id, modo, webhook, estado: 'en_curso' } })
  throw new Problema(
    'recuperacion_en_curso',
    `La recuperación ${current?.recuperacion ?? ''} sigue en curso. Espere a que termine.`,
  )
}

function requireTimeRange(body: RecuperacionParaCrear, now: Date, days: number) {
  const desde = readInstant(body.desde)!
  const until = body.hasta === undefined ? now : readInstant(body.hasta)!
  const fault = (campo: string, mensaje: string) =>
    problemOfFaults('validacion', [{ campo, codigo: 'fuera_de_rango', mensaje }])
  if (desde >= now) throw fault('/desde', 'debe estar en el pasado')
  // Older deliveries are no longer kept, so the service cannot know if they arrived.
  if (desde.getTime() < now.getTime() - days * DAY_MS)
    throw fault('/desde', `debe estar en los últimos ${days} días; lo anterior está en el flujo de eventos`)
  if (until <= desde) throw fault('/hasta', 'debe ser posterior a desde; omítalo para llegar hasta ahora')
  return { desde, hasta: until > now ? now : until }
}
