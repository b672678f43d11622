/** Sample of a scrape: the name of a series with its labels, and its value. */
export type MetricSamples = ReadonlyMap<string, number>

/** Reads `/metrics` of a process. */
export async function scrapeMetrics(port: number): Promise<MetricSamples> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(
    lines.map((line) => {
      const separatorIndex = line.lastIndexOf(' ')
      return [line.slice(0, separatorIndex), Number(line.slice(separatorIndex + 1))]
    }),
  )
}

/** Largest value of the series of a metric; undefined without a series. */
export function valueIn(samples: MetricSamples, metric: string): number | undefined {
  const metricSeries = [...samples].filter(
    ([seriesName]) => seriesName === metric || seriesName.startsWith(`${metric}{`),
  )
  return metricSeries.length > 0 ? Math.max(...metricSeries.map(([, value]) => value)) : undefined
}
