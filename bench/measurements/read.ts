import { createCursors } from '../../server/api/lists/cursor.ts'
import { createSecrets } from '../../server/platform/secrets.ts'
import { buildDetailScript, RARE_ESTADOS, readRandomGuias, seedFinishedEntregas, seedGuias } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation, RunningProgram } from '../harness/environment.ts'
import { type LoadConnection, openLoadConnection, runLoad } from '../harness/load.ts'
import { miles } from '../harness/number.ts'
import { runPgbench } from '../harness/pgbench.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'
import { buildReportRow, createMeter } from './create.ts'

/** Guides per page. */
export const GUIAS_PER_PAGE = 50
const DEPTHS = [0, 1e3, 1e4, 1e5, 5e5, 1e6]
/** Distinct pages of each depth, so that no page stays in every cache. */
const VARIANTS = 20
/** Page reads per second of the option `--segundos`, at each depth and round. */
const READS_PER_SECOND = 50

const [RARE_ESTADO] = RARE_ESTADOS

interface PagePosition {
  nombre: string
  comercio: BenchComercio
  /** Position of the page: listed guides that are newer than its first guide. */
  depth: number
  /** States of the filter, in alphabetical order as the cursor requires. */
  estados?: readonly string[]
}

/**
 * Returns the paths of the pages. Encrypts cursors as the service does, because paging to a deep page takes too long.
 */
async function buildPagePaths(
  bench: Bench,
  { db }: BenchInstallation,
  { comercio, depth, estados }: PagePosition,
): Promise<string[]> {
  const firstPagePath = `/api/v1/guias?limite=${GUIAS_PER_PAGE}${(estados ?? []).map((estado) => `&estado=${estado}`).join('')}`
  if (depth === 0) return [firstPagePath]
  const cursors = createCursors(createSecrets(bench.masterKeys))
  const scope = {
    operacion: 'listarGuias',
    dueno: `${comercio.id}:${comercio.modo}`,
    filters: { comercioId: comercio.id, modo: comercio.modo, ...(estados ? { estado: estados } : {}) },
  }
  const { rows } = await db.pool.query<{ id: string }>(
    `select id from (select id, row_number() over (order by id desc) as n from guia where comercio_id = $1 and modo = $2
     and ($3::text[] is null or estado = any($3))) x where n = any($4) order by id`,
    [
      comercio.id,
      comercio.modo,
      estados ?? null,
      Array.from({ length: VARIANTS }, (_, i) => depth - i * GUIAS_PER_PAGE).filter((n) => n > 0),
    ],
  )
  return rows.map(({ id }) => `${firstPagePath}&cursor=${cursors.encrypt(scope, [id])}`)
}

