import type { Request, RequestHandler } from 'express'
import { CABECERAS, CONSULTAS, RUTAS } from '../../generado/contrato/validadores.mjs'
import type { ContractParameter, Operation, OperationId } from './contract.ts'
import { FORMATS } from './formats.ts'
import { withParameters } from './schemas.ts'

/** Error that express-openapi-validator throws. */
export interface ParameterRejection {
  status: number
  errors?: readonly { path: string; message?: string; errorCode?: string }[]
}

const ENTERO = /^-?(0|[1-9]\d{0,14})$/

/**
 * Reports whether the value of an integer parameter is written in plain decimal digits, and that of an object parameter
 * in brackets; true for other types. Ajv's coercion also accepts `1e1`, `0x10` and `Infinity`, which is past every
 * maximum. express-openapi-validator also accepts an object as JSON.
 */
export const isWellWritten = ({ schema }: ContractParameter, valor: unknown) =>
  valor === undefined ||
  (schema.type === 'integer'
    ? typeof valor !== 'string' || ENTERO.test(valor)
    : schema.type !== 'object' || isPlain(valor))

const isPlain = (valor: unknown) => typeof valor === 'object' && valor !== null && !Array.isArray(valor)

/** Name of a member of an object parameter in a query string, such as `metadatos[canal]`. */
const MIEMBRO = /^(\w+)\[(.+)\]$/s

/** Returns a parsed query whose members `name[key]` of object parameters are objects under `name`. */
export function withObjects(parametros: readonly ContractParameter[], query: Readonly<Record<string, unknown>>) {
  const deObjeto = parametros.filter(({ schema }) => schema.type === 'object').map(({ name }) => name)
  if (deObjeto.length === 0) return query
  const leida: Record<string, unknown> = {}
  const objetos: Record<string, Record<string, unknown>> = {}
  for (const [nombre, valor] of Object.entries(query)) {
    const [, objeto = '', clave = ''] = MIEMBRO.exec(nombre) ?? []
    if (!deObjeto.includes(objeto) || objeto in query || clave === '__proto__') leida[nombre] = valor
    else {
      objetos[objeto] ??= {}
      objetos[objeto][clave] = valor
    }
  }
  return { ...leida, ...objetos }
}

/**
 * Validates the parameters of requests. Compiled schemas admit requests that are plainly valid;
 * express-openapi-validator reads and validates all others.
 */
export class ParameterValidators {
  /**
   * First operation for each list of parameters. express-openapi-validator treats operations with equal parameters as
   * the same operation.
   */
  readonly #primeras = new Map<string, Operation>()
  readonly #preparadas = new Map<OperationId, RequestHandler>()
  #piezas: Promise<Piezas> | undefined

  constructor(operaciones: readonly Operation[]) {
    for (const operacion of operaciones.toReversed()) this.#primeras.set(firmaDe(operacion), operacion)
  }

  /**
   * Loads express-openapi-validator and finds an operation there. Called once for each operation, before any request.
   */
  async prepare(operacion: Operation): Promise<void> {
    this.#piezas ??= createValidatorMiddlewares([...this.#primeras.values()]).then(separar)
    const { metadataMiddleware, requestMiddleware } = await this.#piezas
    const openapi = await hallar(metadataMiddleware, this.#primeras.get(firmaDe(operacion))!)
    this.#preparadas.set(operacion.id, (req, res, next) => {
      Object.assign(req, { openapi: { ...openapi, pathParams: req.params } })
      requestMiddleware(req, res, next)
    })
  }

  /** Returns the middleware that refuses requests with invalid parameters for an operation. */
  judge(operacion: Operation): RequestHandler {
    const basta = createFastJudge(operacion)
    return (req, res, next) => {
      if (basta(req)) return next()
      const juez = this.#preparadas.get(operacion.id)
      if (!juez) return next(new Error(`no parameter validator was prepared for ${operacion.id}`))
      juez(req, res, next)
    }
  }
}

const firmaDe = ({ parametros }: Operation) => JSON.stringify(parametros)

/**
 * Matches a query string that all parsers read alike: each name has a value, and no unescaped character has a second
 * meaning.
 */
const LLANA = /^[\w.~%-]+=[\w.~%-]+(?:&[\w.~%-]+=[\w.~%-]+)*$/

