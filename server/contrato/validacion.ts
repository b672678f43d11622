import type { ErrorObject, ValidateFunction } from 'ajv'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { Request, RequestHandler } from 'express'
import * as OpenApiValidator from 'express-openapi-validator'
import { MAXIMO_DE_ADVERTENCIAS, MAXIMO_DE_FALLAS, problemaDeFallas } from '../errores.ts'
import type { Documento, Operacion, OperationId, Parametro } from './contrato.ts'
import { advertirDesconocido, explicar, explicarParametro, type Fallas, SIN_FALLAS } from './fallas.ts'
import { FORMATOS } from './formatos.ts'
import type { Advertencia, Falla } from './generado/tipos/index.ts'
import { admitirTelefonos, type Remitente } from './telefonos.ts'

type Json = null | boolean | number | string | Json[] | { [clave: string]: Json }
type Objeto = { [clave: string]: Json }

/** A deep copy in which `cambiar` may replace each object's members, from the outside in. */
function copiar(nodo: Json, cambiar: (objeto: Objeto) => Objeto): Json {
  if (Array.isArray(nodo)) return nodo.map((elemento) => copiar(elemento, cambiar))
  if (nodo === null || typeof nodo !== 'object') return nodo
  return Object.fromEntries(Object.entries(cambiar(nodo)).map(([clave, valor]) => [clave, copiar(valor, cambiar)]))
}

/**
 * What a request must have of an envelope (`x-sobre`): the members without which it is none, and lists of the right length.
 * The operation answers for everything else, item by item, because one that is wrong must not fail the others.
 */
function sobre({ additionalProperties: _, properties, ...demas }: Objeto): Objeto {
  const exigidos = (demas.required as string[]).map((miembro) => {
    const lista = (properties as Objeto)[miembro] as Objeto
    return [miembro, { ...lista, items: {} }]
  })
  return { ...demas, properties: Object.fromEntries(exigidos) }
}

/** The contract as requests are held to it. */
const deEntrada = (documento: Documento) =>
  copiar(documento as unknown as Json, (objeto) =>
    objeto['x-sobre'] === true ? sobre(objeto) : objeto,
  ) as unknown as Documento

/** More than any list of a request may hold (the contract's largest `maxItems` is 100). */
const LISTA_LARGA = 101

/**
 * The value with its lists cut short, still too long where they were: to explain a list of 20,000 wrong things by looking
 * at each, and at each pair for `uniqueItems`, would cost a second of everybody's time.
 */
function acortar(valor: unknown): unknown {
  if (Array.isArray(valor)) return valor.slice(0, LISTA_LARGA).map(acortar)
  if (valor === null || typeof valor !== 'object') return valor
  return Object.fromEntries(Object.entries(valor).map(([clave, dentro]) => [clave, acortar(dentro)]))
}

const SIN_EFECTO = new Set(['description', 'summary', 'title', 'tags', 'examples', 'example', 'headers'])

/**
 * What express-openapi-validator needs of it: it compiles every operation with all the components, so what decides about
 * no request (answers, texts, extensions, schemas of answers) would only cost start-up time.
 */
