// Reads telephone numbers as people write them. Pure. The SDK has a copy, which `npm run generate` creates.
import { NUMBERING_PLANS, type PaisConPlan } from '../../generated/contract/plans.ts'

/**
 * Result of reading a telephone number: a number of a country with a known plan, a number of another country, or a
 * Spanish error text. `dudoso`: the length is possible, but no plan contains the number. `foreign`: only `+` and the
 * digits are known.
 */
export type ParsedTelephone =
  | { e164: string; pais: PaisConPlan; dudoso: boolean }
  | { foreign: string }
  | { error: string }

const EXAMPLE = 'por ejemplo +50255551234'
const EMPTY = `está vacío: escriba el número de quien recibe, ${EXAMPLE}`
const CHARACTERS = `solo puede llevar +, dígitos, espacios, puntos, guiones y paréntesis, ${EXAMPLE}`
const DECIMALS = `es un número con decimales, como los de una hoja de cálculo: dé a la columna formato de texto, ${EXAMPLE}`
const NO_COUNTRY = `va sin + y no se sabe de qué país es: escríbalo con + y su código de país, ${EXAMPLE}, o diga el pais`

const whole = (pattern: string) => new RegExp(`^(?:${pattern})$`)

const COMPILED_PLANS = NUMBERING_PLANS.map(({ callingCode, general, landline, mobile, others, prefix, ...plan }) => {
  const anyKindPattern = [landline, mobile, others].join('|')
  return {
    ...plan,
    callingCode,
    prefix: prefix === '' ? undefined : new RegExp(`^(?:${prefix})`),
    national: new RegExp(`^(?=(?:${general})$)(?:${anyKindPattern})$`),
    e164: new RegExp(`^\\+${callingCode}(?=(?:${general})$)(?:${anyKindPattern})$`),
    landline: whole(`\\+${callingCode}(?:${landline})`),
    mobile: whole(`\\+${callingCode}(?:${mobile})`),
  }
})
type CompiledPlan = (typeof COMPILED_PLANS)[number]

/**
 * Finds the plan of a text that already is a valid E.164 number. Nearly all numbers are, and a single pattern
 * recognizes them.
 */
const findValidPlan = (text: string) => COMPILED_PLANS.find(({ e164 }) => e164.test(text))

/** Reports whether an E.164 number is a landline; false if its plan does not distinguish landlines from mobiles. */
export const isLandlineOf = (e164: string) =>
  COMPILED_PLANS.some(({ landline, mobile }) => landline.test(e164) && !mobile.test(e164))

/** Returns the national number as it is, and, if it has a dialling prefix, also without the prefix. */
const spellings = ({ prefix }: CompiledPlan, number: string) =>
  prefix?.test(number) ? [number, number.replace(prefix, '')] : [number]

const toE164 = (
  { callingCode, pais }: CompiledPlan,
  number: string | undefined,
  dudoso: boolean,
): ParsedTelephone | undefined =>
  number === undefined ? undefined : { e164: `+${callingCode}${number}`, pais, dudoso }

const findValid = (plan: CompiledPlan, number: string) =>
  toE164(
    plan,
    spellings(plan, number).find((spelling) => plan.national.test(spelling)),
    false,
  )

/**
 * Reports whether a second reading would remove the first digits of a national number and so produce a different
 * number. Needed for numbers that are in no plan.
 */
const wouldLose = (plan: CompiledPlan, number: string) =>
  spellings(plan, number)
    .slice(1)
    .some((remainder) => plan.national.test(remainder) || plan.lengths.includes(remainder.length))

const ifPossible = (plan: CompiledPlan, number: string, lengths: readonly number[]) =>
  toE164(
    plan,
    spellings(plan, number)
      .reverse()
      .find((spelling) => lengths.includes(spelling.length) && !wouldLose(plan, spelling)),
    true,
  )

const countryName = (country: string) => new Intl.DisplayNames('es', { type: 'region' }).of(country)

