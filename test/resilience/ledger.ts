import { unleasedDeliveries } from '../../server/domain/webhooks/due.ts'
import type { webhook_aviso } from '../../server/generated/contract/prisma/client.ts'
import { type Arnes, esperar } from './harness.ts'
import type { MerchantLoad } from './load.ts'

/** What a scenario comes to. */
export interface ScenarioResult {
  escenario: string
  /** What was done, and to how much. */
  probado: string
  /** Acknowledged guides that are gone, events without their delivery, deliveries not made or not received. */
  lost: number
  /** Answers of 2xx that the receiver gave a second time to the same webhook. */
  duplicado: number
  /** The longest that a delivery took, from its event or the last harm after it to its settling, in seconds. */
  recuperado: number
  /** Broken invariants. */
  fallas: string[]
  notas: string[]
}

interface Exigencias {
  escenario: string
  probado: string
  load?: Pick<MerchantLoad, 'guias' | 'canceladas' | 'fallas' | 'respuestas'>
  /** How long everything may take to be delivered from now on, in milliseconds. */
  timeout?: number
  /** When the last harm was done, as of Date.now(). */
  danado?: number
  /** How long any delivery may take from then on, in seconds. */
  recuperacion?: number
  /** How often the same webhook may reach its endpoint again. */
  repeticiones?: number
  /** Whether receivers failed, so that more than one attempt is right. */
  fallaron?: boolean
  /** Endpoints that don't count. */
  separate?: readonly string[]
  notas?: string[]
}

type AvisoDeWebhookRow = Pick<
  webhook_aviso,
  'webhook' | 'evento' | 'estado' | 'intentos' | 'creado_en' | 'terminado_en'
> & { url: string; no_tardios: number; tardios: number; numbers: number[] | null }

/** What it is held against. */
export type Testimony = Pick<Arnes, 'db' | 'receptor' | 'comercioId' | 'quejas' | 'avisos'>

/**
 * Waits until everything is delivered, then holds the database against what was acknowledged and what was received. One
 * function, because the result counts rows of every check.
 */
