/**
 * Reads until the value satisfies the condition, for 10 s at most.
 * @returns the last value
 */
export async function readUntil<T>(read: () => Promise<T>, isReady: (value: T) => boolean): Promise<T> {
  const deadline = Date.now() + 10_000
  for (let value = await read(); ; value = await read()) {
    if (isReady(value) || Date.now() > deadline) return value
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
