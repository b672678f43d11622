/** Median, minimum and maximum of the rounds. */
export interface Series {
  median: number
  min: number
  max: number
}

/** Returns the median, minimum and maximum of values; NaN without values. */
export function summarize(values: readonly number[]): Series {
  const sortedValues = values.toSorted((a, b) => a - b)
  const valueAt = (i: number) => sortedValues[i] ?? Number.NaN
  const middle = (sortedValues.length - 1) / 2
  return {
    median: (valueAt(Math.floor(middle)) + valueAt(Math.ceil(middle))) / 2,
    min: valueAt(0),
    max: valueAt(sortedValues.length - 1),
  }
}

/** Summarizes the ratios of each round, because only values of the same round are comparable. */
export const summarizeRatios = (program: readonly number[], referencia: readonly number[]): Series =>
  summarize(program.map((value, i) => value / (referencia[i] ?? Number.NaN)))

/**
 * Runs each cell once per round. The order alternates, so that no side always comes first. An undefined cell gives no
 * values.
 */
export async function interleave<Side extends string, Value = number>(
  rounds: number,
  cells: Readonly<Record<Side, (() => Promise<Value>) | undefined>>,
): Promise<Record<Side, Value[]>> {
  const sides = Object.keys(cells) as Side[]
  const values = Object.fromEntries(sides.map((side) => [side, [] as Value[]])) as Record<Side, Value[]>
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed()) {
      const cell = cells[side]
      if (cell) values[side].push(await cell())
    }
  }
  return values
}
