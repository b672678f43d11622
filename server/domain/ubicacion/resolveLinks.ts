import { randomUUID } from 'node:crypto'
import type { JobInsert } from 'pg-boss'
import { statement } from '../../data/db.ts'
import { queryByComercio, queryReachableParts, runInEachPart } from '../../data/partQueries.ts'
import { fromJob, toJob } from '../../data/queue/jobRows.ts'
import type { enlace_corto } from '../../generated/contract/prisma/client.ts'
import type { JobDeps } from '../deps.ts'
import { isFinalState } from '../estados/estados.ts'
import { takeStep } from '../eventos/evento.ts'
import { type GuiaRow, guiaKeyOf } from '../records/guiaFields.ts'
import { placeStep, ubicacionPlaceOf } from './ubicacion.ts'

type LinkDeps = Pick<JobDeps, 'db' | 'log' | 'clock' | 'notifyJobs' | 'shortLinks'>

/** Waits between attempts to follow a link, in milliseconds: one retry per wait, about 41 hours in all. */
const DELAYS_MS = [60_000, 600_000, 3_600_000, 14_400_000, 43_200_000, 86_400_000]

const PENDING = statement<{ now: Date; count: number }, Pick<enlace_corto, 'id' | 'comercio_id'>>(
  'enlaces.pending',
  'part',
  'select id, comercio_id from enlace_corto where proximo_en <= :now order by proximo_en limit :count',
)

/** Returns the short links that are due to be followed, as jobs. */
export const readPendingLinks = async (
  { db, clock }: Pick<LinkDeps, 'db' | 'clock'>,
  count: number,
): Promise<JobInsert[]> =>
  (await queryReachableParts(db, ({ query }) => query(PENDING, { now: clock(), count }))).map(toJob)

/** Limits the wait of each link to the delay after its last failure. */
const BRING_FORWARD = statement<{ now: Date; delays: number[] }>(
  'enlaces.bringForward',
  'part',
  `update enlace_corto set proximo_en = least(proximo_en, :now::timestamptz + interval '1 ms'
     * coalesce((:delays::int[])[intentos], 0)) where proximo_en > :now`,
)

/** Brings forward links that were scheduled before the clock was set back. */
export const bringLinksForward = ({ db, clock }: Pick<LinkDeps, 'db' | 'clock'>) =>
  runInEachPart(db, ({ query }) => query(BRING_FORWARD, { now: clock(), delays: DELAYS_MS }))

const READ = statement<{ ids: readonly string[] }, LinkToFollow>(
  'enlaces.read',
  'part',
  `select g.*, k.id as enlace_id, k.maps_url as pending_url, k.intentos as times from enlace_corto k
   join guia g on g.comercio_id = k.comercio_id and g.modo = k.modo and g.id = k.guia_id where k.id = any(:ids::uuid[])`,
)
const POSTPONE = statement<Pick<enlace_corto, 'id' | 'comercio_id' | 'proximo_en'> & { next: string }>(
  'enlaces.postpone',
  'merchant',
  `update enlace_corto set id = :next, intentos = intentos + 1, proximo_en = :proximo_en
   where id = :id and comercio_id = :comercio_id`,
)

type LinkToFollow = GuiaRow & { enlace_id: string; pending_url: string; times: number }

/**
 * Follows short links. If a link leads to a point, the guide's location gets its coordinates through an ordinary event.
 */
export async function resolveLinks(deps: LinkDeps, jobs: readonly { id: string; data: object }[]): Promise<void> {
  const { db } = deps
  const rows = await queryByComercio(db, jobs.map(fromJob), ({ query }, partLinks) =>
    query(READ, { ids: partLinks.map(({ id }) => id) }),
  )
  await Promise.all(rows.map((row) => followLink(deps, row)))
}

async function followLink(deps: LinkDeps, row: LinkToFollow): Promise<void> {
  const { db, log, clock } = deps
  const { enlace_id: id, times, comercio_id } = row
  const postpone = async (proximo_en: Date) =>
    void (await db.query(POSTPONE, { id, comercio_id, next: randomUUID(), proximo_en }))
  const resolved = await deps.shortLinks.resolver(row.pending_url)
  const delayMs = DELAYS_MS[times]
  if (resolved.tipo === 'falla' && resolved.transient && delayMs !== undefined)
    return postpone(new Date(clock().getTime() + delayMs))
  if (resolved.tipo === 'falla') log.info({ guia: row.guia, motivo: resolved.motivo }, 'short link not resolved')
  if (resolved.tipo === 'coordenadas' && isAwaitingPlace(row)) {
    const now = clock()
    const proposal = { ...ubicacionPlaceOf(row), ...resolved.coordinates, origen: row.ubicacion_origen! }
    const step = await takeStep(deps, row, keepReviewAdvertencia(row, placeStep(row, proposal, now)))
    // Another request changed the guide, so the link is tried again with the guide's new state.
    if (!step) return postpone(now)
  }
  await db.forComercio(comercio_id).prisma.enlace_corto.deleteMany({ where: { ...guiaKeyOf(row), id } })
}

/**
 * Reports whether the guide still needs the link's coordinates: it is not in a final state, and no better location was
 * given.
 */
const isAwaitingPlace = ({
  estado,
  ubicacion_estado,
  ubicacion_lat,
  ubicacion_extra,
  maps_url,
  pending_url,
}: LinkToFollow) =>
  !isFinalState(estado) &&
  ubicacion_estado === 'confirmada' &&
  ubicacion_lat === null &&
  (ubicacion_extra?.enlace ?? maps_url) === pending_url

/**
 * Keeps the warning that an address was corrected after the place was confirmed. The coordinates of a link say where
 * that place is, and nobody has looked whether it is still the right one.
 */
function keepReviewAdvertencia<P extends ReturnType<typeof placeStep>>({ advertencias }: GuiaRow, step: P): P {
  const toReview = advertencias.filter(({ codigo }) => codigo === 'lugar_por_revisar')
  return { ...step, ubicacion: { ...step.ubicacion, advertencias: [...toReview, ...step.ubicacion.advertencias] } }
}
