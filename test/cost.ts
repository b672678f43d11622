/**
 * How many times longer eight times as much takes: some 8 if the time grows with the size, 64 if it grows with its square.
 * Each size is measured right after eight of its eighths, so that both meet the same machine. The best of several rounds
 * is what the work itself takes, however busy the machine is.
 */
export function measureGrowth(size: number, run: (size: number) => void): number {
  const measure = (n: number, repetitions: number) => {
    const before = performance.now()
    for (let i = 0; i < repetitions; i++) run(n)
    return performance.now() - before
  }
  measure(size, 9) // compiled by now
  const measureRound = () => {
    const timeOfEighths = measure(size / 8, 8)
    return (8 * measure(size, 1)) / timeOfEighths
  }
  return Math.min(...Array.from({ length: 9 }, measureRound))
}
