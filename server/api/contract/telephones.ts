import type { Ajv2020, FuncKeywordDefinition } from 'ajv/dist/2020.js'
import { NUMBERING_PLANS } from '../../generated/contract/plans.ts'
import { readTelephone } from '../../platform/telephones/telephone.ts'

/** Caller of a request, as far as the caller decides whether a body is valid. */
export interface PhoneContext {
  /** Country of telephone numbers without `+`. */
  readonly pais?: string | null
}

const COUNTRIES: readonly unknown[] = NUMBERING_PLANS.map(({ pais }) => pais)

type ValidateKeyword = NonNullable<FuncKeywordDefinition['validate']>

/**
 * Reads a telephone number with the country that the body tells, or else with the caller's country.
 * @returns Spanish reason why the number cannot be read; undefined if it can, or if another rule reports the fault
 */
function telephoneError(sender: PhoneContext | undefined, text: string, statedCountry: unknown, maximum: number) {
  // Other rules report an unknown country and a text that is too long to be a number.
  if ((statedCountry !== undefined && !COUNTRIES.includes(statedCountry)) || text.length > maximum) return undefined
  const telefono = readTelephone(text, (statedCountry as string | undefined) ?? sender?.pais)
  return 'error' in telefono ? telefono.error : undefined
}

/**
 * Reports whether a telephone number satisfies the contract's `x-telefono`. Compiled validators pass the caller as
 * `this`.
 * @param party object whose `pais` is the number's country: the number's own object, or the whole body if `x-telefono` is
 * `solicitud`
 */
export function isValidTelephone(
  this: PhoneContext | undefined,
  text: string,
  party: { pais?: unknown } | undefined,
  maximum?: number,
) {
  return telephoneError(this, text, party?.pais, maximum ?? Number.POSITIVE_INFINITY) === undefined
}

const validateTelephone: ValidateKeyword = function (
  this: PhoneContext | undefined,
  keywordValue,
  text: string,
  schema,
  place,
) {
  const party = keywordValue === 'solicitud' ? place?.rootData : place?.parentData
  const statedCountry = (party as { pais?: unknown } | undefined)?.pais
  const error = telephoneError(this, text, statedCountry, schema?.maxLength ?? Number.POSITIVE_INFINITY)
  if (error === undefined) return true
  validateTelephone.errors = [{ keyword: 'x-telefono', message: error }]
  return false
}

/** Adds the keyword `x-telefono`, with an explanation of invalid telephone numbers, to an Ajv instance. */
export const addTelephoneKeyword = (ajv: Ajv2020) =>
  ajv.addKeyword({ keyword: 'x-telefono', type: 'string', validate: validateTelephone })
