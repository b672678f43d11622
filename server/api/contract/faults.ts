import type { ErrorObject } from 'ajv'
import type { Advertencia, Falla } from '../../generado/contrato/tipos/index.ts'
import { escapeToken, unescapeToken } from '../../platform/jsonPointer.ts'
import { findExchanged } from '../../platform/maps/exchanged.ts'
import { isSimilar } from '../../platform/similar.ts'
import type { ContractParameter } from './contract.ts'
import { FORMATS } from './formats.ts'
import { findMeant, otherWayThan } from './otherNames.ts'

type Esquema = Record<string, unknown> & {
  properties?: Record<string, unknown>
  'x-mensaje'?: string
  'x-mensajes-requeridos'?: Record<string, string>
  /** Message for a list in the place of the object. */
  'x-mensaje-lista'?: string
  /** True for a latitude: a value out of range may be the longitude. */
  'x-invertible'?: boolean
}

const TIPOS: Record<string, string> = {
  string: 'texto',
  number: 'un número',
  integer: 'un número entero',
  boolean: 'true o false',
  object: 'un objeto',
  array: 'una lista',
  null: 'null',
}

const CODIGOS: Record<string, Falla['codigo']> = {
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

const recortar = (texto: string, largo: number) => (texto.length > largo ? `${texto.slice(0, largo - 1)}…` : texto)

/** Faults of a value: the reported faults (`dichas`), and the number of errors left out (`omitidas`). */
export interface Faults {
  dichas: Falla[]
  omitidas: number
}

export const NO_FAULTS: Faults = { dichas: [], omitidas: 0 }

/**
 * Translates Ajv's errors to faults in Spanish, each with the field and the remedy. The contract's `x-mensaje` takes
 * precedence over a generated text.
 * @param maximo maximum number of reported faults; later errors are only counted, because the client controls their
 * number
 * @param valor value that the errors are about
 */
export function explainErrors(errores: readonly ErrorObject[], maximo: number, valor?: unknown): Faults {
  // If an `anyOf` or `oneOf` has an `x-mensaje` of its own, that text replaces the errors of its branches.
  const mudas = errores
    .filter(
      ({ keyword, parentSchema }) => ['anyOf', 'oneOf'].includes(keyword) && (parentSchema as Esquema)['x-mensaje'],
    )
    .flatMap(({ schema, schemaPath, instancePath }) => {
      const referidas = (schema as { $ref?: string }[]).flatMap(({ $ref }) => $ref ?? [])
      return [schemaPath, ...referidas].map((rama) => ({ rama: `${rama}/`, lugar: instancePath }))
    })
  const vistas = new Set<string>()
  const dichas: Falla[] = []
  let revisados = 0
  for (const error of errores) {
    if (dichas.length === maximo) break
    revisados++
    // Ajv reports a wrong key twice: by the rule that it breaks, and as a summary without a text.
    if (error.keyword === 'propertyNames') continue
    if (mudas.some(({ rama, lugar }) => error.schemaPath.includes(rama) && error.instancePath === lugar)) continue
    const falla = explicarUno(error, valor)
    // The parts of an `allOf` report the wrong type of a value once each, and only the first has a message for it.
    const keys = [falla.mensaje, ...(error.keyword === 'type' ? ['type'] : [])].map((key) => `${falla.campo}\n${key}`)
    if (!keys.some((key) => vistas.has(key))) dichas.push(falla)
    for (const key of keys) vistas.add(key)
  }
  return { dichas, omitidas: errores.length - revisados }
}

function explicarUno(error: ErrorObject, valor: unknown): Falla {
  const { keyword, params, data } = error
  const esquema = (error.parentSchema ?? {}) as Esquema
  const falla = (campo: string, mensaje: string): Falla => ({
    campo: recortar(campo, 300),
    codigo: CODIGOS[keyword] ?? 'valor_no_admitido',
    mensaje: recortar(mensaje, 500),
  })
  switch (keyword) {
    case 'required': {
      const clave = params.missingProperty as string
      const propio = esquema['x-mensajes-requeridos']?.[clave]
      return falla(`${error.instancePath}/${escapeToken(clave)}`, propio ?? 'falta; es obligatorio')
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
        desconocido(clave, Object.keys(esquema.properties ?? {})),
      )
    }
    case 'type':
      if (data === null)
        return falla(
          error.instancePath,
          `no puede ser null; ${esquema['x-telefono'] ? esquema['x-mensaje'] : 'si no tiene valor, omita el campo'}`,
        )
      return falla(
        error.instancePath,
        explicarTexto([params.type].flat(), data, esquema['x-mensaje']) ??
          explainList([params.type].flat(), data, esquema) ??
          esquema['x-mensaje'] ??
          `debe ser ${[params.type]
            .flat()
            .map((t: string) => TIPOS[t] ?? t)
            .join(' o ')}`,
      )
    case 'x-telefono':
      return falla(error.instancePath, error.message!)
    case 'format': {
      const formato = FORMATS[params.format as string]
      return falla(
        error.instancePath,
        (typeof data === 'string' ? formato?.explicar(data) : undefined) ??
          esquema['x-mensaje'] ??
          'no tiene la forma esperada',
      )
    }
    default: {
      const { propertyName: clave } = error
      const lugar = clave === undefined ? error.instancePath : `${error.instancePath}/${escapeToken(clave)}`
      const dicha = falla(lugar, esquema['x-mensaje'] ?? generico(error, esquema))
      return esquema['x-invertible'] ? conInvertido(dicha, alrededor(valor, lugar)) : dicha
    }
  }
}

