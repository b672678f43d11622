import type { ErrorObject } from 'ajv'
import type { Advertencia, Falla } from '../../generated/contract/types/index.ts'
import { escapeToken, unescapeToken } from '../../platform/jsonPointer.ts'
import { findExchanged } from '../../platform/maps/exchanged.ts'
import { isSimilar } from '../../platform/similar.ts'
import type { ContractParameter } from './contract.ts'
import { FORMATS } from './formats.ts'
import { findMeant, otherWayThan } from './otherNames.ts'

type FaultSchema = Record<string, unknown> & {
  properties?: Record<string, unknown>
  'x-mensaje'?: string
  'x-mensajes-requeridos'?: Record<string, string>
  /** Message for a list in the place of the object. */
  'x-mensaje-lista'?: string
  /** True for a latitude: a value out of range may be the longitude. */
  'x-invertible'?: boolean
}

const TYPE_NAMES: Record<string, string> = {
  string: 'texto',
  number: 'un número',
  integer: 'un número entero',
  boolean: 'true o false',
  object: 'un objeto',
  array: 'una lista',
  null: 'null',
}

const FAULT_CODES: Record<string, Falla['codigo']> = {
  required: 'requerido',
  additionalProperties: 'desconocido',
  unevaluatedProperties: 'desconocido',
  type: 'tipo_invalido',
  format: 'formato_invalido',
  'x-telefono': 'formato_invalido',
  pattern: 'formato_invalido',
  minLength: 'largo_invalido',
  maxLength: 'largo_invalido',
  minItems: 'largo_invalido',
  maxItems: 'largo_invalido',
  minimum: 'fuera_de_rango',
  maximum: 'fuera_de_rango',
  dependentRequired: 'incompatible',
  anyOf: 'incompatible',
  oneOf: 'incompatible',
}

const truncate = (texto: string, largo: number) => (texto.length > largo ? `${texto.slice(0, largo - 1)}…` : texto)

/** Faults of a value: the reported faults (`listedFaults`), and the number of errors left out (`omittedCount`). */
export interface Faults {
  listedFaults: Falla[]
  omittedCount: number
}

export const NO_FAULTS: Faults = { listedFaults: [], omittedCount: 0 }

/**
 * Translates Ajv's errors to faults in Spanish, each with the field and the remedy. The contract's `x-mensaje` takes
 * precedence over a generated text.
 * @param maximum maximum number of reported faults; later errors are only counted, because the client controls their
 * number
 * @param valor value that the errors are about
 */
export function explainErrors(errores: readonly ErrorObject[], maximum: number, valor?: unknown): Faults {
  // If an `anyOf` or `oneOf` has an `x-mensaje` of its own, that text replaces the errors of its branches.
  const silentErrors = errores
    .filter(
      ({ keyword, parentSchema }) => ['anyOf', 'oneOf'].includes(keyword) && (parentSchema as FaultSchema)['x-mensaje'],
    )
    .flatMap(({ schema, schemaPath, instancePath }) => {
      const references = (schema as { $ref?: string }[]).flatMap(({ $ref }) => $ref ?? [])
      return [schemaPath, ...references].map((branchPath) => ({ branch: `${branchPath}/`, lugar: instancePath }))
    })
  const seenKeys = new Set<string>()
  const listedFaults: Falla[] = []
  let checkedCount = 0
  for (const error of errores) {
    if (listedFaults.length === maximum) break
    checkedCount++
    // Ajv reports a wrong key twice: by the rule that it breaks, and as a summary without a text.
    if (error.keyword === 'propertyNames') continue
    if (silentErrors.some(({ branch, lugar }) => error.schemaPath.includes(branch) && error.instancePath === lugar))
      continue
    const falla = explainError(error, valor)
    // The parts of an `allOf` report the wrong type of a value once each, and only the first has a message for it.
    const keys = [falla.mensaje, ...(error.keyword === 'type' ? ['type'] : [])].map((key) => `${falla.campo}\n${key}`)
    if (!keys.some((key) => seenKeys.has(key))) listedFaults.push(falla)
    for (const key of keys) seenKeys.add(key)
  }
  return { listedFaults, omittedCount: errores.length - checkedCount }
}

