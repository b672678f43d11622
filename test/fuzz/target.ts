/** Something that reads what strangers send, and what must hold whatever they send. */
export interface FuzzTarget {
  /** What mutation begins with. */
  readonly seeds: readonly (string | Uint8Array)[]
  /** What mutation puts in. */
  readonly words: readonly string[]
  /** Throws if something doesn't hold that must. */
  probar(input: Buffer): void | Promise<void>
}

/** Throws unless it holds; says what doesn't. */
export function requireHolds(condition: unknown, claim: string): asserts condition {
  if (!condition) throw new Error(`doesn't hold: ${claim}`)
}

/** What a function gives, or the error of its own class that it throws; any other error goes on. */
export function catchExpected<T, E extends Error>(
  run: () => T,
  expectedError: abstract new (...args: never[]) => E,
): T | E {
  try {
    return run()
  } catch (error) {
    if (error instanceof expectedError) return error
    throw error
  }
}
