import { describe, expect, it } from 'vitest'
import { createMetrics } from '../../server/startup/metrics.ts'
import type { MetricValues } from '../../server/startup/processes/messages.ts'
import { sumMetrics } from '../../server/startup/processes/sums.ts'

type Con = { exemplar?: { timestamp: number } | null }

/** Metrics of a process that answered these requests; its exemplars are as old as told. */
async function child(exemplars: boolean, age: number, ...solicitudes: [segundos: number, traza: string][]) {
  const metrics = createMetrics(exemplars)
  for (const [seconds, traza] of solicitudes) metrics.solicitud('crearGuia', 201, seconds, traza)
  // As another process gets them.
  const valores = JSON.parse(JSON.stringify(await metrics.values())) as MetricValues
  for (const { values } of valores) for (const { exemplar } of values as Con[]) if (exemplar) exemplar.timestamp -= age
  return valores
}
const bucketPattern = (le: string) =>
  new RegExp(`^guias_solicitud_segundos_bucket\\{le="${le}",operacion="crearGuia"\\} .*$`, 'm')

describe('the sum of the metrics of processes', () => {
  it('keeps the newest exemplar of each bucket, in any order of the processes', async () => {
    const restarted = await child(true, 0, [0.004, 'a'])
    const old = await child(true, 60, [0.003, 'b'], [2, 'c'])
    for (const processes of [
      [restarted, old],
      [old, restarted],
    ]) {
      const text = await (await sumMetrics(processes, true)).metrics()
      expect(bucketPattern('0.005').exec(text)![0]).toMatch(/\} 2 # \{trace_id="a"\} 0\.004 /)
      expect(bucketPattern('2.5').exec(text)![0]).toMatch(/\} 3 # \{trace_id="c"\} 2 /)
      expect(bucketPattern('0.01').exec(text)![0]).toMatch(/\} 2$/)
    }
  })

  it('keeps them when it is added up again', async () => {
    const first = await sumMetrics([await child(true, 60, [0.004, 'a'])], true)
    const text = await (await sumMetrics([await first.getMetricsAsJSON(), await child(true, 0)], true)).metrics()
    expect(bucketPattern('0.005').exec(text)![0]).toMatch(/\} 1 # \{trace_id="a"\}/)
  })

  it.each([true, false])('names counters as one process does (exemplars: %s)', async (exemplars) => {
    const values = [await child(exemplars, 0, [1, 'a']), await child(exemplars, 0, [1, 'b'])]
    const text = await (await sumMetrics(values, exemplars)).metrics()
    expect(text).toMatch(/^guias_solicitudes_total\{operacion="crearGuia",status="201"\} 2$/m)
    expect(text).not.toContain('_total_total')
    expect(text.endsWith('# EOF\n')).toBe(exemplars)
    expect(text.includes('trace_id')).toBe(exemplars)
  })
})
