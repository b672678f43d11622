import { unleasedDeliveries } from '../../server/domain/webhooks/sending/due.ts'
import type { webhook_aviso } from '../../server/generated/contract/prisma/client.ts'
import { type Harness, wait } from './harness.ts'
import type { MerchantLoad } from './load.ts'

/** What a scenario comes to. */
export interface ScenarioResult {
  scenario: string
  /** What was done, and to how much. */
  trial: string
  /** Acknowledged guides that are gone, events without their delivery, deliveries not made or not received. */
  lost: number
  /** Answers of 2xx that the receiver gave a second time to the same webhook. */
  duplicateCount: number
  /** The longest that a delivery took, from its event or the last harm after it to its settling, in seconds. */
  recoverySeconds: number
  /** Broken invariants. */
  fallas: string[]
  notas: string[]
}

interface LedgerExpectations {
  scenario: string
  trial: string
  load?: Pick<MerchantLoad, 'guias' | 'cancelledGuias' | 'fallas' | 'statusCounts'>
  /** How long everything may take to be delivered from now on, in milliseconds. */
  timeout?: number
  /** When the last harm was done, as of Date.now(). */
  danado?: number
  /** How long any delivery may take from then on, in seconds. */
  recuperacion?: number
  /** How often the same webhook may reach its endpoint again. */
  allowedRepeats?: number
  /** Whether receivers failed, so that more than one attempt is right. */
  receiversFailed?: boolean
  /** Endpoints that don't count. */
  separate?: readonly string[]
  notas?: string[]
}

type AvisoDeWebhookRow = Pick<
  webhook_aviso,
  'webhook' | 'evento' | 'estado' | 'intentos' | 'creado_en' | 'terminado_en'
> & { url: string; on_time_count: number; late_count: number; numbers: number[] | null }

/** What it is held against. */
export type Testimony = Pick<Harness, 'db' | 'receptor' | 'comercioId' | 'complaints' | 'avisos'>

/**
 * Waits until everything is delivered, then holds the database against what was acknowledged and what was received. One
 * function, because the result counts rows of every check.
 */
