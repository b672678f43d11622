/** Median, minimum and maximum of the rounds. */
export interface Serie {
  mediana: number
  min: number
  max: number
}

/** Returns the median, minimum and maximum of values; NaN without values. */
export function resumir(valores: readonly number[]): Serie {
  const ordenados = valores.toSorted((a, b) => a - b)
  const en = (i: number) => ordenados[i] ?? Number.NaN
  const mitad = (ordenados.length - 1) / 2
  return { mediana: (en(Math.floor(mitad)) + en(Math.ceil(mitad))) / 2, min: en(0), max: en(ordenados.length - 1) }
}

/** Summarizes the ratios of each round, because only values of the same round are comparable. */
export const razones = (programa: readonly number[], referencia: readonly number[]): Serie =>
  resumir(programa.map((valor, i) => valor / (referencia[i] ?? Number.NaN)))

/**
 * Runs each cell once per round. The order alternates, so that no side always comes first. An undefined cell gives no
 * values.
 */
export async function intercalar<Lado extends string, Valor = number>(
  rondas: number,
  celdas: Readonly<Record<Lado, (() => Promise<Valor>) | undefined>>,
): Promise<Record<Lado, Valor[]>> {
  const lados = Object.keys(celdas) as Lado[]
  const valores = Object.fromEntries(lados.map((lado) => [lado, [] as Valor[]])) as Record<Lado, Valor[]>
  for (let ronda = 0; ronda < rondas; ronda++) {
    for (const lado of ronda % 2 === 0 ? lados : lados.toReversed()) {
      const celda = celdas[lado]
      if (celda) valores[lado].push(await celda())
    }
  }
  return valores
}
