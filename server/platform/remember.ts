/**
 * Wraps a function so that its latest results are cached. Repeated inputs, such as names of places, then cost only a
 * look-up.
 * @param max maximum number of cached results; the oldest is dropped
 * @param make function that computes a result from one or more texts
 */
export function remembering<A extends readonly string[], T extends NonNullable<unknown>>(
  max: number,
  make: (...texts: A) => T,
): (...texts: A) => T {
  const results = new Map<string, T>()
  return (...texts) => {
    const key = texts.join('\n')
    const known = results.get(key)
    if (known !== undefined) return known
    const made = make(...texts)
    if (results.size >= max) results.delete(results.keys().next().value!)
    results.set(key, made)
    return made
  }
}
