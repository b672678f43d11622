/**
 * Reads until the value satisfies the condition, for 10 s at most.
 * @returns the last value
 */
export async function readUntil<T>(leer: () => Promise<T>, listo: (valor: T) => boolean): Promise<T> {
  const deadline = Date.now() + 10_000
  for (let valor = await leer(); ; valor = await leer()) {
    if (listo(valor) || Date.now() > deadline) return valor
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
