// Reads telephone numbers as people write them. Pure. The SDK has a copy, which `npm run generar` creates.
import { type PaisConPlan, PLANES } from '../../generado/contrato/planes.ts'

/**
 * Result of reading a telephone number: a number of a country with a known plan, a number of another country, or a
 * Spanish error text. `dudoso`: the length is possible, but no plan contains the number. `ajeno`: only `+` and the
 * digits are known.
 */
export type ParsedTelephone =
  | { e164: string; pais: PaisConPlan; dudoso: boolean }
  | { ajeno: string }
  | { error: string }

const EJEMPLO = 'por ejemplo +50255551234'
const VACIO = `está vacío: escriba el número de quien recibe, ${EJEMPLO}`
const CARACTERES = `solo puede llevar +, dígitos, espacios, puntos, guiones y paréntesis, ${EJEMPLO}`
const DECIMALES = `es un número con decimales, como los de una hoja de cálculo: dé a la columna formato de texto, ${EJEMPLO}`
const SIN_PAIS = `va sin + y no se sabe de qué país es: escríbalo con + y su código de país, ${EJEMPLO}, o diga el pais`

const entero = (patron: string) => new RegExp(`^(?:${patron})$`)

const COMPILADOS = PLANES.map(({ codigo, general, fijo, movil, otros, prefijo, ...plan }) => {
  const deAlgunTipo = [fijo, movil, otros].join('|')
  return {
    ...plan,
    codigo,
    prefijo: prefijo === '' ? undefined : new RegExp(`^(?:${prefijo})`),
    nacional: new RegExp(`^(?=(?:${general})$)(?:${deAlgunTipo})$`),
    e164: new RegExp(`^\\+${codigo}(?=(?:${general})$)(?:${deAlgunTipo})$`),
    fijo: entero(`\\+${codigo}(?:${fijo})`),
    movil: entero(`\\+${codigo}(?:${movil})`),
  }
})
type Compilado = (typeof COMPILADOS)[number]

/**
 * Finds the plan of a text that already is a valid E.164 number. Nearly all numbers are, and a single pattern
 * recognizes them.
 */
const hallarValido = (texto: string) => COMPILADOS.find(({ e164 }) => e164.test(texto))

/** Reports whether an E.164 number is a landline; false if its plan does not distinguish landlines from mobiles. */
export const isLandlineOf = (e164: string) => COMPILADOS.some(({ fijo, movil }) => fijo.test(e164) && !movil.test(e164))

/** Returns the national number as it is, and, if it has a dialling prefix, also without the prefix. */
const escrituras = ({ prefijo }: Compilado, numero: string) =>
  prefijo?.test(numero) ? [numero, numero.replace(prefijo, '')] : [numero]

const enE164 = (
  { codigo, pais }: Compilado,
  numero: string | undefined,
  dudoso: boolean,
): ParsedTelephone | undefined => (numero === undefined ? undefined : { e164: `+${codigo}${numero}`, pais, dudoso })

const siVale = (plan: Compilado, numero: string) =>
  enE164(
    plan,
    escrituras(plan, numero).find((uno) => plan.nacional.test(uno)),
    false,
  )

/**
 * Reports whether a second reading would remove the first digits of a national number and so produce a different
 * number. Needed for numbers that are in no plan.
 */
const perderia = (plan: Compilado, numero: string) =>
  escrituras(plan, numero)
    .slice(1)
    .some((resto) => plan.nacional.test(resto) || plan.largos.includes(resto.length))

const siEsPosible = (plan: Compilado, numero: string, largos: readonly number[]) =>
  enE164(
    plan,
    escrituras(plan, numero)
      .reverse()
      .find((uno) => largos.includes(uno.length) && !perderia(plan, uno)),
    true,
  )

const nombreDe = (pais: string) => new Intl.DisplayNames('es', { type: 'region' }).of(pais)

function explicarLargo(plan: Compilado, numero: string, remedio: string): ParsedTelephone {
  const que = numero.length < plan.digitos[0]! ? 'le faltan' : 'le sobran'
  return { error: `${que} dígitos: un número de ${nombreDe(plan.pais)} tiene ${plan.digitos.join(' u ')}; ${remedio}` }
}

/** Reads digits that begin with a country code. */
function leerInternacional(digitos: string): ParsedTelephone {
  const plan = COMPILADOS.find(({ codigo }) => digitos.startsWith(codigo))
  if (!plan) return { ajeno: `+${digitos}` }
  const numero = digitos.slice(plan.codigo.length)
  return (
    siVale(plan, numero) ??
    siEsPosible(plan, numero, plan.largos) ??
    explicarLargo(plan, numero, `escríbalo entero después de +${plan.codigo}`)
  )
}

/**
 * Reads digits without `+` as a number of one country. If several readings are possible, a valid number of that country
 * takes precedence. A number that is in no plan must have as many digits as a mobile number there.
 */
function leerNacional(plan: Compilado, digitos: string): ParsedTelephone {
  const vale = siVale(plan, digitos)
  if (vale) return vale
  if (digitos.startsWith('00')) return leerInternacional(digitos.slice(2))
  const sinCodigo = digitos.startsWith(plan.codigo) ? digitos.slice(plan.codigo.length) : ''
  return (
    siVale(plan, sinCodigo) ??
    siEsPosible(plan, sinCodigo, plan.digitos) ??
    siEsPosible(plan, digitos, plan.digitos) ??
    explicarLargo(plan, escrituras(plan, digitos).at(-1)!, 'uno de otro país va con + y su código')
  )
}

/** Invisible characters, mostly direction marks and soft hyphens, that programs add to a copied number. */
const INVISIBLES = /[\p{Cf}\p{Default_Ignorable_Code_Point}]/gu
/**
 * Characters that would change the number: an override, which shows the digits in reverse order, and superscripts,
 * fractions or circled numbers, whose compatibility forms are digits.
 */
const ENGANOSOS = /[\u202e\p{No}]/u
const FORMA = /^(?:\s*(?:\(\s*)?\+)?[\d\s().-]*$/

/**
 * Reduces a text to the characters of a telephone number: full-width forms to ASCII, any dash or minus sign to a
 * hyphen, and no invisible characters. Removes the prefix of a `tel:` link (RFC 3966).
 */
const simplificar = (texto: string): string =>
  texto
    .normalize('NFKC')
    .replace(INVISIBLES, '')
    .replace(/\p{Dash}/gu, '-')
    .replace(/^\s*tel:/i, '')

/**
 * Reads a telephone number as people write it: with `+` or `00` and the code of any country, or as a number of `pais`,
 * with or without its code.
 * @param pais ISO 3166-1 code; undefined if a number without `+` may be of any country
 */
export function parseTelephone(texto: string, pais?: string | undefined): ParsedTelephone {
  const valido = hallarValido(texto)
  if (valido) return { e164: texto, pais: valido.pais, dudoso: false }
  if (ENGANOSOS.test(texto)) return { error: CARACTERES }
  const visible = simplificar(texto)
  if (visible.trim() === '') return { error: VACIO }
  if (/^\s*\d+\.0\s*$/.test(visible)) return { error: DECIMALES }
  const digitos = visible.replace(/\D/g, '')
  if (!FORMA.test(visible) || digitos === '') return { error: CARACTERES }
  if (visible.includes('+')) return leerInternacional(digitos)
  const plan = COMPILADOS.find((uno) => uno.pais === pais)
  if (plan) return leerNacional(plan, digitos)
  return digitos.startsWith('00') ? leerInternacional(digitos.slice(2)) : { error: SIN_PAIS }
}
