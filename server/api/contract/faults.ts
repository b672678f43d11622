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
  /** Message for a request that sends a list instead of the object. */
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

const truncate = (text: string, length: number) => (text.length > length ? `${text.slice(0, length - 1)}…` : text)

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
 * @param value value that the errors are about
 */
export function explainErrors(errores: readonly ErrorObject[], maximum: number, value?: unknown): Faults {
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
    const fault = explainError(error, value)
    // The parts of an `allOf` report the wrong type of a value once each, and only the first has a message for it.
    const keys = [fault.mensaje, ...(error.keyword === 'type' ? ['type'] : [])].map((key) => `${fault.campo}\n${key}`)
    if (!keys.some((key) => seenKeys.has(key))) listedFaults.push(fault)
    for (const key of keys) seenKeys.add(key)
  }
  return { listedFaults, omittedCount: errores.length - checkedCount }
}

function explainError(error: ErrorObject, value: unknown): Falla {
  const { keyword, params, data } = error
  const schema = (error.parentSchema ?? {}) as FaultSchema
  const fault = (field: string, message: string): Falla => ({
    campo: truncate(field, 300),
    codigo: FAULT_CODES[keyword] ?? 'valor_no_admitido',
    mensaje: truncate(message, 500),
  })
  switch (keyword) {
    case 'required': {
      const key = params.missingProperty as string
      const ownMessage = schema['x-mensajes-requeridos']?.[key]
      return fault(`${error.instancePath}/${escapeToken(key)}`, ownMessage ?? 'falta; es obligatorio')
    }
    case 'dependentRequired':
      return fault(
        `${error.instancePath}/${escapeToken(params.missingProperty)}`,
        `falta: ${params.property} y ${params.missingProperty} van juntas`,
      )
    case 'additionalProperties':
    case 'unevaluatedProperties': {
      const key = (params.additionalProperty ?? params.unevaluatedProperty) as string
      return fault(
        `${error.instancePath}/${escapeToken(key)}`,
        explainUnknownKey(key, Object.keys(schema.properties ?? {})),
      )
    }
    case 'type':
      if (data === null)
        return fault(
          error.instancePath,
          `no puede ser null; ${schema['x-telefono'] ? schema['x-mensaje'] : 'si no tiene valor, omita el campo'}`,
        )
      return fault(
        error.instancePath,
        explainText([params.type].flat(), data, schema['x-mensaje']) ??
          explainNumber([params.type].flat(), data) ??
          explainList([params.type].flat(), data, schema) ??
          schema['x-mensaje'] ??
          `debe ser ${[params.type]
            .flat()
            .map((t: string) => TYPE_NAMES[t] ?? t)
            .join(' o ')}`,
      )
    case 'x-telefono':
      return fault(error.instancePath, error.message!)
    case 'format': {
      const format = FORMATS[params.format as string]
      return fault(
        error.instancePath,
        (typeof data === 'string' ? format?.explain(data) : undefined) ??
          schema['x-mensaje'] ??
          'no tiene la forma esperada',
      )
    }
    default: {
      const { propertyName: key } = error
      const place = key === undefined ? error.instancePath : `${error.instancePath}/${escapeToken(key)}`
      const statedFault = fault(place, schema['x-mensaje'] ?? genericMessage(error, schema))
      return schema['x-invertible'] ? withInverted(statedFault, parentOf(value, place)) : statedFault
    }
  }
}

/** Explains a text where a number belongs, with the number that the text holds; undefined for any other value. */
function explainText(types: readonly string[], data: unknown, customMessage: string | undefined): string | undefined {
  const number = types.find((type) => type === 'number' || type === 'integer')
  if (number === undefined || typeof data !== 'string') return undefined
  const writtenNumber = data.trim().replace(',', '.')
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(writtenNumber)
    ? `es un texto y debe ser ${TYPE_NAMES[number]}: escríbalo sin comillas, ${Number(writtenNumber)}`
    : `es un texto y ${customMessage ?? `debe ser ${TYPE_NAMES[number]}, sin comillas`}`
}

/** Explains a number where a text belongs, with the text to write; undefined for any other value. */
const explainNumber = (types: readonly string[], data: unknown): string | undefined =>
  types.includes('string') && Number.isSafeInteger(data)
    ? `es un número y debe ser un texto: escríbalo entre comillas, "${data}"`
    : undefined

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
const parentOf = (value: unknown, field: string): unknown =>
  field
    .split('/')
    .slice(1, -1)
    .reduce((container, step) => (container as Record<string, unknown> | undefined)?.[unescapeToken(step)], value)

/** If a latitude and a longitude were exchanged, adds the point that was probably meant to the fault. */
function withInverted(fault: Falla, place: unknown): Falla {
  const sugerencia = findExchanged(place as { lat?: unknown; lng?: unknown })
  if (!sugerencia) return fault
  const { lat, lng } = sugerencia
  return { ...fault, mensaje: `${fault.mensaje}; ¿lat y lng al revés? Quizá quiso decir ${lat}, ${lng}.`, sugerencia }
}

