import { type Request, type RequestHandler, Router } from 'express'
import { HEADER_VALIDATORS, PATH_VALIDATORS, QUERY_VALIDATORS } from '../../generated/contract/validators.mjs'
import type { ContractParameter, Operation } from './contract.ts'
import { FORMATS } from './formats.ts'
import { withParameters } from './schemas.ts'

/** Error that express-openapi-validator throws. */
export interface ParameterRejection {
  status: number
  errors?: readonly { path: string; message?: string; errorCode?: string }[]
}

const INTEGER = /^-?(0|[1-9]\d{0,14})$/

/**
 * Reports whether the value of an integer parameter is written in plain decimal digits, and that of an object parameter
 * in brackets; true for other types. Ajv's coercion also accepts `1e1`, `0x10` and `Infinity`, which is past every
 * maximum. express-openapi-validator also accepts an object as JSON.
 */
export const isWellWritten = ({ schema }: ContractParameter, value: unknown) =>
  value === undefined ||
  (schema.type === 'integer'
    ? typeof value !== 'string' || INTEGER.test(value)
    : schema.type !== 'object' || isPlain(value))

const isPlain = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Name of a member of an object parameter in a query string, such as `metadatos[canal]`. */
const MEMBER = /^(\w+)\[(.+)\]$/s

/** Returns a parsed query whose members `name[key]` of object parameters are objects under `name`. */
export function withObjects(parameters: readonly ContractParameter[], query: Readonly<Record<string, unknown>>) {
  const objectNames = parameters.filter(({ schema }) => schema.type === 'object').map(({ name }) => name)
  if (objectNames.length === 0) return query
  const readQuery: Record<string, unknown> = {}
  const objects: Record<string, Record<string, unknown>> = {}
  for (const [name, value] of Object.entries(query)) {
    const [, objectName = '', key = ''] = MEMBER.exec(name) ?? []
    if (!objectNames.includes(objectName) || objectName in query || key === '__proto__') readQuery[name] = value
    else {
      objects[objectName] ??= {}
      objects[objectName][key] = value
    }
  }
  return { ...readQuery, ...objects }
}

/**
 * Matches a query string that all parsers read alike: each name has a value, and no unescaped character has a second
 * meaning.
 */
const PLAIN_QUERY = /^[\w.~%-]+=[\w.~%-]+(?:&[\w.~%-]+=[\w.~%-]+)*$/

/**
 * Creates the check that admits requests whose parameters the compiled schemas accept, as most do. Reading and checking
 * them with express-openapi-validator takes an eighth of the work of a read request. Like that library, the check
 * leaves integers in the query as numbers and fills in defaults.
 * @returns false if express-openapi-validator must check the request
 */
export function createFastJudge({ id, parameters }: Operation): (req: Request) => boolean {
  const [checkPath, checkQuery, checkHeaders] = [PATH_VALIDATORS[id], QUERY_VALIDATORS[id], HEADER_VALIDATORS[id]]
  const queryParameters = parameters.filter((parameter) => parameter.in === 'query')
  const allowsNoQuery = !queryParameters.some(({ required }) => required)
  const integerNames = queryParameters.filter(({ schema }) => schema.type === 'integer').map(({ name }) => name)
  return (req) => {
    if ((checkPath && !checkPath(req.params)) || (checkHeaders && !checkHeaders(req.headers))) return false
    const queryStart = req.originalUrl.indexOf('?')
    if (queryStart < 0) return allowsNoQuery
    if (!checkQuery || !PLAIN_QUERY.test(req.originalUrl.slice(queryStart + 1))) return false
    const readQuery: Record<string, unknown> = { ...req.query }
    for (const name of integerNames) {
      const text = readQuery[name]
      if (typeof text === 'string' && INTEGER.test(text)) readQuery[name] = Number(text)
    }
    if (!checkQuery(readQuery)) return false
    freezeQuery(req, readQuery)
    return true
  }
}

/** Stores the parsed query on the request. Express otherwise parses the query again at each access. */
export function freezeQuery(req: Request, value: unknown = req.query): void {
  Object.defineProperty(req, 'query', { value, writable: true, configurable: true, enumerable: true })
}

/**
 * Mounts express-openapi-validator on a router, with the parameters of these operations. Loading the library takes about
 * 30 ms, and loading the contract into it another 30 ms.
 */
export async function mountOpenApiValidator(operations: readonly Operation[]): Promise<RequestHandler> {
  const { default: OpenApiValidator } = await import('express-openapi-validator')
  return Router().use(
    OpenApiValidator.middleware({
      apiSpec: withParameters(operations) as never,
      useRequestUrl: true, // the path that Express matched
      validateApiSpec: false, // the lint validates the contract when it is generated
      validateSecurity: false, // `authenticate` runs before the body is read
      validateResponses: false, // tests validate every answer, including errors and headers
      validateRequests: { allowUnknownQueryParameters: false, coerceTypes: false },
      fileUploader: false,
      formats: Object.fromEntries(
        Object.entries(FORMATS).map(([name, { validate }]) => [name, { type: 'string', validate }]),
      ) as never,
    }),
  )
}

/**
 * Creates the middleware that refuses requests with invalid parameters. Compiled schemas admit requests that are plainly
 * valid; express-openapi-validator reads and validates all others.
 * @param validator returns the router of {@link mountOpenApiValidator}
 */
export function judgeParameters(operation: Operation, validator: () => RequestHandler): RequestHandler {
  const isEnough = createFastJudge(operation)
  return (req, res, next) => {
    if (isEnough(req)) return next()
    validator()(req, res, (error?: unknown) => {
      if (isParameterRejection(error)) return next(error)
      // Without this check, the library would admit every request whose path it does not find.
      const { openapi } = req as { openapi?: { schema?: { operationId?: string } } }
      if (!error && openapi?.schema?.operationId === operation.id) return next()
      next(new Error(`express-openapi-validator did not recognise ${operation.id}`, { cause: error }))
    })
  }
}

const isParameterRejection = (error: unknown): error is ParameterRejection =>
  error instanceof Error && 'status' in error && error.status === 400