/** Requests a path and returns the milliseconds until its answer. */
export async function read(connection: LoadConnection, llave: string, path: string): Promise<number> {
  const start = performance.now()
  const { status, body } = await connection.request({ method: 'GET', path, llave })
  const ms = performance.now() - start
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${body().slice(0, 1000)}`)
  return ms
}

const measurePages = (bench: Bench) =>
  bench.withDatabase(async (base) => {
    const { rounds, seconds, guias } = bench.options
    const [comercio, smallComercio] = (await base.createComercios(2)) as [BenchComercio, BenchComercio]
    await seedGuias(base.url, { comercio: smallComercio, hasta: 2 * GUIAS_PER_PAGE })
    await seedGuias(base.url, { comercio, hasta: guias })
    // A cursor at this depth still has one full page of guides after it.
    const lastPageDepth = guias - GUIAS_PER_PAGE
    const depths = [...DEPTHS.filter((n) => n < lastPageDepth), lastPageDepth]
    const rareCount = Math.floor(guias / Math.max(1, Math.floor(guias / 200)))
    const positions: PagePosition[] = [
      ...depths.map((depth) => ({
        nombre: `página de ${GUIAS_PER_PAGE} tras ${miles(depth)} guías`,
        comercio,
        depth,
      })),
      { nombre: 'de un estado raro, la primera', comercio, depth: 0, estados: [RARE_ESTADO] },
      { nombre: 'de un estado raro, la última', comercio, depth: rareCount - GUIAS_PER_PAGE, estados: [RARE_ESTADO] },
      {
        nombre: 'de dos estados raros, la última',
        comercio,
        depth: 2 * rareCount - GUIAS_PER_PAGE,
        estados: RARE_ESTADOS,
      },
      {
        nombre: 'de un estado común, la última',
        comercio,
        depth: lastPageDepth - 2 * rareCount,
        estados: ['aceptado'],
      },
      // The guides of this merchant are older than nearly all guides of the other merchant.
      { nombre: `de un comercio de ${2 * GUIAS_PER_PAGE} guías, la primera`, comercio: smallComercio, depth: 0 },
    ]
    const paths = await Promise.all(positions.map((place) => buildPagePaths(bench, base, place)))
    const { url } = await base.service()
    const connection = openLoadConnection(url)
    // Depths alternate page by page, so that a slow moment of the machine affects all depths.
    const measureRound = async (turns: number) => {
      const durations = positions.map(() => [] as number[])
      for (let turn = 0; turn < turns; turn++) {
        for (const [i, pagePaths] of paths.entries())
          durations[i]!.push(await read(connection, positions[i]!.comercio.llave, pagePaths[turn % pagePaths.length]!))
      }
      return durations.map((readingOf) => summarize(readingOf).median)
    }
    await measureRound(VARIANTS * 3)
    const medians: number[][] = []
    for (let n = 0; n < rounds; n++) medians.push(await measureRound(seconds * READS_PER_SECOND))
    connection.close()

    const readingOf = (i: number) => medians.map((roundMedians) => roundMedians[i]!)
    const firstReading = { program: readingOf(0), reference: [] }
    return {
      rows: positions.map(({ nombre }, i) =>
        i === 0
          ? buildReportRow(`${nombre} (la primera)`, 'ms', '', firstReading)
          : buildReportRow(
              nombre,
              'ms',
              'la primera',
              { program: readingOf(i), reference: readingOf(0) },
              { comparison: '≤', value: 1.2 },
            ),
      ),
      charts: [
        {
          name: 'paginas',
          chart: {
            titulo: `Una página de ${GUIAS_PER_PAGE} de ${miles(guias)} guías`,
            xAxis: 'profundidad (guías antes de la página)',
            yAxis: 'ms',
            isLogarithmic: true,
            lineas: [{ nombre: 'servicio', points: depths.map((x, i) => ({ x, y: summarize(readingOf(i)) })) }],
          },
        },
      ],
    }
  })

/** Paths of a read under load. `script` is the pgbench script that reads the same rows, if pgbench is the reference. */
interface ReadCase {
  measurement: string
  paths: readonly string[]
  script?: string
}

/**
 * Measures a read under load, against pgbench with the same rows. Without a script, the reference is the bare server of
 * `bench/minimal.ts`.
 * @param valor minimum ratio to the reference
 */
const compareReads =
  (valor: number, prepare: (base: BenchInstallation, comercio: BenchComercio, guias: number) => Promise<ReadCase>) =>
  (bench: Bench) =>
    bench.withDatabase(async (base) => {
      const { rounds, seconds: segundos } = bench.options
      const guias = Math.min(bench.options.guias, 100_000)
      const connections = 32
      const [comercio] = (await base.createComercios(1)) as [BenchComercio]
      await seedGuias(base.url, { comercio, hasta: guias, eventos: 2 })
      const { measurement, paths, script } = await prepare(base, comercio, guias)
      const buildReadLoad = ({ url }: RunningProgram) => {
        let n = 0
        return {
          url,
          connections,
          segundos,
          delay: 200,
          next: () => ({ method: 'GET' as const, path: paths[++n % paths.length]!, llave: comercio.llave }),
        }
      }
      const prepareMeter = async (program: RunningProgram) => {
        const load = buildReadLoad(program)
        await runLoad({ ...load, segundos: 2 * segundos })
        return createMeter(bench, program, load)
      }
      const serviceMeter = await prepareMeter(await base.service())
      const bareMeter =
        script === undefined ? await prepareMeter(await base.program('minimal.ts', [comercio.id])) : undefined
      const runReadScript =
        bench.pgbench && script !== undefined
          ? () => runPgbench({ url: base.url, folder: bench.folder, script, clients: connections, segundos })
          : undefined
      const values = await interleave(rounds, {
        program: serviceMeter.measure,
        reference: bareMeter?.measure ?? runReadScript,
      })
      const name = bareMeter ? 'servidor mínimo' : 'pgbench'
      return {
        rows: [buildReportRow(measurement, 'lecturas/s', name, values, { comparison: '≥', value: valor })],
        notas: [serviceMeter.nota('servicio'), ...(bareMeter ? [bareMeter.nota(name)] : [])],
      }
    })

const detail = compareReads(0.4, async ({ db }, comercio, guias) => {
  const randomGuias = await readRandomGuias(db, 20_000)
  return {
    measurement: `detalle de una de ${miles(guias)} guías, 32 conexiones`,
    paths: randomGuias.map((guia) => `/api/v1/guias/${guia}`),
    script: buildDetailScript(comercio, guias),
  }
})

const eventos = compareReads(0.6, async () => ({
  measurement: `página de ${GUIAS_PER_PAGE} del flujo de eventos, 32 conexiones`,
  paths: [`/api/v1/eventos?limite=${GUIAS_PER_PAGE}`],
}))

const entregas = compareReads(0.6, async ({ url }, comercio, guias) => {
  const webhook = await seedFinishedEntregas(url, comercio, Math.min(guias, 20_000))
  return {
    measurement: `página de ${GUIAS_PER_PAGE} de las entregas de un webhook, 32 conexiones`,
    paths: [`/api/v1/webhooks/${webhook}/avisos?limite=${GUIAS_PER_PAGE}`],
  }
})

export const reading: Measurement[] = [
  {
    clave: 'paginas',
    descripcion: 'páginas de 50 a cada profundidad de la tabla grande, contra la primera',
    measure: measurePages,
  },
  {
    clave: 'detalle',
    descripcion: 'detalle de una guía, contra pgbench con las mismas dos lecturas',
    measure: detail,
  },
  {
    clave: 'eventos',
    descripcion: 'página del flujo de eventos, contra un servidor mínimo con las mismas filas',
    measure: eventos,
  },
  {
    clave: 'entregas',
    descripcion: 'página de las entregas de un webhook, contra un servidor mínimo con las mismas filas',
    measure: entregas,
  },
]
