import { AggregatorRegistry, Registry, type RegistryContentType } from 'prom-client'
import type { MetricValues } from './messages.ts'

/** Trace (exemplar) of a request in a bucket. prom-client stores it, but its types do not declare it. */
interface Exemplar {
  labelSet: Readonly<Record<string, string>>
  value: number
  timestamp: number
}
type Metric = MetricValues[number]
type Sample = Metric['values'][number] & { metricName?: string; exemplar?: Exemplar | null }

const keyOf = ({ metricName = '', labels }: Sample, { name }: Metric) =>
  JSON.stringify([name, metricName, Object.entries(labels).sort()])

/** OpenMetrics adds `_total` to the name of a counter. prom-client's sums would have it twice. */
const withoutTotal = (metric: Metric): Metric =>
  String(metric.type) === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric

function newestExemplars(processes: readonly MetricValues[]): ReadonlyMap<string, Exemplar> {
  const newest = new Map<string, Exemplar>()
  for (const metric of processes.flat())
    for (const sample of metric.values as Sample[]) {
      const key = keyOf(sample, metric)
      if (sample.exemplar && sample.exemplar.timestamp > (newest.get(key)?.timestamp ?? 0))
        newest.set(key, sample.exemplar)
    }
  return newest
}

/**
 * Sums the metrics of several processes in a new registry.
 * @param exemplars true if each bucket has its newest exemplar, which prom-client's sums lose. The text then is
 *   OpenMetrics.
 */
export async function sumMetrics(processes: readonly MetricValues[], exemplars: boolean): Promise<Registry> {
  if (!exemplars) return AggregatorRegistry.aggregate([...processes])
  const named = processes.map((metrics) => metrics.map(withoutTotal))
  const sums: Registry<RegistryContentType> = AggregatorRegistry.aggregate(named)
  sums.setContentType(Registry.OPENMETRICS_CONTENT_TYPE)
  const newest = newestExemplars(named)
  // The registry returns its own metric objects and not copies, so changing them changes the registry.
  for (const metric of await sums.getMetricsAsJSON())
    for (const sample of metric.values as Sample[]) sample.exemplar = newest.get(keyOf(sample, metric)) ?? null
  return sums as Registry
}

/** Content type of the text of {@link sumMetrics}. */
export const sumsType = (exemplars: boolean): string =>
  exemplars ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE
