import { buildLoteJson, buildLoteScript } from '../harness/data.ts'
import type { Bench, BenchComercio, BenchInstallation } from '../harness/environment.ts'
import { type LoadParameters, runLoad } from '../harness/load.ts'
import { runPgbench } from '../harness/pgbench.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave } from '../harness/rounds.ts'
import { buildCreateLoad, buildReportRow, warmUp } from './create.ts'

/** Guides per batch. */
export const GUIAS = 100

/** Returns a load that creates batches of {@link GUIAS} guides and requires that all are created. */
const buildLotesLoad = (
  url: string,
  comercio: BenchComercio,
  connections: number,
  segundos: number,
): LoadParameters => ({
  url,
  connections,
  segundos,
  expectedStatus: 200,
  next: () => ({ method: 'POST', path: '/api/v1/guias/bulk', llave: comercio.llave, body: buildLoteJson(GUIAS) }),
  check: (body) => body.startsWith(`{"ok":true,"creadas":${GUIAS},"repetidas":0,"fallidas":0,`),
})

/** Measures batches in turns with a reference, which creates guides in its own way. */
const contra =
  (
    connections: number,
    name: string,
    valor: number,
    readFigure: (
      bench: Bench,
      base: BenchInstallation,
      comercio: BenchComercio,
      url: string,
    ) => (() => Promise<number>) | undefined,
  ) =>
  (bench: Bench) =>
    bench.withDatabase(async (base) => {
      const { rounds, seconds } = bench.options
      const [comercio] = (await base.createComercios(1)) as [BenchComercio]
      const { url } = await base.service()
      await warmUp(bench, base, buildLotesLoad(url, comercio, 8, seconds))
      const load = buildLotesLoad(url, comercio, connections, seconds)
      const program = async () => (await runLoad(load)).perSecond * GUIAS
      const values = await interleave(rounds, { program, reference: readFigure(bench, base, comercio, url) })
      const measurement = `lotes de ${GUIAS}, ${connections} ${connections === 1 ? 'conexión' : 'conexiones'}`
      return { rows: [buildReportRow(measurement, 'guías/s', name, values, { comparison: '≥', value: valor })] }
    })

export const loteMeasurements: Measurement[] = [
  {
    clave: 'lote',
    descripcion: 'lotes de 100, 8 conexiones, contra pgbench con las 100 filas en una sentencia y un JSON',
    measure: contra(8, 'pgbench', 0.7, ({ pgbench, folder, options: { seconds: segundos } }, { url }, comercio) => {
      const pgbenchRun = { url, folder, ...buildLoteScript(comercio, GUIAS), clients: 8, segundos }
      return pgbench ? async () => (await runPgbench(pgbenchRun)) * GUIAS : undefined
    }),
  },
  {
    clave: 'lote100',
    descripcion: 'lotes de 100 contra las mismas guías de una en una',
    measure: contra(1, 'de una en una', 8, ({ options: { seconds } }, _base, comercio, url) => {
      const singlesLoad = buildCreateLoad(url, [comercio], 1, seconds)
      return async () => (await runLoad(singlesLoad)).perSecond
    }),
  },
]