function paraElValidador(documento: Documento): Documento {
  const propiedades = new Set<unknown>()
  const podado = copiar(documento as unknown as Json, (objeto) => {
    if (objeto.properties) propiedades.add(objeto.properties)
    // The names of properties are not keywords.
    if (propiedades.has(objeto)) return objeto
    // Bytes that nobody has parsed, or that are still to come, are nobody's to validate.
    const sinLeer = objeto['x-cuerpo-crudo'] === true || objeto['x-cuerpo-en-flujo'] === true
    return Object.fromEntries(
      Object.entries(objeto)
        .filter(([clave]) => !SIN_EFECTO.has(clave) && !clave.startsWith('x-') && !(sinLeer && clave === 'requestBody'))
        .map(([clave, valor]) => [clave, clave === 'responses' ? {} : valor]),
    )
  }) as Objeto
  const esquemas = (podado.components as Objeto).schemas as Objeto
  const alcanzados = new Set<string>()
  const seguir = (nodo: Json) =>
    copiar(nodo, (objeto) => {
      const nombre = typeof objeto.$ref === 'string' ? objeto.$ref.split('/components/schemas/')[1] : undefined
      if (nombre && !alcanzados.has(nombre)) {
        alcanzados.add(nombre)
        seguir(esquemas[nombre] ?? null)
      }
      return objeto
    })
  seguir(podado.paths ?? null)
  seguir((podado.components as Objeto).parameters ?? null)
  const deSolicitudes = Object.fromEntries(Object.entries(esquemas).filter(([nombre]) => alcanzados.has(nombre)))
  return { ...podado, components: { ...(podado.components as Objeto), schemas: deSolicitudes } } as unknown as Documento
}

