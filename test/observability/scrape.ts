/** Sample of a scrape: the name of a series with its labels, and its value. */
export type MetricSamples = ReadonlyMap<string, number>

/** Reads `/metrics` of a process. */
export async function scrapeMetrics(port: number): Promise<MetricSamples> {
  const texto = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
  const lineas = texto.split('\n').filter((linea) => linea !== '' && !linea.startsWith('#'))
  return new Map(
    lineas.map((linea) => {
      const corte = linea.lastIndexOf(' ')
      return [linea.slice(0, corte), Number(linea.slice(corte + 1))]
    }),
  )
}

/** Largest value of the series of a metric; undefined without a series. */
export function valorDe(muestras: MetricSamples, metrica: string): number | undefined {
  const metricSeries = [...muestras].filter(([serie]) => serie === metrica || serie.startsWith(`${metrica}{`))
  return metricSeries.length > 0 ? Math.max(...metricSeries.map(([, valor]) => valor)) : undefined
}
