import { isDistributed } from '../../server/data/db.ts'
import { buildGuiaJson, buildLoteJson } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation } from '../harness/environment.ts'
import { OptionsError } from '../harness/options.ts'
import type { Measurement, ReportRow, Target } from '../harness/report.ts'
import { interleave, summarize, summarizeRatios } from '../harness/rounds.ts'
import { type Case, type Figures, measureCase, type Side } from '../harness/sides.ts'
import { GUIAS } from './batch.ts'
import { analyzeDatabase } from './create.ts'

const COMERCIOS = 8
/** Seconds of warm-up for each kind of request: a session may keep a generic plan from the sixth execution on. */
const WARM_UP_SECONDS = 4

/** Running service over a database, with the postmasters behind it. A single PostgreSQL counts as a worker. */
interface ClusterSide extends Side {
  base: BenchInstallation
  comercios: readonly BenchComercio[]
}

const POSTMASTER = "select (regexp_split_to_array(pg_read_file('postmaster.pid'), '\n'))[1]::int as pid"

async function openSide(base: BenchInstallation): Promise<ClusterSide> {
  const comercios = await base.createComercios(COMERCIOS)
  const service = await base.service()
  const { rows } = await base.db.pool.query<{ pid: number; is_coordinator: boolean }>(
    isDistributed(base.db)
      ? `select result::int as pid, groupid = 0 as is_coordinator
         from run_command_on_all_nodes($$${POSTMASTER}$$) join pg_dist_node using (nodeid)`
      : `select pid, false as is_coordinator from (${POSTMASTER}) p`,
  )
  const pidsOf = (isCoordinator: boolean) =>
    rows.filter((item) => item.is_coordinator === isCoordinator).map(({ pid }) => pid)
  return {
    base,
    comercios,
    service,
    processes: { servicio: [service.pid], coordinator: pidsOf(true), workers: pidsOf(false) },
  }
}

const databaseCpuOf = ({ cpu }: Figures) => cpu.coordinator! + cpu.workers!

/** Measures a case on both sides in turns, and the CPU of each process. */
async function compareSides(
  { options }: Bench,
  cluster: ClusterSide,
  singleSide: ClusterSide,
  nodeCase: Case<ClusterSide>,
  target: Target,
): Promise<ReportRow[]> {
  for (const side of [cluster, singleSide]) {
    await measureCase(side, nodeCase, WARM_UP_SECONDS)
    await analyzeDatabase(side.base.url)
  }
  const { program, reference } = await interleave(options.rounds, {
    program: () => measureCase(cluster, nodeCase, options.seconds),
    reference: () => measureCase(singleSide, nodeCase, options.seconds),
  })
  const cpuRow = (
    label: string,
    figure: (item: Figures) => number,
    extraMembers: Partial<ReportRow> = {},
  ): ReportRow => ({
    measurement: `${nodeCase.name}: CPU ${label}`,
    unit: 'µs',
    program: summarize(program.map(figure)),
    ...extraMembers,
  })
  const againstSinglePostgres = (figure: (item: Figures) => number) => ({
    reference: { name: 'un PostgreSQL', series: summarize(reference.map(figure)) },
    ratio: summarizeRatios(program.map(figure), reference.map(figure)),
  })
  const part = (name: string) => (item: Figures) => item.cpu[name]!
  return [
    cpuRow('de la base', databaseCpuOf, { ...againstSinglePostgres(databaseCpuOf), target }),
    cpuRow('del coordinador', part('coordinator'), { target: { comparison: '≤', value: 20, isAbsolute: true } }),
    cpuRow('de los workers', part('workers')),
    cpuRow('del servicio', part('servicio'), againstSinglePostgres(part('servicio'))),
  ]
}

const llaveOf = ({ comercios }: ClusterSide, connection: number) => comercios[connection % comercios.length]!.llave

const buildCreationCase = (connections: number): Case<ClusterSide> => ({
  name: `una guía, ${connections} conexiones`,
  connections,
  status: 201,
  next: (side, n) => ({ method: 'POST', path: '/api/v1/guias', llave: llaveOf(side, n), body: buildGuiaJson() }),
})

const lotes: Case<ClusterSide> = {
  name: `una guía de un lote de ${GUIAS}, 8 conexiones`,
  connections: 8,
  status: 200,
  items: GUIAS,
  next: (side, n) => ({
    method: 'POST',
    path: '/api/v1/guias/bulk',
    body: buildLoteJson(GUIAS),
    llave: llaveOf(side, n),
  }),
}

/** Returns a case that reads the detail of existing guides, each with the key of its merchant. */
async function details(sides: readonly ClusterSide[]): Promise<Case<ClusterSide>> {
  const sql = 'select guia, comercio_id from guia_indice order by random() limit 5000'
  const guiasBySide = new Map<ClusterSide, readonly { guia: string; comercio_id: string }[]>()
  for (const side of sides) guiasBySide.set(side, (await side.base.db.pool.query(sql)).rows)
  return {
    name: 'un detalle, 16 conexiones',
    connections: 16,
    status: 200,
    next(side) {
      const guias = guiasBySide.get(side)!
      const { guia, comercio_id } = guias[Math.floor(Math.random() * guias.length)]!
      const { llave } = side.comercios.find(({ id }) => id === comercio_id)!
      return { method: 'GET', path: `/api/v1/guias/${guia}`, llave }
    },
  }
}

export const nodeMeasurements: Measurement[] = [
  {
    clave: 'nodos',
    descripcion: 'CPU de cada proceso sobre un clúster (CITUS_URL) y sobre un PostgreSQL (POSTGRES_URL)',
    separate: () => true,
    measure(bench) {
      const { CITUS_URL, POSTGRES_URL } = process.env
      if (!CITUS_URL || !POSTGRES_URL)
        throw new OptionsError(
          'nodos pide CITUS_URL y POSTGRES_URL: una base vacía en un clúster y otra en un solo PostgreSQL de la misma versión, en esta máquina. Las llena y no las borra.',
        )
      return bench.withDatabaseAt(CITUS_URL, (distributed) =>
        bench.withDatabaseAt(POSTGRES_URL, async (item) => {
          const [cluster, singleSide] = [await openSide(distributed), await openSide(item)]
          const contra = (nodeCase: Case<ClusterSide>, valor: number) =>
            compareSides(bench, cluster, singleSide, nodeCase, { comparison: '≤', value: valor })
          return {
            rows: [
              ...(await contra(buildCreationCase(16), 1.3)),
              ...(await contra(buildCreationCase(64), 1.6)),
              ...(await contra(lotes, 1.2)),
              ...(await contra(await details([cluster, singleSide]), 2.2)),
            ],
          }
        }),
      )
    },
  },
]