/** Explains a text where a number belongs, with the number that the text holds; undefined for any other value. */
function explicarTexto(tipos: readonly string[], data: unknown, suyo: string | undefined): string | undefined {
  const numero = tipos.find((tipo) => tipo === 'number' || tipo === 'integer')
  if (numero === undefined || typeof data !== 'string') return undefined
  const escrito = data.trim().replace(',', '.')
  return /^-?\d{1,15}(\.\d{1,15})?$/.test(escrito)
    ? `es un texto y debe ser ${TIPOS[numero]}: escríbalo sin comillas, ${Number(escrito)}`
    : `es un texto y ${suyo ?? `debe ser ${TIPOS[numero]}, sin comillas`}`
}

/**
 * Explains a list in the place of an object that has one required list, or a message for lists. Undefined for any other
 * value.
 */
function explainList(types: readonly string[], data: unknown, esquema: Esquema): string | undefined {
  if (!Array.isArray(data) || !types.includes('object')) return undefined
  const lists = ((esquema.required ?? []) as string[]).filter(
    (name) => (esquema.properties?.[name] as Esquema | undefined)?.type === 'array',
  )
  return (
    esquema['x-mensaje-lista'] ??
    (lists.length === 1
      ? `es una lista y debe ser un objeto: ponga la lista en ${lists[0]}, {"${lists[0]}": […]}`
      : undefined)
  )
}

/** Returns the object that holds the member at a JSON Pointer. */
const alrededor = (valor: unknown, campo: string): unknown =>
  campo
    .split('/')
    .slice(1, -1)
    .reduce((dentro, paso) => (dentro as Record<string, unknown> | undefined)?.[unescapeToken(paso)], valor)

