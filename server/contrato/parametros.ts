import type { Request, RequestHandler } from 'express'
import type { Operacion, OperationId, Parametro } from './contrato.ts'
import { conParametros } from './esquemas.ts'
import { FORMATOS } from './formatos.ts'
import { CABECERAS, CONSULTAS, RUTAS } from './generado/validadores.mjs'

/** What express-openapi-validator throws. */
export interface Rechazo {
  status: number
  errors?: readonly { path: string; message?: string; errorCode?: string }[]
}

const ENTERO = /^-?(0|[1-9]\d{0,14})$/

/** An integer is written as one. Ajv's coercion also takes `1e1`, `0x10` and, past every maximum, `Infinity`. */
export const bienEscrito = ({ schema }: Parametro, valor: unknown) =>
  schema.type !== 'integer' || typeof valor !== 'string' || ENTERO.test(valor)

/**
 * Judges the parameters of requests. What is plainly right is let through by compiled schemas; everything else is
 * express-openapi-validator's to read and to judge.
 */
export class Parametros {
  /** First of the operations with the same parameters, which are one to express-openapi-validator. */
  readonly #primeras = new Map<string, Operacion>()
  readonly #preparadas = new Map<OperationId, RequestHandler>()
  #piezas: Promise<Piezas> | undefined

  constructor(operaciones: readonly Operacion[]) {
    for (const operacion of operaciones.toReversed()) this.#primeras.set(firmaDe(operacion), operacion)
  }

  /** Loads express-openapi-validator and looks an operation up there: once, before any request. */
  async preparar(operacion: Operacion): Promise<void> {
    this.#piezas ??= crearMiddlewares([...this.#primeras.values()]).then(separar)
    const { metadataMiddleware, requestMiddleware } = await this.#piezas
    const openapi = await hallar(metadataMiddleware, this.#primeras.get(firmaDe(operacion))!)
    this.#preparadas.set(operacion.id, (req, res, next) => {
      Object.assign(req, { openapi: { ...openapi, pathParams: req.params } })
      requestMiddleware(req, res, next)
    })
  }

  /** Middleware that refuses what is wrong with an operation's parameters. */
  juzgar(operacion: Operacion): RequestHandler {
    const basta = crearJuezRapido(operacion)
    return (req, res, next) => {
      if (basta(req)) return next()
      const juez = this.#preparadas.get(operacion.id)
      if (!juez) return next(new Error(`${operacion.id} was not prepared`))
      juez(req, res, next)
    }
  }
}

const firmaDe = ({ parametros }: Operacion) => JSON.stringify(parametros)

/** Query string of which every reader reads the same: a value for each name, and nothing unescaped that could mean more. */
const LLANA = /^[\w.~%-]+=[\w.~%-]+(?:&[\w.~%-]+=[\w.~%-]+)*$/

/**
 * Lets requests through whose parameters the compiled schemas admit, as most are: express-openapi-validator's own walk
 * through them is an eighth of a read's work. It leaves the query as that would: integers as numbers, with defaults.
 * @returns false where express-openapi-validator must look
 */
export function crearJuezRapido({ id, parametros }: Operacion): (req: Request) => boolean {
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
    fijarConsulta(req, leida)
    return true
  }
}

/** Keeps the query as it was read: Express reads it anew each time that it is asked for. */
export function fijarConsulta(req: Request, value: unknown = req.query): void {
  Object.defineProperty(req, 'query', { value, writable: true, configurable: true, enumerable: true })
}

/** express-openapi-validator, which takes some 30 ms to load and as much to read the contract in its own way. */
export async function crearMiddlewares(operaciones: readonly Operacion[]): Promise<RequestHandler[]> {
  const { default: OpenApiValidator } = await import('express-openapi-validator')
  return OpenApiValidator.middleware({
    apiSpec: conParametros(operaciones) as never,
    validateApiSpec: false, // the lint did, when it was generated
    validateSecurity: false, // authentication comes before the body is read
    validateResponses: false, // tests validate every answer themselves, errors and headers included
    validateRequests: { allowUnknownQueryParameters: false, coerceTypes: false },
    fileUploader: false,
    formats: Object.fromEntries(
      Object.entries(FORMATOS).map(([nombre, { validate }]) => [nombre, { type: 'string', validate }]),
    ) as never,
  }) as unknown as RequestHandler[]
}

type Piezas = Readonly<Record<'metadataMiddleware' | 'requestMiddleware', RequestHandler>>

function separar(middlewares: readonly RequestHandler[]): Piezas {
  const pieza = (nombre: keyof Piezas) => {
    const hallada = middlewares.find(({ name }) => name === nombre)
    if (!hallada) throw new Error(`express-openapi-validator has no ${nombre} any more`)
    return hallada
  }
  return { metadataMiddleware: pieza('metadataMiddleware'), requestMiddleware: pieza('requestMiddleware') }
}

/**
 * What the validator knows of an operation, found by the contract's own path. It would look for it in every request, by
 * the request's own spelling of the path (which Express may read otherwise) and compiling every path before it.
 */
async function hallar(metadataMiddleware: RequestHandler, { id, metodo, ruta }: Operacion): Promise<object> {
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