const puntero = (ruta: string) => ruta.replace(/~/g, '~0').replace(/\//g, '~1')

export interface Validacion {
  /** Looks an operation up in the validator, once, before any request. */
  preparar(operacion: Operacion): Promise<void>
  /** express-openapi-validator's middlewares for one operation, to stand before its handler. */
  validar(operacion: Operacion): RequestHandler[]
  /** The faults of a body, once the validator has refused it. */
  explicarCuerpo(operacion: Operacion, cuerpo: unknown, remitente?: Remitente): Fallas
  /** The faults of the parameters, once the validator has refused one. */
  explicarParametros(operacion: Operacion, rechazo: Rechazo, valores: Readonly<Record<string, unknown>>): Fallas
  /** A validator of one component schema, for what the operation checks by itself. */
  validador(esquema: string): Validador
  /** The warnings for the members of a value that its component schema doesn't know. */
  advertirDesconocidos(esquema: string, valor: object): Advertencia[]
  /**
   * @throws Problema 422 unless the value is a valid body of that operation (for callers that don't come over HTTP).
   */
  exigirCuerpo(operacion: OperationId, cuerpo: unknown): void
}

export interface Validador {
  vale(valor: unknown, remitente: Remitente): boolean
  /** Why it isn't valid; at most `maximo` faults are told. */
  explicar(valor: unknown, maximo: number, remitente: Remitente): Fallas
}

/** What express-openapi-validator throws. */
export interface Rechazo {
  status: number
  errors?: readonly { path: string; message?: string; errorCode?: string }[]
}

const ENTERO = /^-?(0|[1-9]\d{0,14})$/

/** An integer is written as one. Ajv's coercion also takes `1e1`, `0x10` and, past every maximum, `Infinity`. */
export const bienEscrito = ({ schema }: Parametro, valor: unknown) =>
  schema.type !== 'integer' || typeof valor !== 'string' || ENTERO.test(valor)

export function crearValidacion(original: Documento, operaciones: readonly Operacion[]): Validacion {
  const documento = deEntrada(original)
  const crearAjv = (allErrors: boolean) => {
    const ajv = new Ajv2020({
      strict: false,
      allErrors,
      verbose: allErrors,
      validateSchema: false,
      addUsedSchema: false,
      // Whose request it is goes along as `this`, down to the keywords.
      passContext: true,
    })
    admitirTelefonos(ajv)
    addFormats.default(ajv)
    for (const [nombre, { validate }] of Object.entries(FORMATOS)) ajv.addFormat(nombre, validate)
    return ajv.addSchema(documento, 'contrato')
  }
  // Two compilers: a quick one that stops at the first fault decides, a thorough one explains.
  const rapido = crearAjv(false)
  const minucioso = crearAjv(true)
  const compilar = (ajv: Ajv2020, ref: string): ValidateFunction =>
    ajv.getSchema(`contrato#${ref}`) ?? ajv.compile({ $ref: `contrato#${ref}` })
  const fallas = (ref: string, valor: unknown, maximo: number, remitente: Remitente | undefined): Fallas => {
    const validar = compilar(minucioso, ref)
    return validar.call(remitente, acortar(valor)) ? SIN_FALLAS : explicar(validar.errors as ErrorObject[], maximo)
  }
  const refDelCuerpo = ({ ruta, metodo, tipos }: Operacion) =>
    `/paths/${puntero(ruta)}/${metodo}/requestBody/content/${puntero(tipos[0]!)}/schema`

  const deParametros = new Ajv2020({ strict: false, coerceTypes: 'array', validateSchema: false })
  addFormats.default(deParametros)
  for (const [nombre, { validate }] of Object.entries(FORMATOS)) deParametros.addFormat(nombre, validate)
  const revisarParametro = (operacion: Operacion, nombre: string, valor: unknown): Falla[] => {
    const parametro = operacion.parametros.find(({ name }) => name === nombre)
    const valido =
      parametro &&
      bienEscrito(parametro, valor) &&
      (valor === undefined ? !parametro.required : valor !== '' && deParametros.validate(parametro.schema, valor))
    return valido ? [] : [explicarParametro(nombre, parametro, valor, operacion.parametros)]
  }

  const hallados = new Map<OperationId, object>()
  // Made when it is first needed: reading the contract in its own way takes it a tenth of a second.
  let piezas: Piezas | undefined
  const lasPiezas = () => {
    piezas ??= separar(crearMiddlewares())
    return piezas
  }
  const crearMiddlewares = () =>
    OpenApiValidator.middleware({
      apiSpec: paraElValidador(documento) as never,
      validateApiSpec: false, // the lint did, when it was generated
      validateSecurity: false, // authentication comes before the body is read
      validateResponses: false, // tests validate every answer themselves, errors and headers included
      validateRequests: { allowUnknownQueryParameters: false, coerceTypes: false },
      fileUploader: false,
      formats: Object.fromEntries(
        Object.entries(FORMATOS).map(([nombre, { validate }]) => [nombre, { type: 'string', validate }]),
      ) as never,
    }) as unknown as RequestHandler[]

  const validacion: Validacion = {
    async preparar(operacion) {
      hallados.set(operacion.id, await hallar(lasPiezas(), operacion))
    },
    validar(operacion) {
      if (decideElCuerpo(operacion)) return [crearJuez(() => compilar(rapido, refDelCuerpo(operacion)))]
      const { id } = operacion
      const basta = crearJuezDeRuta(operacion, (esquema) => deParametros.compile(esquema))
      return [
        (req, res, next) => {
          if (basta(req)) return next()
          const hallado = hallados.get(id)
          if (!hallado) return next(new Error(`${id} was not prepared`))
          Object.assign(req, { openapi: { ...hallado, pathParams: req.params } })
          lasPiezas().requestMiddleware(req, res, next)
        },
      ]
    },
    explicarCuerpo: (operacion, cuerpo, remitente) =>
      cuerpo === undefined
        ? { dichas: [{ campo: '', codigo: 'requerido', mensaje: 'falta el cuerpo: un objeto JSON' }], omitidas: 0 }
        : fallas(refDelCuerpo(operacion), cuerpo, MAXIMO_DE_FALLAS, remitente),
    explicarParametros(operacion, rechazo, valores) {
      const declarados = operacion.parametros.map(({ name }) => name)
      const ajenos = Object.keys(valores).filter((nombre) => !declarados.includes(nombre))
      // Whoever calls chooses how many there are: the first few are explained, the others counted.
      const revisados = [...declarados, ...ajenos.slice(0, MAXIMO_DE_FALLAS)]
      const dichas = revisados.flatMap((nombre) => revisarParametro(operacion, nombre, valores[nombre]))
      if (dichas.length > 0) return { dichas, omitidas: Math.max(0, ajenos.length - MAXIMO_DE_FALLAS) }
      // The validator found what we don't: name what it named.
      const halladas = (rechazo.errors ?? []).slice(0, MAXIMO_DE_FALLAS).map(({ path }) => ({
        campo: (path.split('/')[2] ?? path).slice(0, 300),
        codigo: 'formato_invalido' as const,
        mensaje: 'no tiene la forma esperada',
      }))
      return { dichas: halladas, omitidas: (rechazo.errors ?? []).length - halladas.length }
    },
    validador(esquema) {
      const ref = `/components/schemas/${esquema}`
      const validar = compilar(rapido, ref)
      return {
        vale: (valor, remitente) => validar.call(remitente, valor) === true,
        explicar: (valor, maximo, remitente) => fallas(ref, valor, maximo, remitente),
      }
    },
    advertirDesconocidos(esquema, valor) {
      const conocidos = Object.keys(original.components.schemas[esquema]!.properties!)
      const sobran = Object.keys(valor).filter((miembro) => !conocidos.includes(miembro))
      return sobran.slice(0, MAXIMO_DE_ADVERTENCIAS).map((miembro) => advertirDesconocido(miembro, conocidos))
    },
    exigirCuerpo(id, cuerpo) {
      const operacion = operaciones.find((o) => o.id === id)!
      const { dichas, omitidas } = validacion.explicarCuerpo(operacion, cuerpo)
      if (dichas.length > 0) throw problemaDeFallas('validacion', dichas, omitidas)
    },
  }
  return validacion
}

/** Whether nothing of a request but its body, which must be there, is left for the validator to look at. */
const decideElCuerpo = ({ tipos, parametros, crudo, enFlujo, cuerpoObligatorio }: Operacion) =>
  tipos.length === 1 && parametros.length === 0 && cuerpoObligatorio && !crudo && !enFlujo

/**
 * Judges the body alone, with the compiled schema: the validator's own walk through a request without parameters would find
 * nothing more, and takes twice as long as the judgement. What is refused is explained as the validator's refusals are.
 */
function crearJuez(compilado: () => ValidateFunction): RequestHandler {
  let vale: ValidateFunction | undefined
  return (req, _res, next) => {
    vale ??= compilado()
    if (vale.call(remitenteDe(req), req.body)) next()
    else next(Object.assign(new Error('the body is refused'), { status: 400, errors: [{ path: '/body' }] }))
  }
}

/** Whose request it is; before anybody is known, as in the self-check, nobody's. */
export const remitenteDe = ({ solicitud }: Request): Remitente | undefined =>
  solicitud?.identidad as Remitente | undefined

/**
 * Whether a request has nothing that could be wrong, for there is nothing in it but its path, which the compiled schemas let
 * pass: most reads are like that and the validator's own walk through them is an eighth of a read's work.
 */
function crearJuezDeRuta(
  { tipos, parametros }: Operacion,
  compilar: (esquema: object) => ValidateFunction,
): (req: Request) => boolean {
  const deRuta = parametros.filter((parametro) => parametro.in === 'path')
  const demas = parametros.filter((parametro) => parametro.in !== 'path')
  if (tipos.length > 0 || demas.some(({ required }) => required)) return () => false
  const cabeceras = demas.filter((parametro) => parametro.in === 'header').map(({ name }) => name.toLowerCase())
  let vale: ValidateFunction | undefined
  return ({ query, params, headers }) => {
    if (Object.keys(query).length > 0 || cabeceras.some((nombre) => nombre in headers)) return false
    vale ??= compilar({
      type: 'object',
      required: deRuta.map(({ name }) => name),
      properties: Object.fromEntries(deRuta.map(({ name, schema }) => [name, schema])),
    })
    return vale(params)
  }
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
async function hallar({ metadataMiddleware }: Piezas, { id, metodo, ruta }: Operacion): Promise<object> {
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