function explainError(error: ErrorObject, valor: unknown): Falla {
  const { keyword, params, data } = error
  const schema = (error.parentSchema ?? {}) as FaultSchema
  const falla = (campo: string, mensaje: string): Falla => ({
    campo: truncate(campo, 300),
    codigo: FAULT_CODES[keyword] ?? 'valor_no_admitido',
    mensaje: truncate(mensaje, 500),
  })
  switch (keyword) {
    case 'required': {
      const clave = params.missingProperty as string
      const ownMessage = schema['x-mensajes-requeridos']?.[clave]
      return falla(`${error.instancePath}/${escapeToken(clave)}`, ownMessage ?? 'falta; es obligatorio')
    }
    case 'dependentRequired':
      return falla(
        `${error.instancePath}/${escapeToken(params.missingProperty)}`,
        `falta: ${params.property} y ${params.missingProperty} van juntas`,
      )
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const clave = (params.additionalProperty ?? params.unevaluatedProperty) as string
      return falla(
        `${error.instancePath}/${escapeToken(clave)}`,
        desconocido(clave, Object.keys(schema.properties ?? {})),
      )
    }
    case 'type':
      if (data === null)
        return falla(
          error.instancePath,
          `no puede ser null; ${schema['x-telefono'] ? schema['x-mensaje'] : 'si no tiene valor, omita el campo'}`,
        )
      return falla(
        error.instancePath,
        explainText([params.type].flat(), data, schema['x-mensaje']) ??
          explainList([params.type].flat(), data, schema) ??
          schema['x-mensaje'] ??
          `debe ser ${[params.type]
            .flat()
            .map((t: string) => TYPE_NAMES[t] ?? t)
            .join(' o ')}`,
      )
    case 'x-telefono':
      return falla(error.instancePath, error.message!)
    case 'format': {
      const formato = FORMATS[params.format as string]
      return falla(
        error.instancePath,
        (typeof data === 'string' ? formato?.explain(data) : undefined) ??
          schema['x-mensaje'] ??
          'no tiene la forma esperada',
      )
    }
    default: {
      const { propertyName: clave } = error
      const lugar = clave === undefined ? error.instancePath : `${error.instancePath}/${escapeToken(clave)}`
      const statedFault = falla(lugar, schema['x-mensaje'] ?? genericMessage(error, schema))
      return schema['x-invertible'] ? withInverted(statedFault, parentOf(valor, lugar)) : statedFault
    }
  }
}

/** Explains a text where a number belongs, with the number that the text holds; undefined for any other value. */
function explainText(tipos: readonly string[], data: unknown, customMessage: string | undefined): string | undefined {
  const numero = tipos.find((tipo) => tipo === 'number' || tipo === 'integer')
  if (numero === undefined || typeof data !== 'string') return undefined
  const writtenNumber = data.trim().replace(',', '.')
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(writtenNumber)
    ? `es un texto y debe ser ${TYPE_NAMES[numero]}: escríbalo sin comillas, ${Number(writtenNumber)}`
    : `es un texto y ${customMessage ?? `debe ser ${TYPE_NAMES[numero]}, sin comillas`}`
}

/**
 * Explains a list in the place of an object that has one required list, or a message for lists. Undefined for any other
 * value.
 */
function explainList(types: readonly string[], data: unknown, schema: FaultSchema): string | undefined {
  if (!Array.isArray(data) || !types.includes('object')) return undefined
  const lists = ((schema.required ?? []) as string[]).filter(
    (name) => (schema.properties?.[name] as FaultSchema | undefined)?.type === 'array',
  )
  return (
    schema['x-mensaje-lista'] ??
    (lists.length === 1
      ? `es una lista y debe ser un objeto: ponga la lista en ${lists[0]}, {"${lists[0]}": […]}`
      : undefined)
  )
}

/** Returns the object that holds the member at a JSON Pointer. */
const parentOf = (valor: unknown, campo: string): unknown =>
  campo
    .split('/')
    .slice(1, -1)
    .reduce((container, paso) => (container as Record<string, unknown> | undefined)?.[unescapeToken(paso)], valor)

/** If a latitude and a longitude were exchanged, adds the point that was probably meant to the fault. */
function withInverted(falla: Falla, lugar: unknown): Falla {
  const sugerencia = findExchanged(lugar as { lat?: unknown; lng?: unknown })
  if (!sugerencia) return falla
  const { lat, lng } = sugerencia
  return { ...falla, mensaje: `${falla.mensaje}; ¿lat y lng al revés? Quizá quiso decir ${lat}, ${lng}.`, sugerencia }
}

/** Returns the message of a value that is none of a vocabulary, with the one that it probably means. */
function oneOf(vocabulary: readonly unknown[], valor: unknown, ending = ''): string {
  const meant =
    typeof valor === 'string' &&
    valor.length <= 60 &&
    vocabulary.find((one) => typeof one === 'string' && isSimilar(valor, one))
  return `debe ser uno de: ${vocabulary.join(', ')}${ending}${meant ? `; ¿quiso decir ${meant}?` : ''}`
}

function genericMessage({ keyword, params, data }: ErrorObject, schema: FaultSchema): string {
  switch (keyword) {
    case 'enum':
      return oneOf(schema.enum as unknown[], data)
    case 'const':
      return `debe ser ${String(params.allowedValue)}`
    case 'minLength':
      return params.limit === 1
        ? 'no puede estar vacío; si no tiene valor, omita el campo'
        : `debe tener ${params.limit} caracteres o más`
    case 'maxLength':
      return `debe tener ${params.limit} caracteres o menos`
    case 'minItems':
      return `debe tener ${params.limit} elementos o más`
    case 'maxItems':
      return `debe tener ${params.limit} elementos o menos`
    case 'minimum':
      return `debe ser ${params.limit} o más`
    case 'maximum':
      return `debe ser ${params.limit} o menos`
    case 'uniqueItems':
      return 'no puede tener elementos repetidos'
    default:
      return 'no vale; compare el campo con la documentación'
  }
}

