/** Types of the console's operations, and pure functions that make requests from the form. */

export interface ConsoleParameter {
  nombre: string
  en: 'ruta' | 'consulta' | 'cabecera'
  obligatorio: boolean
  example: string
  descripcion: string
}
export interface BodyExample {
  nombre: string
  body: string
}
export interface ConsoleOperacion {
  id: string
  group: string
  method: string
  /** Path as the contract writes it: `/api/v1/guias/{guia}`. */
  path: string
  resumen: string
  /** Place of the operation in the documentation: the part of its address after `#`. */
  lugar: string
  needsLlave: boolean
  parameters: ConsoleParameter[]
  examples: BodyExample[]
}

/**
 * Returns the reason why the console refuses a key; undefined if the key may be used. An empty key is allowed, because
 * the service's response says that the key is missing.
 */
export function faultOfLlave(llave: string): string | undefined {
  if (llave === '' || llave.startsWith('guia_test_')) return undefined
  if (llave.startsWith('guia_live_')) {
    return 'Esa es una llave real: con ella se avisaría a destinatarios y se movería paquetes de verdad. Use una de prueba (guia_test_…).'
  }
  if (llave.startsWith('guia_oper_')) return 'Esa llave es de quien opera el servicio. Use una de prueba (guia_test_…).'
  return 'Eso no es una llave de prueba: empiezan con guia_test_.'
}

/** Returns the path and query that the form's values make. Empty values are left out of the query. */
export function buildPath({ path, parameters }: ConsoleOperacion, values: ReadonlyMap<string, string>): string {
  const filledPath = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values.get(name) ?? ''))
  const queryText = parameters
    .filter(({ nombre, en }) => en === 'consulta' && values.get(nombre))
    .map(({ nombre }): [string, string] => [nombre, values.get(nombre)!])
  return queryText.length > 0 ? `${filledPath}?${new URLSearchParams(queryText)}` : filledPath
}

/** Returns the headers that the form's values make. Empty values are left out. */
export const headersOf = (
  { parameters }: ConsoleOperacion,
  values: ReadonlyMap<string, string>,
): Record<string, string> =>
  Object.fromEntries(
    parameters.flatMap(({ nombre, en }) => {
      const value = en === 'cabecera' && values.get(nombre)
      return value ? [[nombre, value]] : []
    }),
  )

const shellQuote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`

/** Returns the request as a `curl` command. The command reads the key from `$GUIAS_LLAVE` and never contains it. */
export function toCurl(
  operation: ConsoleOperacion,
  url: string,
  headers: Readonly<Record<string, string>>,
  body: string | undefined,
): string {
  return [
    `curl ${operation.method === 'GET' ? '' : `-X ${operation.method} `}${shellQuote(url)}`,
    ...(operation.needsLlave ? ['-H "Authorization: Bearer $GUIAS_LLAVE"'] : []),
    ...Object.entries(headers).map((header) => `-H ${shellQuote(header.join(': '))}`),
    ...(body === undefined ? [] : ['-H "Content-Type: application/json"', `-d ${shellQuote(body)}`]),
  ].join(' \\\n  ')
}

/**
 * Returns the identifiers in a response, such as `guia`, to fill in the fields of the next operation. The first of each
 * name counts. Objects more than 3 levels below the root are not searched.
 */
export function idsIn(response: unknown): Map<string, string> {
  const foundIds = new Map<string, string>()
  const visit = (value: unknown, depth: number) => {
    if (value === null || typeof value !== 'object' || depth > 3) return
    for (const [key, member] of Object.entries(value)) {
      if (
        typeof member === 'string' &&
        ['guia', 'webhook', 'aviso', 'recuperacion'].includes(key) &&
        !foundIds.has(key)
      ) {
        foundIds.set(key, member)
      } else visit(member, depth + 1)
    }
  }
  visit(response, 0)
  return foundIds
}
