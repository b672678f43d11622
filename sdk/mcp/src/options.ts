import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'

/** Settings of the program, from its arguments and the environment. */
export interface BridgeOptions {
  llave: string
  /** Address of the service, without `/mcp`. */
  url: string
  /** True if tools that write are offered. */
  escribir: boolean
}

/** Error in the arguments or the environment, as a sentence for the person who starts the program. */
export class UsageError extends Error {}

/** Help text with all options. */
export const HELP_TEXT = `guias-mcp: las operaciones de la API de guías, como herramientas para un asistente (MCP por stdio).

  --escribir              ofrece también las herramientas que cambian algo
  --url <dirección>       la del servicio, sin /api/v1; si falta, la de GUIAS_URL
  --llave-archivo <ruta>  archivo con la llave; si falta, la de GUIAS_LLAVE
  --ayuda                 muestra esto

El asistente lo arranca por usted. En su configuración:

  { "mcpServers": { "guias": { "command": "npx", "args": ["guias-mcp"],
    "env": { "GUIAS_LLAVE": "guia_test_…", "GUIAS_URL": "https://…" } } } }
`

/** Default address: a service on this machine. Only test keys may use it. */
const LOCAL_URL = 'http://127.0.0.1:3000'

/**
 * Reads the settings. Returns undefined if the user only asked for help.
 * @throws UsageError
 */
export function readBridgeOptions(args: readonly string[], env: NodeJS.ProcessEnv): BridgeOptions | undefined {
  const { escribir, url, ayuda: wantsHelp, 'llave-archivo': file } = parseArguments(args)
  if (wantsHelp) return undefined
  const llave = file === undefined ? env.GUIAS_LLAVE?.trim() : readArchivo(file)
  if (!llave)
    throw new UsageError('Falta su llave: póngala en la variable GUIAS_LLAVE, o en un archivo con --llave-archivo.')
  const givenUrl = url ?? env.GUIAS_URL
  // A live key must not go to an unknown program that listens on this machine.
  if (!givenUrl && !llave.startsWith('guia_test_'))
    throw new UsageError('Falta la dirección del servicio: póngala en --url o en la variable GUIAS_URL.')
  return { llave, url: (givenUrl || LOCAL_URL).replace(/\/$/, ''), escribir }
}

function parseArguments(args: readonly string[]) {
  try {
    const { values } = parseArgs({
      args: [...args],
      options: {
        escribir: { type: 'boolean', default: false },
        url: { type: 'string' },
        'llave-archivo': { type: 'string' },
        ayuda: { type: 'boolean', short: 'h', default: false },
      },
    })
    return values
  } catch {
    throw new UsageError('No se entienden los argumentos. Hay: --escribir, --url, --llave-archivo, --ayuda.')
  }
}

function readArchivo(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    throw new UsageError(`No se pudo leer la llave de ${path}.`)
  }
}
