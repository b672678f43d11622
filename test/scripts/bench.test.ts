import { describe, expect, it } from 'vitest'
import type { ReportRow, Target } from '../../bench/harness/report.ts'
import { figuresBelowFloor, judgeAttempts } from '../../bench/harness/verdict.ts'
import { type Compared, losses } from '../../bench/measurements/against.ts'

const row = (measure: string, [min, median, max]: readonly [number, number, number], target: Target): ReportRow => ({
  measurement: measure,
  unit: '×',
  program: { min: 0, median: 0, max: 0 },
  target,
  reference: { name: 'pgbench', series: { min: 0, median: 0, max: 0 } },
  ratio: { min, median, max },
})

describe('verdicts of the bench', () => {
  it('calls a breakdown only a figure below half of its mark, or above its double, in every round', () => {
    const [atLeast, atMost] = [
      { comparison: '≥', value: 1 },
      { comparison: '≤', value: 18 },
    ] as const
    const rows = [
      row('exact', [0.5, 0.5, 0.5], atLeast),
      row('bad', [0.4, 0.45, 0.49], atLeast),
      row('noisy', [0.1, 0.2, 0.5], atLeast),
      row('slow', [37, 38, 40], atMost),
      row('passable', [30, 36, 40], atMost),
      { ...row('absolute', [1, 1, 1], { ...atMost, isAbsolute: true }), program: { min: 37, median: 38, max: 40 } },
      { measurement: 'no mark', unit: '×', program: { min: 0, median: 0, max: 0 } },
    ]
    expect(figuresBelowFloor(rows).map((line) => line.split(':')[0])).toEqual([
      'bad / pgbench',
      'slow / pgbench',
      'absolute',
    ])
  })

  it('judges by the attempts that had the machine for themselves, and by two of them', () => {
    const attempt = (fell: boolean, isQuiet = true) => ({
      failedFigures: fell ? ['lote: 0.1'] : [],
      isQuiet,
    })
    expect(judgeAttempts([attempt(false, false)])).toEqual([])
    expect(judgeAttempts([attempt(true)])).toBeUndefined()
    expect(judgeAttempts([attempt(true), attempt(true)])).toEqual(['lote: 0.1'])
    expect(judgeAttempts([attempt(true), attempt(false, false)])).toEqual([])
    expect(judgeAttempts([attempt(true, false), attempt(true, false), attempt(true, false)])).toBeUndefined()
    expect(judgeAttempts([attempt(true, false), attempt(true), attempt(true, false), attempt(true)])).toEqual([
      'lote: 0.1',
    ])
  })
})

describe('losses against another commit', () => {
  const rounds = (rates: readonly number[], cpus: readonly number[]) =>
    rates.map((rate, i) => ({ rate, cpu: { servicio: cpus[i]!, PostgreSQL: 50 } }))
  const compared = (rates: readonly number[], cpus: readonly number[]): Compared => ({
    name: 'crear',
    before: rounds([100, 104, 108], [10, 11, 12]),
    now: rounds(rates, cpus),
  })

  it('lists a case whose rounds are all worse, with the CPU of both sides', () => {
    expect(losses([compared([90, 95, 99], [10, 11, 12])])).toEqual([
      'crear (ritmo): ritmo 104 → 95 por s; CPU: servicio 11 → 11 µs; CPU: PostgreSQL 50 → 50 µs',
    ])
    expect(losses([compared([100, 104, 108], [13, 14, 15])])).toEqual([
      'crear (CPU: servicio): ritmo 104 → 104 por s; CPU: servicio 11 → 14 µs; CPU: PostgreSQL 50 → 50 µs',
    ])
  })

  it.each([
    ['the same figures', [100, 104, 108], [10, 11, 12]],
    ['gains', [110, 120, 130], [7, 8, 9]],
    ['rounds that overlap', [70, 80, 101], [11.5, 20, 30]],
    ['medians that differ by 4 %', [99.5, 99.9, 99.9], [10, 11, 12]],
  ])('lists nothing for %s', (_what, rates, cpus) => {
    expect(losses([compared(rates, cpus)])).toEqual([])
  })
})
