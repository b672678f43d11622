import type { CallParts } from '../../api/contract/calls.ts'
import type { OperationId } from '../../api/contract/contract.ts'
import type { Cuenta, Falla } from '../../generated/contract/types/index.ts'
import { problemOfFaults } from '../../platform/errors.ts'

/** Tool of an assistant: an operation for merchants, as written by `scripts/generate/tools.ts`. */
export interface Tool {
  nombre: OperationId
  titulo: string
  descripcion: string
  /** Scopes that the key needs. */
  alcances: readonly string[]
  /** True if the operation changes data. */
  isWrite: boolean
  /** True if calling the operation again has no further effect. */
  isRepeatable: boolean
  /** True if the operation accepts only test keys. */
  isTestOnly: boolean
  /** Name of the argument whose value the argument `confirmar` must repeat. */
  confirma?: string
  /**
   * Position in the request of each argument: path, query, or the header `Idempotency-Key`. Other arguments are members of
   * the body.
   */
  donde: Readonly<Record<string, 'path' | 'query' | 'key'>>
  hasBody: boolean
  /** JSON Schema of the arguments. */
  input: { type: 'object'; properties: Readonly<Record<string, object>>; required: readonly string[] }
}

/** Arguments of a call, as an assistant sends them. */
export type Arguments = Readonly<Record<string, unknown>>

/** Reports whether a connection may call a tool. A read-only connection has no tools that write. */
export const isOffered = (
  tool: Tool,
  { alcances, modo }: Pick<Cuenta, 'alcances' | 'modo'>,
  canWrite: boolean,
): boolean =>
  (canWrite || !tool.isWrite) &&
  (modo === 'test' || !tool.isTestOnly) &&
  tool.alcances.every((alcance) => (alcances as readonly string[]).includes(alcance))

/**
 * Returns the operation's request for a tool call. Checks only what the operation cannot check: names of arguments,
 * parts of the path, and `confirmar`.
 * @throws Problema 400
 */
export function partsOf(
  { donde, hasBody, confirma: repeatedArgument, input }: Tool,
  args: Arguments,
): CallParts<OperationId> {
  const faults: Falla[] = Object.keys(args)
    .filter((name) => !Object.hasOwn(input.properties, name))
    .map((field) => ({
      campo: field.slice(0, 300),
      codigo: 'desconocido',
      mensaje: 'la herramienta no lo tiene; quítelo',
    }))
  const path: Record<string, string> = {}
  const query: Record<string, string | string[]> = {}
  const body: Record<string, unknown> = {}
  let key: string | undefined
  for (const [name, value] of Object.entries(args)) {
    if (name === 'confirmar' && repeatedArgument !== undefined) continue
    const place = Object.hasOwn(donde, name) ? donde[name] : undefined
    if (place === 'path') path[name] = textOf(value)
    else if (place === 'key') key = textOf(value)
    else if (place === 'query') Object.assign(query, queryOf(name, value))
    else body[name] = value
  }
  for (const name of Object.keys(donde).filter((one) => donde[one] === 'path' && !path[one]))
    faults.push({ campo: name, codigo: 'requerido', mensaje: 'falta: diga de cuál' })
  if (repeatedArgument !== undefined && (!path[repeatedArgument] || args.confirmar !== path[repeatedArgument]))
    faults.push({
      campo: 'confirmar',
      codigo: 'difiere',
      mensaje: `repita aquí, igual, el valor de «${repeatedArgument}»`,
    })
  if (faults.length > 0) throw problemOfFaults('parametro_invalido', faults)
  return { path, query, ...(hasBody ? { body } : {}), key } as CallParts<OperationId>
}

const textOf = (value: unknown): string =>
  typeof value === 'object' ? JSON.stringify(value) : value === undefined ? '' : String(value)

/** Converts an argument to query parameters. Members of an object are written with brackets: `metadatos[canal]`. */
function queryOf(name: string, value: unknown): Record<string, string | string[]> {
  if (value === null || value === undefined) return {}
  if (Array.isArray(value)) return { [name]: value.map(textOf) }
  if (typeof value !== 'object') return { [name]: String(value) }
  return Object.fromEntries(Object.entries(value).map(([key, inside]) => [`${name}[${key}]`, textOf(inside)]))
}
