import { setTimeout as sleep } from 'node:timers/promises'
import { buildGuiaJson, buildInvalidGuiaJson } from '../harness/data.ts'
import type { Bench, RunningProgram } from '../harness/environment.ts'
import { type LoadRequest, runLoad } from '../harness/load.ts'
import { formatNumber } from '../harness/number.ts'
import type { Measurement } from '../harness/report.ts'
import { interleave, summarize } from '../harness/rounds.ts'
import { buildCreateLoad, buildReportRow, warmUp } from './create.ts'

/** Merchants that create guides at their usual rate (VECINOS), and requests per second of each (RITMO). */
const NEIGHBOUR_COUNT = 8
const NEIGHBOUR_RATE = 20
/** Connections of the flood. */
const CONNECTIONS = 32

/** Flood of requests at ten times the rate limit. */
interface Flood {
  nombre: string
  /** Rate of the flood, in requests per second. */
  perSecond: number
  request: () => LoadRequest
}

const FLOODS: readonly Flood[] = [
  {
    nombre: 'creaciones',
    perSecond: 500,
    request: () => ({ method: 'POST', path: '/api/v1/guias', body: buildGuiaJson() }),
  },
  {
    nombre: 'lotes de cien, todas con fallas',
    perSecond: 50,
    request: () => ({
      method: 'POST',
      path: '/api/v1/guias/bulk',
      body: `{"guias":[${Array.from({ length: 100 }, buildInvalidGuiaJson).join()}]}`,
    }),
  },
  {
    nombre: 'listas de cien',
    perSecond: 500,
    request: () => ({ method: 'GET', path: '/api/v1/guias?limite=100' }),
  },
]

/**
 * Measures the p95 of eight merchants at their usual rate while another merchant floods the service, with the default
 * limits. The reference is the same flood to a bare server that answers 429.
 */
const measure =
  ({ nombre, perSecond, request }: Flood) =>
  (bench: Bench) =>
    bench.withDatabase(async (base) => {
      const { seconds, rounds } = bench.options
      const neighbours = await base.createComercios(NEIGHBOUR_COUNT)
      const [flooder] = await base.createComercios(1, 'live', { solicitudes: 50, guias: 100 })
      // As in production, the service writes its log and has the default limits.
      const service = await base.service({
        REQUESTS_PER_NETWORK: '50',
        CONNECTIONS_PER_NETWORK: '500',
        LOG_LEVEL: 'info',
      })
      const bareProgram = await base.program('bare.ts', ['429'])
      const neighbourLoad = {
        ...buildCreateLoad(service.url, neighbours, NEIGHBOUR_COUNT, seconds),
        rate: NEIGHBOUR_RATE,
      }
      await warmUp(bench, base, { ...neighbourLoad, rate: 100 })
      const runFlood = ({ url }: RunningProgram) =>
        runLoad({
          url,
          segundos: seconds + 1,
          connections: CONNECTIONS,
          rate: perSecond / CONNECTIONS,
          next: () => ({ ...request(), llave: flooder!.llave }),
        })
      const sentRates: number[] = []
      const floodFrom = (program: RunningProgram) => async () => {
        const runningFlood = runFlood(program)
        // The flood reaches full rate before the neighbours start.
        await sleep(500)
        const [{ p95 }, sentLoad] = await Promise.all([runLoad(neighbourLoad), runningFlood])
        if (program === service) sentRates.push(sentLoad.perSecond)
        return p95
      }
      await floodFrom(service)()
      sentRates.length = 0
      const values = await interleave(rounds, { program: floodFrom(service), reference: floodFrom(bareProgram) })
      const target = { comparison: '≤' as const, value: 1.25, slack: 10 }
      return {
        rows: [
          buildReportRow(
            `p95 de ${NEIGHBOUR_COUNT} comercios, otro inunda de ${nombre}`,
            'ms',
            '429 desnudo',
            values,
            target,
          ),
        ],
        notas: [`la inundación: ${formatNumber(summarize(sentRates).median)} por segundo`],
      }
    })

export const limitMeasurements: Measurement[] = FLOODS.map((flood, n) => ({
  clave: `limite${n + 1}`,
  descripcion: `creaciones de los demás mientras uno inunda de ${flood.nombre}, con los límites de todos`,
  separate: () => true,
  measure: measure(flood),
}))