function desconocido(
  clave: string,
  knownNames: readonly string[],
  { problem = 'no existe', listIntro = 'los campos son' } = {},
): string {
  const parecida = findMeant(clave, knownNames)
  if (parecida) return `${problem}; ¿quiso decir ${parecida}?`
  return [problem, otherWayThan(clave, knownNames), `${listIntro}: ${knownNames.join(', ')}`].filter(Boolean).join('; ')
}

/** Returns the warning for an unknown member that need not fail the request. */
export const unknownMemberFault = (clave: string, knownNames: readonly string[]): Advertencia => ({
  codigo: 'campo_desconocido',
  campo: truncate(`/${escapeToken(clave)}`, 300),
  mensaje: truncate(desconocido(clave, knownNames, { problem: 'no existe y no se tomó en cuenta' }), 500),
  sugerencia: findMeant(clave, knownNames) ?? null,
})

/**
 * Returns the fault of a refused parameter. `parameter` is undefined if the operation has no parameter of that name.
 */
export function explainParameter(
  nombre: string,
  parameter: ContractParameter | undefined,
  valor: unknown,
  declared: readonly ContractParameter[],
): Falla {
  if (!parameter) {
    const queryParameters = declared.filter((p) => p.in === 'query')
    return {
      campo: truncate(nombre, 300),
      codigo: 'desconocido',
      mensaje: truncate(explainUnknown(nombre, queryParameters), 500),
    }
  }
  const schema = parameter.schema as FaultSchema
  if (valor === undefined) return { campo: nombre, codigo: 'requerido', mensaje: 'falta; es obligatorio' }
  if (Array.isArray(valor) && schema.type !== 'array') {
    return { campo: nombre, codigo: 'valor_no_admitido', mensaje: 'va una sola vez: pida cada uno por separado' }
  }
  if (valor === '')
    return { campo: nombre, codigo: 'largo_invalido', mensaje: 'no puede estar vacío; si no lo necesita, omítalo' }
  const elementValues = ((schema.items as FaultSchema | undefined)?.enum ?? schema.enum) as unknown[] | undefined
  const mensaje =
    explainFormat(schema, valor) ??
    explainCommas(nombre, schema, valor) ??
    schema['x-mensaje'] ??
    (elementValues
      ? oneOf(elementValues, [valor].flat()[0], schema.type === 'array' ? ', sin repetir' : '')
      : 'no tiene la forma esperada')
  const codigo = elementValues ? 'valor_no_admitido' : schema.type === 'integer' ? 'fuera_de_rango' : 'formato_invalido'
  return { campo: nombre, codigo, mensaje: truncate(mensaje, 500) }
}

function explainUnknown(nombre: string, queryParameters: readonly ContractParameter[]): string {
  const names = queryParameters.map(({ name }) => name)
  if (names.length === 0) return 'no existe; esta operación no tiene parámetros de consulta'
  const listName = queryParameters.find(({ name, schema }) => nombre === `${name}[]` && schema.type === 'array')?.name
  if (listName) return `va sin corchetes y se repite: ${repeated(listName, ['…', '…'])}`
  return desconocido(nombre, names, { listIntro: 'los parámetros son' })
}

/** Maximum values of a list that a message repeats. */
const MAX_REPEATED = 3

const repeated = (nombre: string, values: readonly string[]) =>
  values
    .slice(0, MAX_REPEATED)
    .map((value) => `${nombre}=${value}`)
    .join('&')

/** Explains values that are separated by commas. Each value of a list is a parameter of its own. */
function explainCommas(nombre: string, { type, enum: vocabulary }: FaultSchema, valor: unknown): string | undefined {
  const joinedValues = [valor].flat().find((value): value is string => typeof value === 'string' && value.includes(','))
  if (joinedValues === undefined) return undefined
  if (type === 'array')
    return `los valores no se separan con comas: repita el parámetro, ${repeated(nombre, joinedValues.split(','))}`
  return vocabulary ? 'admite un solo valor: pida cada uno por separado' : undefined
}

/** Explains a query parameter that does not have the format of its schema, or of an alternative of its schema. */
function explainFormat(schema: FaultSchema, valor: unknown): string | undefined {
  const branches = [schema, ...((schema.anyOf ?? []) as FaultSchema[])]
  const formato = FORMATS[branches.find(({ format }) => format !== undefined)?.format as string]
  return formato && typeof valor === 'string' && !formato.validate(valor) ? formato.explain(valor, true) : undefined
}
