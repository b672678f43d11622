import { appendFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { Ajv2020 } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import { type Operation, readDocument, readOperations } from '../server/api/contract/contract.ts'
import type { ResponseWitness } from '../server/api/http/problems.ts'
import type { Problema } from '../server/generated/contract/types/index.ts'

const documento = readDocument()
const operaciones = readOperations(documento)

type Nodo = { [key: string]: unknown }

/**
 * The contract with its answers closed: what is published open, so that clients ignore what they don't know, is held
 * strictly here, so that nothing leaks. A schema is closed where it is used, not inside an allOf, whose members see only
 * their own properties.
 */
function close(node: unknown, isOpen = false): unknown {
  if (Array.isArray(node)) return node.map((child) => close(child, isOpen))
  if (node === null || typeof node !== 'object') return node
  const copy: Nodo = {}
  for (const [key, value] of Object.entries(node)) {
    if (key === 'properties')
      copy[key] = Object.fromEntries(Object.entries(value as Nodo).map(([n, v]) => [n, closeUse(v)]))
    else if (key === 'items') copy[key] = closeUse(value)
    else if (key === 'oneOf' || key === 'anyOf') copy[key] = (value as unknown[]).map(closeUse)
    else if (key === 'allOf') copy[key] = close(value, true)
    else copy[key] = close(value)
  }
  return copy
}
const closeUse = (node: unknown): unknown => {
  const copy = close(node) as Nodo
  const isObject = '$ref' in copy || 'properties' in copy || 'allOf' in copy
  return isObject ? { ...copy, unevaluatedProperties: false } : copy
}

const ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
addFormats.default(ajv)
// Formats of requests; answers carry what a request brought, already checked.
for (const formato of ['telefono', 'enlace-de-mapa']) ajv.addFormat(formato, true)
ajv.addSchema({ components: { schemas: close(documento.components.schemas) } }, 'contrato')

interface DeclaredResponse {
  headers?: Nodo
  content?: Readonly<Record<string, { schema: { $ref: string } } | undefined>>
}
const resolver = (response: unknown): DeclaredResponse => {
  const ref = (response as { $ref?: string }).$ref
  return (ref ? documento.components.responses[ref.split('/').at(-1)!] : response) as DeclaredResponse
}

const resolveHeader = (header: unknown): { required?: boolean } => {
  const ref = (header as { $ref?: string }).$ref
  return (ref ? documento.components.headers[ref.split('/').at(-1)!] : header) as { required?: boolean }
}

const validators = new Map<string, ReturnType<typeof ajv.compile>>()

/** What is wrong with an answer of that schema, which is closed here; undefined: nothing. */
export function findSchemaFaults($ref: string, body: unknown): string | undefined {
  const validate = validators.get($ref) ?? ajv.compile({ $ref: `contrato${$ref}`, unevaluatedProperties: false })
  validators.set($ref, validate)
  return validate(body) ? undefined : ajv.errorsText(validate.errors)
}

const CABECERAS_DE_TODAS = [
  'location',
  'idempotent-replayed',
  'retry-after',
  'ratelimit',
  'ratelimit-policy',
  'allow',
  'www-authenticate',
  'etag',
  'accept-ranges',
  'content-range',
  'content-disposition',
  'set-cookie',
]

function revisar(operacion: Operation, status: number, cabeceras: Readonly<Record<string, unknown>>, body: unknown) {
  const declaredResponse = documento.paths[operacion.path]![operacion.method]!.responses[status]
  if (!declaredResponse)
    throw new Error(`${operacion.id} answered ${status}, which the contract doesn't declare: ${JSON.stringify(body)}`)
  const { headers = {}, content } = resolver(declaredResponse)
  const names = Object.keys(headers).map((name) => name.toLowerCase())
  const optionalHeaders = Object.entries(headers)
    .filter(([, header]) => resolveHeader(header).required === false)
    .map(([name]) => name.toLowerCase())
  for (const name of CABECERAS_DE_TODAS) {
    // What is refused before it is let through has no rhythm to tell of.
    if (name.startsWith('ratelimit') && status >= 400 && status !== 429 && !(name in cabeceras)) continue
    if (!(name in cabeceras) && optionalHeaders.includes(name)) continue
    if (name in cabeceras !== names.includes(name))
      throw new Error(
        `${operacion.id} ${status}: header ${name} ${name in cabeceras ? 'is not declared' : 'is missing'}`,
      )
  }
  if (!content) {
    if (body !== undefined || 'content-type' in cabeceras) throw new Error(`${operacion.id} ${status} has a body`)
    return
  }
  const tipo = String(cabeceras['content-type']).split(';')[0]!
  const declaredContent = content[tipo]
  if (!declaredContent) throw new Error(`${operacion.id} ${status}: ${tipo} is not declared`)
  if (!/\bjson$/.test(tipo)) return
  const faltas = findSchemaFaults(declaredContent.schema.$ref, JSON.parse(JSON.stringify(body)))
  if (faltas) {
    throw new Error(
      `${operacion.id} ${status} breaks the contract: ${faltas}\n${JSON.stringify(body, null, 1).slice(0, 2_000)}`,
    )
  }
  if (status >= 400 && operacion.path.startsWith('/api/v1/')) revisarProblema(body as Partial<Problema>)
}

/** A merchant's problem: of his list, and in words for whatever he calls with, the SDK or HTTP. */
function revisarProblema({ codigo, mensaje = '', errores = [] }: Partial<Problema>) {
  if (isForeign(codigo)) throw new Error(`${codigo} isn't in the merchants' contract`)
  for (const text of [mensaje, ...errores.map((fault) => fault.mensaje)])
    if (/\/api\/v1\/|\bapi\.\w/.test(text)) throw new Error(`${codigo}: «${text}» names what only one tool calls so`)
}

/** Whether a problem is none of a merchant's, and so none of his contract's. */
const isForeign = (codigo = '') => {
  const problemas = documento.components.schemas.CodigoDeProblema?.['x-problemas']
  return (problemas as Record<string, { foreign?: boolean }>)[codigo]?.foreign === true
}

/** Holds every answer against the contract and notes which (operation, status) pairs were seen. */
export function createWitness(folder: string, onFailure: (error: Error) => void): ResponseWitness {
  const seenPairs = new Set<string>()
  return (req, { status, headers: sentHeaders, body }) => {
    const headers = Object.fromEntries(Object.entries(sentHeaders).map(([name, value]) => [name.toLowerCase(), value]))
    // The network gate refuses before a request is identified and routed.
    const ownOperation = req.solicitud ? req.solicitud.operacion : operacionOf(req)
    // A 405 is the path's answer: it counts for every operation there.
    const path = (req.route as { path?: string } | undefined)?.path?.replace(/:(\w+)/g, '{$1}')
    const involvedOperations = ownOperation
      ? [ownOperation]
      : status === 405
        ? operaciones.filter((operacion) => operacion.path === path)
        : []
    for (const operacion of involvedOperations) {
      try {
        revisar(operacion, status, headers, body)
      } catch (error) {
        onFailure(error as Error)
      }
      const pair = `${operacion.id} ${status}`
      if (!seenPairs.has(pair)) {
        seenPairs.add(pair)
        appendFileSync(join(folder, `respuestas-${process.pid}.txt`), `${pair}\n`)
      }
    }
  }
}

/** Operation that a request is for, by its method and path; undefined if there is none. */
const operacionOf = ({ method, url = '' }: IncomingMessage): Operation | undefined => {
  const urlSegments = url.split('?', 1)[0]!.split('/')
  return operaciones.find(({ method: metodo, path }) => {
    const pathSegments = path.split('/')
    const coincide = (pathSegment: string, i: number) => pathSegment.startsWith('{') || pathSegment === urlSegments[i]
    return (
      metodo === method?.toLowerCase() && pathSegments.length === urlSegments.length && pathSegments.every(coincide)
    )
  })
}

/** Every declared pair. */
export const listDeclaredResponses = () =>
  operaciones.flatMap(({ id, estados }) => estados.map((estado) => `${id} ${estado}`))
