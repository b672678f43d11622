import { buildGuiaJson, seededCodeSql, seedGuias } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation } from '../harness/environment.ts'
import { miles } from '../harness/number.ts'
import type { Measurement, ReportRow } from '../harness/report.ts'
import { interleave, type Series, summarizeRatios } from '../harness/rounds.ts'
import { type Case, measureCase, type Side } from '../harness/sides.ts'
import { analyzeDatabase, buildReportRow } from './create.ts'

/** Guides in the reference table, and in the growing one. */
const SMALL_TABLE_GUIAS = 100_000
const TABLE_SIZES = [300_000, 1_000_000, 3_000_000, 10_000_000]
/** Events per guide, from accepted to delivered. */
const EVENTOS = 6
const CONNECTIONS = 32
/** Distinct guides and pages of each kind of read, so that no page of the table stays in every cache. */
const VARIANTS = 500

/**
 * Service on a database with guides and events of one merchant. `paths`: request paths, by the name of the read that is
 * measured.
 */
interface GrowthSide extends Side {
  base: BenchInstallation
  comercio: BenchComercio
  paths: Readonly<Record<string, readonly string[]>>
}

/** Returns the paths of each kind of read, at random positions of the whole table. */
async function findReadPaths({ db }: BenchInstallation, guias: number): Promise<GrowthSide['paths']> {
  const randomNumbers = Array.from({ length: VARIANTS }, () => 1 + Math.floor(Math.random() * guias))
  const { rows } = await db.pool.query<{ guia: string; en: Date }>(
    `select g.guia, g.creado_en as en from unnest($1::bigint[]) n join guia_indice i on i.guia = ${seededCodeSql('n')}
     join guia g on g.comercio_id = i.comercio_id and g.modo = i.modo and g.id = i.id`,
    [randomNumbers],
  )
  const instants = rows.map(({ en }) => encodeURIComponent(en.toISOString()))
  return {
    'detalle de una guía': rows.map(({ guia }) => `/api/v1/guias/${guia}`),
    'página de 50 guías, la primera': ['/api/v1/guias?limite=50'],
    'página de 50 guías de antes de un instante': instants.map((en) => `/api/v1/guias?limite=50&creado_hasta=${en}`),
    'página de 50 guías de un estado raro': ['/api/v1/guias?limite=50&estado=devuelto'],
    'página de 50 eventos del flujo': ['/api/v1/eventos?limite=50'],
    'página de 50 eventos desde un instante': instants.map((en) => `/api/v1/eventos?limite=50&desde=${en}`),
  }
}

async function openSide(base: BenchInstallation): Promise<Omit<GrowthSide, 'paths'>> {
  const [comercio] = (await base.createComercios(1)) as [BenchComercio]
  await seedGuias(base.url, { comercio, hasta: SMALL_TABLE_GUIAS, eventos: EVENTOS })
  return { base, comercio, service: await base.service(), processes: {} }
}

const reading = (name: string): Case<GrowthSide> => ({
  name,
  connections: 1,
  status: 200,
  next({ paths, comercio }) {
    const casePaths = paths[name]!
    return {
      method: 'GET',
      path: casePaths[Math.floor(Math.random() * casePaths.length)]!,
      llave: comercio.llave,
    }
  },
})
const creation: Case<GrowthSide> = {
  name: `una creación de las de ${CONNECTIONS} conexiones`,
  connections: CONNECTIONS,
  status: 201,
  next: ({ comercio }) => ({ method: 'POST', path: '/api/v1/guias', llave: comercio.llave, body: buildGuiaJson() }),
}

/** Compares the reads and creations of the growing table with those of the small one, in turns. */
async function compareGrowth(
  { options }: Bench,
  fixedSide: GrowthSide,
  grownSide: GrowthSide,
  guias: number,
): Promise<ReportRow[]> {
  const { rounds, seconds } = options
  const rows: ReportRow[] = []
  for (const measuredCase of [...Object.keys(fixedSide.paths).map(reading), creation]) {
    for (const side of [fixedSide, grownSide]) {
      await measureCase(side, measuredCase, seconds)
      if (measuredCase === creation) await analyzeDatabase(side.base.url)
    }
    const ms = async (side: GrowthSide) => 1_000 / (await measureCase(side, measuredCase, seconds)).rate
    const values = await interleave(rounds, { program: () => ms(grownSide), reference: () => ms(fixedSide) })
    const target = { comparison: '≤' as const, value: 1.2 }
    rows.push(
      buildReportRow(`${measuredCase.name}, de ${miles(guias)} guías`, 'ms', miles(SMALL_TABLE_GUIAS), values, target),
    )
  }
  return rows
}

const measure = (bench: Bench) =>
  bench.withDatabase((smallBase) =>
    bench.withDatabase(async (large) => {
      const fixedSide = { ...(await openSide(smallBase)), paths: await findReadPaths(smallBase, SMALL_TABLE_GUIAS) }
      const grownSide = await openSide(large)
      const rows: ReportRow[] = []
      const curves = new Map<string, { x: number; y: Series }[]>()
      let seededCount = SMALL_TABLE_GUIAS
      for (const guias of TABLE_SIZES.filter((size) => size <= bench.options.guias)) {
        await seedGuias(large.url, {
          comercio: grownSide.comercio,
          desde: seededCount + 1,
          hasta: guias,
          eventos: EVENTOS,
        })
        seededCount = guias
        const comparedRows = await compareGrowth(
          bench,
          fixedSide,
          { ...grownSide, paths: await findReadPaths(large, guias) },
          guias,
        )
        for (const { measurement, ratio } of comparedRows) {
          const [name = ''] = measurement.split(', de ')
          curves.set(name, [...(curves.get(name) ?? []), { x: guias, y: ratio! }])
        }
        rows.push(...comparedRows)
      }
      const start = { x: SMALL_TABLE_GUIAS, y: summarizeRatios([1], [1]) }
      const chart = {
        titulo: `Cuánto más que con ${miles(SMALL_TABLE_GUIAS)} guías, de ${EVENTOS} eventos cada una`,
        xAxis: 'guías',
        yAxis: 'veces',
        isLogarithmic: true,
        lineas: [...curves].map(([nombre, points]) => ({ nombre, points: [start, ...points] })),
      }
      return { rows, charts: [{ name: 'crecer', chart }] }
    }),
  )

export const growthMeasurements: Measurement[] = [
  {
    clave: 'crecer',
    descripcion: `creación, detalle, páginas y flujo mientras la tabla crece hasta --guias, contra una de ${miles(SMALL_TABLE_GUIAS)}`,
    separate: () => true,
    measure,
  },
]