/** Returns the message of a value that is none of a vocabulary, with the one that it probably means. */
function oneOf(vocabulary: readonly unknown[], value: unknown, ending = ''): string {
  const meant =
    typeof value === 'string' &&
    value.length <= 60 &&
    vocabulary.find((one) => typeof one === 'string' && isSimilar(value, one))
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

function explainUnknownKey(
  key: string,
  knownNames: readonly string[],
  { problem = 'no existe', listIntro = 'los campos son' } = {},
): string {
  const similarPath = findMeant(key, knownNames)
  if (similarPath) return `${problem}; ¿quiso decir ${similarPath}?`
  return [problem, otherWayThan(key, knownNames), `${listIntro}: ${knownNames.join(', ')}`].filter(Boolean).join('; ')
}

/** Returns the warning for an unknown member that need not fail the request. */
export const unknownMemberFault = (key: string, knownNames: readonly string[]): Advertencia => ({
  codigo: 'campo_desconocido',
  campo: truncate(`/${escapeToken(key)}`, 300),
  mensaje: truncate(explainUnknownKey(key, knownNames, { problem: 'no existe y no se tomó en cuenta' }), 500),
  sugerencia: findMeant(key, knownNames) ?? null,
})

/**
 * Returns the fault of a refused parameter. `parameter` is undefined if the operation has no parameter of that name.
 */
export function explainParameter(
  name: string,
  parameter: ContractParameter | undefined,
  value: unknown,
  declared: readonly ContractParameter[],
): Falla {
  if (!parameter) {
    const queryParameters = declared.filter((p) => p.in === 'query')
    return {
      campo: truncate(name, 300),
      codigo: 'desconocido',
      mensaje: truncate(explainUnknown(name, queryParameters), 500),
    }
  }
  const schema = parameter.schema as FaultSchema
  if (value === undefined) return { campo: name, codigo: 'requerido', mensaje: 'falta; es obligatorio' }
  if (Array.isArray(value) && schema.type !== 'array') {
    return { campo: name, codigo: 'valor_no_admitido', mensaje: 'va una sola vez: pida cada uno por separado' }
  }
  if (value === '')
    return { campo: name, codigo: 'largo_invalido', mensaje: 'no puede estar vacío; si no lo necesita, omítalo' }
  const elementValues = ((schema.items as FaultSchema | undefined)?.enum ?? schema.enum) as unknown[] | undefined
  const message =
    explainFormat(schema, value) ??
    explainCommas(name, schema, value) ??
    schema['x-mensaje'] ??
    (elementValues
      ? oneOf(elementValues, [value].flat()[0], schema.type === 'array' ? ', sin repetir' : '')
      : 'no tiene la forma esperada')
  const codigo = elementValues ? 'valor_no_admitido' : schema.type === 'integer' ? 'fuera_de_rango' : 'formato_invalido'
  return { campo: name, codigo, mensaje: truncate(message, 500) }
}

function explainUnknown(nombre: string, queryParameters: readonly ContractParameter[]): string {
  const names = queryParameters.map(({ name }) => name)
  if (names.length === 0) return 'no existe; esta operación no tiene parámetros de consulta'
  const listName = queryParameters.find(({ name, schema }) => nombre === `${name}[]` && schema.type === 'array')?.name
  if (listName) return `va sin corchetes y se repite: ${repeated(listName, ['…', '…'])}`
  return explainUnknownKey(nombre, names, { listIntro: 'los parámetros son' })
}

/** Maximum values of a list that a message repeats. */
const MAX_REPEATED = 3

const repeated = (name: string, values: readonly string[]) =>
  values
    .slice(0, MAX_REPEATED)
    .map((value) => `${name}=${value}`)
    .join('&')

/** Explains values that are separated by commas. Each value of a list is a parameter of its own. */
function explainCommas(name: string, { type, enum: vocabulary }: FaultSchema, valor: unknown): string | undefined {
  const joinedValues = [valor].flat().find((value): value is string => typeof value === 'string' && value.includes(','))
  if (joinedValues === undefined) return undefined
  if (type === 'array')
    return `los valores no se separan con comas: repita el parámetro, ${repeated(name, joinedValues.split(/ *, */))}`
  return vocabulary ? 'admite un solo valor: pida cada uno por separado' : undefined
}

/** Explains a query parameter that does not have the format of its schema, or of an alternative of its schema. */
function explainFormat(schema: FaultSchema, value: unknown): string | undefined {
  const branches = [schema, ...((schema.anyOf ?? []) as FaultSchema[])]
  const formato = FORMATS[branches.find(({ format }) => format !== undefined)?.format as string]
  return formato && typeof value === 'string' && !formato.validate(value) ? formato.explain(value, true) : undefined
}
