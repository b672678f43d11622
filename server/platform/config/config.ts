import { type ConfigValues, readTable } from './table.ts'
import { VARIABLES } from './variables.ts'

/** Configuration of the service, with one member for each row of {@link VARIABLES}. */
export type Config = ConfigValues<typeof VARIABLES>

/** Reports all faults of a configuration at once. */
export class ConfigError extends Error {
  readonly faults: readonly string[]
  constructor(faults: readonly string[]) {
    super(`La configuración no es válida:\n${faults.map((fault) => `  - ${fault}`).join('\n')}`)
    this.name = 'ConfigError'
    this.faults = faults
  }
}

/**
 * Reads the configuration from an environment. The function is pure.
 * @throws ConfigError with every fault
 */
export function readConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const fallas: string[] = []
  const config = readTable(VARIABLES, { env, cwd, fallas })
  if (fallas.length > 0) throw new ConfigError(fallas)
  return Object.freeze(config)
}