/**
 * Creates the check that admits requests whose parameters the compiled schemas accept, as most do. Reading and checking
 * them with express-openapi-validator takes an eighth of the work of a read request. Like that library, the check
 * leaves integers in the query as numbers and fills in defaults.
 * @returns false if express-openapi-validator must check the request
 */
export function createFastJudge({ id, parametros }: Operation): (req: Request) => boolean {
  const [deRuta, deConsulta, deCabeceras] = [RUTAS[id], CONSULTAS[id], CABECERAS[id]]
  const enConsulta = parametros.filter((parametro) => parametro.in === 'query')
  const sinConsulta = !enConsulta.some(({ required }) => required)
  const enteros = enConsulta.filter(({ schema }) => schema.type === 'integer').map(({ name }) => name)
  return (req) => {
    if ((deRuta && !deRuta(req.params)) || (deCabeceras && !deCabeceras(req.headers))) return false
    const corte = req.originalUrl.indexOf('?')
    if (corte < 0) return sinConsulta
    if (!deConsulta || !LLANA.test(req.originalUrl.slice(corte + 1))) return false
    const leida: Record<string, unknown> = { ...req.query }
    for (const nombre of enteros) {
      const texto = leida[nombre]
      if (typeof texto === 'string' && ENTERO.test(texto)) leida[nombre] = Number(texto)
    }
    if (!deConsulta(leida)) return false
    freezeQuery(req, leida)
    return true
  }
}

/** Stores the parsed query on the request. Express otherwise parses the query again at each access. */
export function freezeQuery(req: Request, value: unknown = req.query): void {
  Object.defineProperty(req, 'query', { value, writable: true, configurable: true, enumerable: true })
}

/**
 * Creates the middlewares of express-openapi-validator. Loading the library takes about 30 ms, and loading the contract
 * into it another 30 ms.
 */
export async function createValidatorMiddlewares(operaciones: readonly Operation[]): Promise<RequestHandler[]> {
  const { default: OpenApiValidator } = await import('express-openapi-validator')
  return OpenApiValidator.middleware({
    apiSpec: withParameters(operaciones) as never,
    validateApiSpec: false, // the lint validates the contract when it is generated
    validateSecurity: false, // `authenticate` runs before the body is read
    validateResponses: false, // tests validate every answer, including errors and headers
    validateRequests: { allowUnknownQueryParameters: false, coerceTypes: false },
    fileUploader: false,
    formats: Object.fromEntries(
      Object.entries(FORMATS).map(([nombre, { validate }]) => [nombre, { type: 'string', validate }]),
    ) as never,
  }) as unknown as RequestHandler[]
}

type Piezas = Readonly<Record<'metadataMiddleware' | 'requestMiddleware', RequestHandler>>

function separar(middlewares: readonly RequestHandler[]): Piezas {
  const pieza = (nombre: keyof Piezas) => {
    const hallada = middlewares.find(({ name }) => name === nombre)
    if (!hallada) throw new Error(`express-openapi-validator returned no middleware named ${nombre}`)
    return hallada
  }
  return { metadataMiddleware: pieza('metadataMiddleware'), requestMiddleware: pieza('requestMiddleware') }
}

/**
 * Returns the validator's data about an operation, found by the contract's own path. The validator would otherwise
 * search at each request, by the path as the client wrote it, which Express may read differently. The search also
 * compiles every path before the match.
 * @throws Error if the validator finds no operation or another operation
 */
async function hallar(metadataMiddleware: RequestHandler, { id, metodo, ruta }: Operation): Promise<object> {
  const originalUrl = ruta.replace(/\{\w+\}/g, 'x')
  const req = {
    method: metodo.toUpperCase(),
    path: originalUrl,
    originalUrl,
    baseUrl: '',
    app: { enabled: () => false },
  }
  await new Promise<void>((resolve, reject) => {
    metadataMiddleware(req as never, {} as never, (error?: unknown) => (error ? reject(error) : resolve()))
  })
  const { openapi } = req as { openapi?: { schema?: { operationId?: string } } }
  if (openapi?.schema?.operationId !== id) throw new Error(`express-openapi-validator does not find ${id}`)
  return openapi
}