export async function closeLedger(testimony: Testimony, expectations: LedgerExpectations): Promise<ScenarioResult> {
  const { db, receptor } = testimony
  const {
    scenario,
    trial,
    load,
    timeout: timeoutMs = 75_000,
    recuperacion = 60,
    allowedRepeats = 0,
    separate = [],
  } = expectations
  const faults: string[] = []
  const notas = expectations.notas ?? []
  const checkThat = (isRight: boolean, fault: string) => void (isRight || faults.push(fault))
  const query = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await db.pool.query<Row>(text, values)).rows
  const countRows = async (text: string, values: unknown[] = []) => (await query<{ n: number }>(text, values))[0]!.n

  await wait(
    async () =>
      (await countRows(
        `select count(*)::int as n from webhook_aviso where estado = 'pendiente' and webhook <> all($1)`,
        [separate],
      )) === 0,
    timeoutMs,
    200,
  )

  // Guides: what was acknowledged exists, once, and nothing else does.
  const guias = await query<{ external_ref: string; guia: string; secuencia: number; estado: string }>(
    'select external_ref, guia, secuencia, estado from guia where comercio_id = $1',
    [testimony.comercioId],
  )
  const byRef = Map.groupBy(guias, ({ external_ref }) => external_ref)
  const acknowledgedGuias = [...(load?.guias ?? [])]
  const lostGuias = acknowledgedGuias.filter(([ref, guia]) => byRef.get(ref)?.[0]?.guia !== guia)
  checkThat(
    lostGuias.length === 0,
    `${lostGuias.length} acknowledged guides are gone or others: ${lostGuias.slice(0, 3)}`,
  )
  checkThat(guias.length === byRef.size, 'a reference has two guides')
  if (load)
    checkThat(
      guias.length === acknowledgedGuias.length,
      `${guias.length} guides, ${acknowledgedGuias.length} acknowledged`,
    )
  const byCodigo = new Map(guias.map((row) => [row.guia, row]))
  const notCancelled = [...(load?.cancelledGuias ?? [])].filter((guia) => byCodigo.get(guia)?.estado !== 'cancelado')
  checkThat(notCancelled.length === 0, `acknowledged cancellings that are none: ${notCancelled.slice(0, 3)}`)

  // Events: gap-free, and each with one delivery per endpoint that wants it.
  const gapCount = await countRows(
    `select count(*)::int as n from guia g where g.secuencia <> (select count(*) from evento v
       where v.comercio_id = g.comercio_id and v.modo = g.modo and v.guia_id = g.id and v.secuencia <= g.secuencia)
       or g.secuencia <> (select max(secuencia) from evento v
       where v.comercio_id = g.comercio_id and v.modo = g.modo and v.guia_id = g.id)`,
  )
  checkThat(gapCount === 0, `${gapCount} guides whose history has gaps`)
  const eventosWithoutEntrega = await countRows(
    `select count(*)::int as n from evento v join webhook w using (comercio_id, modo)
     left join webhook_aviso e using (comercio_id, modo, webhook, guia_id, secuencia)
     where (w.tipos @> array['*'] or w.tipos @> array[v.tipo]) and v.registrado_en >= w.creado_en and e.webhook is null`,
  )
  checkThat(eventosWithoutEntrega === 0, `${eventosWithoutEntrega} events without their delivery`)
  const unwantedCount = await countRows(
    `select count(*)::int as n from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     left join evento v using (comercio_id, modo, guia_id, secuencia) where e.secuencia > 0
     and (v.guia_id is null or not (w.tipos @> array['*'] or w.tipos @> array[v.tipo]))`,
  )
  checkThat(unwantedCount === 0, `${unwantedCount} deliveries that nobody asked for`)

  // Deliveries and their attempts.
  const entregas = await query<AvisoDeWebhookRow>(
    `select e.webhook, w.url, e.evento, e.estado, e.intentos,
       e.creado_en, e.terminado_en,
       (count(i.id) filter (where not i.tardio) + (e.exito is not null)::int)::int as on_time_count,
       count(i.id) filter (where i.tardio)::int as late_count,
       case when e.exito is null then '{}' else '{1}'::int[] end
         || array_agg(i.numero order by i.numero) filter (where not i.tardio) as numbers
     from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     left join webhook_intento i using (comercio_id, modo, webhook, guia_id, secuencia)
     where e.webhook <> all($1) group by e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, w.url`,
    [separate],
  )
  const formatSample = (rows: AvisoDeWebhookRow[]) => JSON.stringify(rows.slice(0, 3))
  const undelivered = entregas.filter(({ estado }) => estado !== 'entregado')
  checkThat(undelivered.length === 0, `${undelivered.length} deliveries not made: ${formatSample(undelivered)}`)
  const inconsistentRows = entregas.filter(
    ({ intentos, on_time_count, numbers }) => intentos !== on_time_count || (numbers ?? []).some((n, i) => n !== i + 1),
  )
  checkThat(
    inconsistentRows.length === 0,
    `${inconsistentRows.length} with other attempts than counted: ${formatSample(inconsistentRows)}`,
  )
  if (!expectations.receiversFailed) {
    const retriedRows = entregas.filter(({ intentos }) => intentos > 1)
    checkThat(
      retriedRows.length === 0,
      `${retriedRows.length} lost attempts that no receiver refused: ${formatSample(retriedRows)}`,
    )
  }
  const measureDelaySeconds = ({ creado_en: createdAt, terminado_en: finishedAt }: AvisoDeWebhookRow, danado = 0) =>
    finishedAt ? (finishedAt.getTime() - Math.max(createdAt.getTime(), danado)) / 1000 : 0
  const recoverySeconds = entregas.reduce((max, row) => Math.max(max, measureDelaySeconds(row, expectations.danado)), 0)
  checkThat(
    recoverySeconds <= recuperacion,
    `a delivery took ${recoverySeconds.toFixed(1)} s, more than ${recuperacion} s`,
  )
  const total = entregas.reduce((max, row) => Math.max(max, measureDelaySeconds(row)), 0)
  notas.push(`the slowest delivery took ${total.toFixed(1)} s in all`)

  // What the receiver has.
  let unreceivedCount = 0
  let duplicateCount = 0
  let repeated = 0
  for (const { url, evento } of entregas) {
    const receptions = receptor.receptions.get(`${new URL(url).pathname} ${evento}`) ?? []
    const successes = receptions.filter(({ status }) => status !== null && status < 300)
    if (successes.length === 0) unreceivedCount++
    duplicateCount += Math.max(0, successes.length - 1)
    repeated = Math.max(repeated, successes.length - 1)
    checkThat(new Set(receptions.map(({ huella }) => huella)).size <= 1, `${evento} came with different bodies`)
  }
  checkThat(unreceivedCount === 0, `${unreceivedCount} deliveries that the receiver never took`)
  checkThat(
    repeated <= allowedRepeats,
    `a webhook came ${repeated} times again (${duplicateCount} in all), not ${allowedRepeats}`,
  )
  checkThat(receptor.rejected.length === 0, `bodies that aren't their id's: ${receptor.rejected[0]}`)

  // Somebody holds the endpoint of what is due.
  const allLeased = await wait(
    async () => (await unleasedDeliveries({ db, clock: () => new Date() })) === 0,
    separate.length > 0 ? 5_000 : 2_000,
  )
  checkThat(allLeased === true, 'deliveries are due of endpoints that nobody holds')

  checkThat((load?.fallas.length ?? 0) === 0, `answers: ${load?.fallas.slice(0, 3).join(' | ')}`)
  for (const complaint of testimony.complaints.slice(0, 4)) faults.push(`log: ${complaint}`)
  if (testimony.complaints.length > 4) faults.push(`log: …and ${testimony.complaints.length - 4} more`)
  if (load) notas.push(`answers ${[...load.statusCounts].map(([s, n]) => `${s || 'none'}×${n}`).join(' ')}`)
  const lateAttempts = entregas.reduce((sum, { late_count }) => sum + late_count, 0)
  if (lateAttempts > 0) notas.push(`${lateAttempts} late attempts`)
  if (testimony.avisos.size > 0) notas.push(`warnings ${[...testimony.avisos].map(([a, n]) => `${a}×${n}`).join(', ')}`)
  return {
    scenario,
    trial: `${trial}, ${entregas.length} entregas`,
    lost: lostGuias.length + eventosWithoutEntrega + Math.max(undelivered.length, unreceivedCount),
    duplicateCount,
    recoverySeconds,
    fallas: faults,
    notas,
  }
}
