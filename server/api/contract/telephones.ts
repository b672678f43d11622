import type { Ajv2020, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { PLANES } from '../../generado/contrato/planes.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'

/** Caller of a request, as far as the caller decides whether a body is valid. */
export interface PhoneContext {
  /** Country of telephone numbers without `+`. */
  readonly pais?: string | null
}

const PAISES: readonly unknown[] = PLANES.map(({ pais }) => pais)

type Validar = NonNullable<FuncKeywordDefinition['validate']>

/**
 * Reads a telephone number with the country that the body tells, or else with the caller's country.
 * @returns Spanish reason why the number cannot be read; undefined if it can, or if another rule reports the fault
 */
function errorDeTelefono(remitente: PhoneContext | undefined, texto: string, dicho: unknown, maximo: number) {
  // Other rules report an unknown country and a text that is too long to be a number.
  if ((dicho !== undefined && !PAISES.includes(dicho)) || texto.length > maximo) return undefined
  const telefono = readTelephone(texto, (dicho as string | undefined) ?? remitente?.pais)
  return 'error' in telefono ? telefono.error : undefined
}

/**
 * Reports whether a telephone number satisfies the contract's `x-telefono`. Compiled validators pass the caller as
 * `this`.
 * @param lado object whose `pais` is the number's country: the number's own object, or the whole body if `x-telefono` is
 * `solicitud`
 */
export function isValidTelephone(
  this: PhoneContext | undefined,
  texto: string,
  lado: { pais?: unknown } | undefined,
  maximo?: number,
) {
  return errorDeTelefono(this, texto, lado?.pais, maximo ?? Number.POSITIVE_INFINITY) === undefined
}

const validar: Validar = function (this: PhoneContext | undefined, deQuien, texto: string, esquema, lugar) {
  const lado = deQuien === 'solicitud' ? lugar?.rootData : lugar?.parentData
  const dicho = (lado as { pais?: unknown } | undefined)?.pais
  const error = errorDeTelefono(this, texto, dicho, esquema?.maxLength ?? Number.POSITIVE_INFINITY)
  if (error === undefined) return true
  validar.errors = [{ keyword: 'x-telefono', message: error }]
  return false
}

/** Adds the keyword `x-telefono`, with an explanation of invalid telephone numbers, to an Ajv instance. */
export const addTelephoneKeyword = (ajv: Ajv2020) =>
  ajv.addKeyword({ keyword: 'x-telefono', type: 'string', validate: validar })
