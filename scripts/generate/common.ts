/**
 * Plugin of Redocly (`redocly.yaml`) that adds the common answers and headers of `openapi/componentes/comunes.ts` to the
 * operations. It is a preprocessor, so lint rules, the bundles and everything generated from them read its output.
 */
import {
  COMMON_HEADERS,
  COMMON_RESPONSES,
  CONDITIONAL_HEADERS,
  type Condition,
  ERROR_BODIES,
} from '../../openapi/componentes/comunes.ts'
import type { Json, JsonObject } from '../documentation/contract.ts'

/** Extension of an operation: statuses of common answers that the operation never sends. */
const EXCEPTIONS = 'x-sin-respuestas'
/**
 * Pattern of the files to which common answers are added. The linter also reads the bundles, which already contain
 * them.
 */
const PATHS_FILE = /[/\\]openapi[/\\]\w+[/\\]paths[/\\]/

const componentRef = (file: string, name: string): JsonObject => ({
  $ref: `../../componentes/${file}.yaml#/${name}`,
})
const cabeceras = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([header, name]) => [header, componentRef('respuestas/cabeceras', name)] as const)

/** Returns the conditions that hold for an operation of a path file. */
function conditionsOf(operation: JsonObject, documentSecurity: Json[]): ReadonlySet<Condition> {
  const conditions: Condition[] = ['siempre']
  const body = operation.requestBody as JsonObject | undefined
  if (body) conditions.push('cuerpo')
  conditions.push('application/json' in ((body?.content ?? {}) as JsonObject) ? 'cuerpoJson' : 'sinCuerpoJson')
  const parameters = (operation.parameters ?? []) as JsonObject[]
  if (parameters.some(({ $ref }) => String($ref).endsWith('#/SiNoCoincide'))) conditions.push('condicional')
  const [schemes = {}] = (operation.security ?? documentSecurity) as JsonObject[]
  for (const [scheme, alcances] of Object.entries(schemes)) {
    if (scheme.startsWith('llaveDe')) {
      conditions.push('llave')
      if ((alcances as Json[]).length === 0) conditions.push('llaveSinAlcance')
    }
    if (scheme.startsWith('sesionDe')) conditions.push('sesion')
    if (scheme.startsWith('firmaDe')) conditions.push('firma')
  }
  return new Set(conditions)
}

/**
 * Adds the common headers to an answer, and the schemas to an error answer that has only examples. Leaves an answer
 * that is a `$ref` as it is.
 */
function completeResponse(response: JsonObject, estado: string, isConditional: boolean): JsonObject {
  if ('$ref' in response) return response
  const ownHeaders = (response.headers ?? {}) as JsonObject
  const commonHeaders = [
    ...cabeceras(COMMON_HEADERS),
    ...(isConditional && estado === '200' ? cabeceras(CONDITIONAL_HEADERS) : []),
  ].filter(([header]) => !(header in ownHeaders))
  const headers = 'X-Request-Id' in ownHeaders ? ownHeaders : { ...Object.fromEntries(commonHeaders), ...ownHeaders }
  // Members of the contract keep one order, in which the headers stand before the content.
  const { content, headers: _, ...rest } = response
  const json = ((content ?? {}) as JsonObject)['application/json'] as JsonObject | undefined
  if (Number(estado) < 400 || !json || 'schema' in json) return { ...rest, headers, ...(content && { content }) }
  const contentWithSchema = Object.entries(ERROR_BODIES).map(([type, schemaName]) => [
    type,
    { schema: componentRef('schemas/problemas', schemaName), ...(type === 'application/json' ? json : {}) },
  ])
  return { ...rest, headers, content: Object.fromEntries(contentWithSchema) as JsonObject }
}

/**
 * Adds the common answers and headers to an operation of a path file.
 * @throws if an exception names a status that no rule gives, or one that the operation writes
 */
export function withCommonResponses(operation: JsonObject, documentSecurity: Json[] = []): JsonObject {
  const { [EXCEPTIONS]: exceptions = [], responses, ...rest } = operation
  const conditions = conditionsOf(operation, documentSecurity)
  const commonResponses = Object.assign(
    {},
    ...COMMON_RESPONSES.filter(([condition]) => conditions.has(condition)).map(
      ([, conditionResponses]) => conditionResponses,
    ),
  ) as Record<string, string>
  const ownResponses = (responses ?? {}) as Record<string, JsonObject>
  for (const estado of exceptions as string[]) {
    if (!(estado in commonResponses) || estado in ownResponses)
      throw new Error(`${operation.operationId}: ${EXCEPTIONS} names ${estado}, which it would not have`)
    delete commonResponses[estado]
  }
  const todas: Record<string, JsonObject> = {}
  for (const [estado, path] of Object.entries(commonResponses)) {
    const [file = '', name = ''] = path.split('/')
    todas[estado] = componentRef(`respuestas/${file}`, name)
  }
  for (const [estado, response] of Object.entries(ownResponses))
    todas[estado] = completeResponse(response, estado, conditions.has('condicional'))
  return { ...rest, responses: todas }
}

interface VisitContext {
  location: { source: { absoluteRef: string } }
}

function add() {
  let security: Json[] = []
  return {
    Root: {
      enter(contract: JsonObject) {
        security = (contract.security ?? []) as Json[]
      },
    },
    Operation: {
      enter(operation: JsonObject, { location }: VisitContext) {
        if (!PATHS_FILE.test(location.source.absoluteRef)) return
        const completed = withCommonResponses(operation, security)
        delete operation[EXCEPTIONS]
        Object.assign(operation, completed)
      },
    },
  }
}

/**
 * Plugin in the form that Redocly expects, as the default export of this module. Its preprocessor adds the responses
 * that all operations have to the contract.
 */
export default () => ({ id: 'comunes', preprocessors: { oas3: { add } } })