function explainLength(plan: CompiledPlan, number: string, remedy: string): ParsedTelephone {
  const excess = number.length < plan.mobileLengths[0]! ? 'le faltan' : 'le sobran'
  return {
    error: `${excess} dígitos: un número de ${countryName(plan.pais)} tiene ${plan.mobileLengths.join(' u ')}; ${remedy}`,
  }
}

/** Reads digits that begin with a country code. */
function readInternational(digits: string): ParsedTelephone {
  const plan = COMPILED_PLANS.find(({ callingCode }) => digits.startsWith(callingCode))
  if (!plan) return { foreign: `+${digits}` }
  const number = digits.slice(plan.callingCode.length)
  return (
    findValid(plan, number) ??
    ifPossible(plan, number, plan.lengths) ??
    explainLength(plan, number, `escríbalo entero después de +${plan.callingCode}`)
  )
}

/**
 * Reads digits without `+` as a number of one country. If several readings are possible, a valid number of that country
 * takes precedence. A number that is in no plan must have as many digits as a mobile number there.
 */
function readNational(plan: CompiledPlan, digits: string): ParsedTelephone {
  const vale = findValid(plan, digits)
  if (vale) return vale
  if (digits.startsWith('00')) return readInternational(digits.slice(2))
  const withoutCode = digits.startsWith(plan.callingCode) ? digits.slice(plan.callingCode.length) : ''
  return (
    findValid(plan, withoutCode) ??
    ifPossible(plan, withoutCode, plan.mobileLengths) ??
    ifPossible(plan, digits, plan.mobileLengths) ??
    explainLength(plan, spellings(plan, digits).at(-1)!, 'uno de otro país va con + y su código')
  )
}

/**
 * Characters of a copied number that change nothing: direction marks, soft hyphens and other invisible characters,
 * pictures such as a telephone or a flag, and frames around a digit.
 */
const DECORATION = /[\p{Cf}\p{Default_Ignorable_Code_Point}\p{So}\p{Me}]/gu
/**
 * Characters that would change the number: an override, which shows the digits in reverse order, and superscripts,
 * fractions or circled numbers, whose compatibility forms are digits.
 */
const DECEPTIVE = /[\u202e\p{No}]/u
const SHAPE = /^(?:\s*(?:\(\s*)?\+)?[\d\s().-]*$/
/** Beginning of a link that calls or writes to a number (RFC 3966), or the apostrophe that makes a cell a text. */
const LINK = /^\s*(?:(?:tel|sms|callto|whatsapp):|['’])/i
/** Link to a chat. Its number has a country code and no plus sign. */
const CHAT_LINK = /^\s*(?:https?:\/\/)?(?:wa\.me|api\.whatsapp\.com\/send\?phone=)\/?\+?/i

/**
 * Reduces a text to the characters of a telephone number: full-width forms to ASCII, any dash or minus sign to a
 * hyphen, and no decoration. Removes the beginning of a link.
 */
const simplify = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(DECORATION, '')
    .replace(/\p{Dash}/gu, '-')
    .replace(LINK, '')
    .replace(CHAT_LINK, '+')

/**
 * Reads a telephone number as people write it: with `+` or `00` and the code of any country, or as a number of `pais`,
 * with or without its code.
 * @param country ISO 3166-1 code; undefined if a number without `+` may be of any country
 */
export function parseTelephone(text: string, country?: string | undefined): ParsedTelephone {
  const validPlan = findValidPlan(text)
  if (validPlan) return { e164: text, pais: validPlan.pais, dudoso: false }
  if (DECEPTIVE.test(text)) return { error: CHARACTERS }
  const visible = simplify(text)
  if (visible.trim() === '') return { error: EMPTY }
  if (/^\s*\d+\.0\s*$/.test(visible)) return { error: DECIMALS }
  const digits = visible.replace(/\D/g, '')
  if (!SHAPE.test(visible) || digits === '') return { error: CHARACTERS }
  if (visible.includes('+')) return readInternational(digits)
  const plan = COMPILED_PLANS.find((candidatePlan) => candidatePlan.pais === country)
  if (plan) return readNational(plan, digits)
  return digits.startsWith('00') ? readInternational(digits.slice(2)) : { error: NO_COUNTRY }
}
