import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../server/startup/metrics.ts'
import type { MetricValues } from '../../server/startup/processes/messages.ts'
import { sumMetrics } from '../../server/startup/processes/sums.ts'

type Con = { exemplar?: { timestamp: number } | null }

/** Metrics of a process that answered these requests; its exemplars are as old as told. */
async function proceso(exemplars: boolean, edad: number, ...solicitudes: [segundos: number, traza: string][]) {
  const metricas = createMetrics(exemplars)
  for (const [segundos, traza] of solicitudes) metricas.solicitud('crearGuia', 201, segundos, traza)
  // As another process gets them.
  const valores = JSON.parse(JSON.stringify(await metricas.values())) as MetricValues
  for (const { values } of valores) for (const { exemplar } of values as Con[]) if (exemplar) exemplar.timestamp -= edad
  return valores
}
const cubeta = (le: string) =>
  new RegExp(`^guias_solicitud_segundos_bucket\\{le="${le}",operacion="crearGuia"\\} .*$`, 'm')

describe('the sum of the metrics of processes', () => {
  it('keeps the newest exemplar of each bucket, in any order of the processes', async () => {
    const nuevo = await proceso(true, 0, [0.004, 'a'])
    const viejo = await proceso(true, 60, [0.003, 'b'], [2, 'c'])
    for (const procesos of [
      [nuevo, viejo],
      [viejo, nuevo],
    ]) {
      const texto = await (await sumMetrics(procesos, true)).metrics()
      expect(cubeta('0.005').exec(texto)![0]).toMatch(/\} 2 # \{trace_id="a"\} 0\.004 /)
      expect(cubeta('2.5').exec(texto)![0]).toMatch(/\} 3 # \{trace_id="c"\} 2 /)
      expect(cubeta('0.01').exec(texto)![0]).toMatch(/\} 2$/)
    }
  })

  it('keeps them when it is added up again', async () => {
    const primera = await sumMetrics([await proceso(true, 60, [0.004, 'a'])], true)
    const texto = await (await sumMetrics([await primera.getMetricsAsJSON(), await proceso(true, 0)], true)).metrics()
    expect(cubeta('0.005').exec(texto)![0]).toMatch(/\} 1 # \{trace_id="a"\}/)
  })

  it.each([true, false])('names counters as one process does (exemplars: %s)', async (exemplars) => {
    const valores = [await proceso(exemplars, 0, [1, 'a']), await proceso(exemplars, 0, [1, 'b'])]
    const texto = await (await sumMetrics(valores, exemplars)).metrics()
    expect(texto).toMatch(/^guias_solicitudes_total\{operacion="crearGuia",status="201"\} 2$/m)
    expect(texto).not.toContain('_total_total')
    expect(texto.endsWith('# EOF\n')).toBe(exemplars)
    expect(texto.includes('trace_id')).toBe(exemplars)
  })
})
