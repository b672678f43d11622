/**
 * How many times longer eight times as much takes: some 8 if the time grows with the size, 64 if it grows with its square.
 * The best of several runs is what the work itself takes, however busy the machine is.
 */
export function crecimiento(tamano: number, hacer: (tamano: number) => void): number {
  const mejor = (n: number) =>
    Math.min(
      ...Array.from({ length: 9 }, () => {
        const antes = performance.now()
        hacer(n)
        return performance.now() - antes
      }),
    )
  mejor(tamano) // compiled by now
  return mejor(tamano) / mejor(tamano / 8)
}