/** If a latitude and a longitude were exchanged, adds the point that was probably meant to the fault. */
function conInvertido(falla: Falla, lugar: unknown): Falla {
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

function generico({ keyword, params, data }: ErrorObject, esquema: Esquema): string {
  switch (keyword) {
    case 'enum':
      return oneOf(esquema.enum as unknown[], data)
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
  conocidas: readonly string[],
  { que = 'no existe', son = 'los campos son' } = {},
): string {
  const parecida = findMeant(clave, conocidas)
  if (parecida) return `${que}; ¿quiso decir ${parecida}?`
  return [que, otherWayThan(clave, conocidas), `${son}: ${conocidas.join(', ')}`].filter(Boolean).join('; ')
}

/** Returns the warning for an unknown member that need not fail the request. */
export const unknownMemberFault = (clave: string, conocidas: readonly string[]): Advertencia => ({
  codigo: 'campo_desconocido',
  campo: recortar(`/${escapeToken(clave)}`, 300),
  mensaje: recortar(desconocido(clave, conocidas, { que: 'no existe y no se tomó en cuenta' }), 500),
  sugerencia: findMeant(clave, conocidas) ?? null,
})

/**
 * Returns the fault of a refused parameter. `parametro` is undefined if the operation has no parameter of that name.
 */
export function explainParameter(
  nombre: string,
  parametro: ContractParameter | undefined,
  valor: unknown,
  declarados: readonly ContractParameter[],
): Falla {
  if (!parametro) {
    const consulta = declarados.filter((p) => p.in === 'query')
    return {
      campo: recortar(nombre, 300),
      codigo: 'desconocido',
      mensaje: recortar(explainUnknown(nombre, consulta), 500),
    }
  }
  const esquema = parametro.schema as Esquema
  if (valor === undefined) return { campo: nombre, codigo: 'requerido', mensaje: 'falta; es obligatorio' }
  if (Array.isArray(valor) && esquema.type !== 'array') {
    return { campo: nombre, codigo: 'valor_no_admitido', mensaje: 'va una sola vez: pida cada uno por separado' }
  }
  if (valor === '')
    return { campo: nombre, codigo: 'largo_invalido', mensaje: 'no puede estar vacío; si no lo necesita, omítalo' }
  const elementos = ((esquema.items as Esquema | undefined)?.enum ?? esquema.enum) as unknown[] | undefined
  const mensaje =
    explainFormat(esquema, valor) ??
    explainCommas(nombre, esquema, valor) ??
    esquema['x-mensaje'] ??
    (elementos
      ? oneOf(elementos, [valor].flat()[0], esquema.type === 'array' ? ', sin repetir' : '')
      : 'no tiene la forma esperada')
  const codigo = elementos ? 'valor_no_admitido' : esquema.type === 'integer' ? 'fuera_de_rango' : 'formato_invalido'
  return { campo: nombre, codigo, mensaje: recortar(mensaje, 500) }
}

function explainUnknown(nombre: string, consulta: readonly ContractParameter[]): string {
  const nombres = consulta.map(({ name }) => name)
  if (nombres.length === 0) return 'no existe; esta operación no tiene parámetros de consulta'
  const lista = consulta.find(({ name, schema }) => nombre === `${name}[]` && schema.type === 'array')?.name
  if (lista) return `va sin corchetes y se repite: ${repeated(lista, ['…', '…'])}`
  return desconocido(nombre, nombres, { son: 'los parámetros son' })
}

/** Maximum values of a list that a message repeats. */
const MAX_REPEATED = 3

const repeated = (nombre: string, valores: readonly string[]) =>
  valores
    .slice(0, MAX_REPEATED)
    .map((uno) => `${nombre}=${uno}`)
    .join('&')

/** Explains values that are separated by commas. Each value of a list is a parameter of its own. */
function explainCommas(nombre: string, { type, enum: vocabulary }: Esquema, valor: unknown): string | undefined {
  const junto = [valor].flat().find((uno): uno is string => typeof uno === 'string' && uno.includes(','))
  if (junto === undefined) return undefined
  if (type === 'array')
    return `los valores no se separan con comas: repita el parámetro, ${repeated(nombre, junto.split(','))}`
  return vocabulary ? 'admite un solo valor: pida cada uno por separado' : undefined
}

/** Explains a query parameter that does not have the format of its schema, or of an alternative of its schema. */
function explainFormat(esquema: Esquema, valor: unknown): string | undefined {
  const ramas = [esquema, ...((esquema.anyOf ?? []) as Esquema[])]
  const formato = FORMATS[ramas.find(({ format }) => format !== undefined)?.format as string]
  return formato && typeof valor === 'string' && !formato.validate(valor) ? formato.explicar(valor, true) : undefined
}