export async function closeLedger(arnes: Testimony, exigencias: Exigencias): Promise<ScenarioResult> {
  const { db, receptor } = arnes
  const {
    escenario,
    probado,
    load,
    timeout: timeoutMs = 75_000,
    recuperacion = 60,
    repeticiones = 0,
    separate: aparte = [],
  } = exigencias
  const fallas: string[] = []
  const notas = exigencias.notas ?? []
  const exigir = (bien: boolean, falla: string) => void (bien || fallas.push(falla))
  const consultar = async <Row extends object>(texto: string, valores: unknown[] = []) =>
    (await db.pool.query<Row>(texto, valores)).rows
  const contar = async (texto: string, valores: unknown[] = []) =>
    (await consultar<{ n: number }>(texto, valores))[0]!.n

  await esperar(
    async () =>
      (await contar(`select count(*)::int as n from webhook_aviso where estado = 'pendiente' and webhook <> all($1)`, [
        aparte,
      ])) === 0,
    timeoutMs,
    200,
  )

  // Guides: what was acknowledged exists, once, and nothing else does.
  const guias = await consultar<{ external_ref: string; guia: string; secuencia: number; estado: string }>(
    'select external_ref, guia, secuencia, estado from guia where comercio_id = $1',
    [arnes.comercioId],
  )
  const porRef = Map.groupBy(guias, ({ external_ref }) => external_ref)
  const acusadas = [...(load?.guias ?? [])]
  const lostGuias = acusadas.filter(([ref, guia]) => porRef.get(ref)?.[0]?.guia !== guia)
  exigir(lostGuias.length === 0, `${lostGuias.length} acknowledged guides are gone or others: ${lostGuias.slice(0, 3)}`)
  exigir(guias.length === porRef.size, 'a reference has two guides')
  if (load) exigir(guias.length === acusadas.length, `${guias.length} guides, ${acusadas.length} acknowledged`)
  const porCodigo = new Map(guias.map((row) => [row.guia, row]))
  const notCancelled = [...(load?.canceladas ?? [])].filter((guia) => porCodigo.get(guia)?.estado !== 'cancelado')
  exigir(notCancelled.length === 0, `acknowledged cancellings that are none: ${notCancelled.slice(0, 3)}`)

  // Events: gap-free, and each with one delivery per endpoint that wants it.
  const gapCount = await contar(
    `select count(*)::int as n from guia g where g.secuencia <> (select count(*) from evento v
       where v.comercio_id = g.comercio_id and v.modo = g.modo and v.guia_id = g.id and v.secuencia <= g.secuencia)
       or g.secuencia <> (select max(secuencia) from evento v
       where v.comercio_id = g.comercio_id and v.modo = g.modo and v.guia_id = g.id)`,
  )
  exigir(gapCount === 0, `${gapCount} guides whose history has gaps`)
  const eventosWithoutEntrega = await contar(
    `select count(*)::int as n from evento v join webhook w using (comercio_id, modo)
     left join webhook_aviso e using (comercio_id, modo, webhook, guia_id, secuencia)
     where (w.tipos @> array['*'] or w.tipos @> array[v.tipo]) and v.registrado_en >= w.creado_en and e.webhook is null`,
  )
  exigir(eventosWithoutEntrega === 0, `${eventosWithoutEntrega} events without their delivery`)
  const sobrantes = await contar(
    `select count(*)::int as n from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     left join evento v using (comercio_id, modo, guia_id, secuencia) where e.secuencia > 0
     and (v.guia_id is null or not (w.tipos @> array['*'] or w.tipos @> array[v.tipo]))`,
  )
  exigir(sobrantes === 0, `${sobrantes} deliveries that nobody asked for`)

  // Deliveries and their attempts.
  const entregas = await consultar<AvisoDeWebhookRow>(
    `select e.webhook, w.url, e.evento, e.estado, e.intentos,
       e.creado_en, e.terminado_en,
       (count(i.id) filter (where not i.tardio) + (e.exito is not null)::int)::int as no_tardios,
       count(i.id) filter (where i.tardio)::int as tardios,
       case when e.exito is null then '{}' else '{1}'::int[] end
         || array_agg(i.numero order by i.numero) filter (where not i.tardio) as numeros
     from webhook_aviso e join webhook w using (comercio_id, modo, webhook)
     left join webhook_intento i using (comercio_id, modo, webhook, guia_id, secuencia)
     where e.webhook <> all($1) group by e.comercio_id, e.modo, e.webhook, e.guia_id, e.secuencia, w.url`,
    [aparte],
  )
  const muestra = (rows: AvisoDeWebhookRow[]) => JSON.stringify(rows.slice(0, 3))
  const undelivered = entregas.filter(({ estado }) => estado !== 'entregado')
  exigir(undelivered.length === 0, `${undelivered.length} deliveries not made: ${muestra(undelivered)}`)
  const incoherentes = entregas.filter(
    ({ intentos, no_tardios, numbers: numeros }) =>
      intentos !== no_tardios || (numeros ?? []).some((n, i) => n !== i + 1),
  )
  exigir(incoherentes.length === 0, `${incoherentes.length} with other attempts than counted: ${muestra(incoherentes)}`)
  if (!exigencias.fallaron) {
    const gastadas = entregas.filter(({ intentos }) => intentos > 1)
    exigir(gastadas.length === 0, `${gastadas.length} lost attempts that no receiver refused: ${muestra(gastadas)}`)
  }
  const tarda = ({ creado_en, terminado_en }: AvisoDeWebhookRow, danado = 0) =>
    terminado_en ? (terminado_en.getTime() - Math.max(creado_en.getTime(), danado)) / 1000 : 0
  const recuperado = entregas.reduce((maximo, row) => Math.max(maximo, tarda(row, exigencias.danado)), 0)
  exigir(recuperado <= recuperacion, `a delivery took ${recuperado.toFixed(1)} s, more than ${recuperacion} s`)
  const total = entregas.reduce((maximo, row) => Math.max(maximo, tarda(row)), 0)
  notas.push(`the slowest delivery took ${total.toFixed(1)} s in all`)

  // What the receiver has.
  let unreceivedCount = 0
  let duplicado = 0
  let repetida = 0
  for (const { url, evento } of entregas) {
    const recepciones = receptor.receptions.get(`${new URL(url).pathname} ${evento}`) ?? []
    const successes = recepciones.filter(({ status }) => status !== null && status < 300)
    if (successes.length === 0) unreceivedCount++
    duplicado += Math.max(0, successes.length - 1)
    repetida = Math.max(repetida, successes.length - 1)
    exigir(new Set(recepciones.map(({ huella }) => huella)).size <= 1, `${evento} came with different bodies`)
  }
  exigir(unreceivedCount === 0, `${unreceivedCount} deliveries that the receiver never took`)
  exigir(repetida <= repeticiones, `a webhook came ${repetida} times again (${duplicado} in all), not ${repeticiones}`)
  exigir(receptor.rejected.length === 0, `bodies that aren't their id's: ${receptor.rejected[0]}`)

  // The queue: somebody holds the endpoint of what is due, and no lease waits for nobody.
  const allLeased = await esperar(
    async () => (await unleasedDeliveries({ db, clock: () => new Date() })) === 0,
    aparte.length > 0 ? 5_000 : 2_000,
  )
  exigir(allLeased === true, 'deliveries are due of endpoints that nobody holds')
  if (aparte.length === 0) {
    // A lease that lapsed with its worker is taken by another.
    const limpia = await esperar(
      async () =>
        (await contar(
          `select count(*)::int as n from pgboss.job where name = 'arriendos' and state in ('created', 'retry')`,
        )) === 0,
      5_000,
    )
    exigir(limpia === true, 'leases are left that nobody takes')
  }

  exigir((load?.fallas.length ?? 0) === 0, `answers: ${load?.fallas.slice(0, 3).join(' | ')}`)
  for (const queja of arnes.quejas.slice(0, 4)) fallas.push(`log: ${queja}`)
  if (arnes.quejas.length > 4) fallas.push(`log: …and ${arnes.quejas.length - 4} more`)
  if (load) notas.push(`answers ${[...load.respuestas].map(([s, n]) => `${s || 'none'}×${n}`).join(' ')}`)
  const tardios = entregas.reduce((suma, { tardios }) => suma + tardios, 0)
  if (tardios > 0) notas.push(`${tardios} late attempts`)
  if (arnes.avisos.size > 0) notas.push(`warnings ${[...arnes.avisos].map(([a, n]) => `${a}×${n}`).join(', ')}`)
  return {
    escenario,
    probado: `${probado}, ${entregas.length} entregas`,
    lost: lostGuias.length + eventosWithoutEntrega + Math.max(undelivered.length, unreceivedCount),
    duplicado,
    recuperado,
    fallas,
    notas,
  }
}
