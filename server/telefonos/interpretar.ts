// How a telephone is read as people write it. Pure, and the SDK's too: `npm run generar` copies it there.
import { type PaisConPlan, PLANES } from '../contrato/generado/planes.ts'

/**
 * What a text reads as: a number of a country whose plan is known (`dudoso`: of a possible length, but in no plan), one of
 * another country of which only `+` and the digits are known, or why it is none.
 */
export type Lectura = { e164: string; pais: PaisConPlan; dudoso: boolean } | { ajeno: string } | { error: string }

const EJEMPLO = 'por ejemplo +50255551234'
const VACIO = `está vacío: escriba el número de quien recibe, ${EJEMPLO}`
const CARACTERES = `solo puede llevar +, dígitos, espacios, puntos, guiones y paréntesis, ${EJEMPLO}`
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

/** A text that is a valid number in E.164 already is what nearly all are, and is known by one pattern. */
const hallarValido = (texto: string) => COMPILADOS.find(({ e164 }) => e164.test(texto))

/** Whether a number in E.164 is one of a landline, where its plan tells these from mobiles. */
export const esFijo = (e164: string) => COMPILADOS.some(({ fijo, movil }) => fijo.test(e164) && !movil.test(e164))

/** The national number's two spellings: as it is, and without what is dialled before it. */
const escrituras = ({ prefijo }: Compilado, numero: string) =>
  prefijo?.test(numero) ? [numero, numero.replace(prefijo, '')] : [numero]

const enE164 = ({ codigo, pais }: Compilado, numero: string | undefined, dudoso: boolean): Lectura | undefined =>
  numero === undefined ? undefined : { e164: `+${codigo}${numero}`, pais, dudoso }

const siVale = (plan: Compilado, numero: string) =>
  enE164(
    plan,
    escrituras(plan, numero).find((uno) => plan.nacional.test(uno)),
    false,
  )

/** Whether a national number that is in no plan would lose its first digits, and be another one, when it is read again. */
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

function explicarLargo(plan: Compilado, numero: string, remedio: string): Lectura {
  const que = numero.length < plan.digitos[0]! ? 'le faltan' : 'le sobran'
  return { error: `${que} dígitos: un número de ${nombreDe(plan.pais)} tiene ${plan.digitos.join(' u ')}; ${remedio}` }
}

/** Digits that begin with the code of a country. */
function leerInternacional(digitos: string): Lectura {
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
 * Digits without +: a valid number of that country is meant before anything else that they may be, and what is in no plan
 * has at least as many digits as a mobile there.
 */
function leerNacional(plan: Compilado, digitos: string): Lectura {
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

/** What programs put around a number that is copied from them: marks of direction that nobody sees. */
const INVISIBLES = /[\u200b\u200e\u202a\u202c\u2066\u2068\u2069\ufeff]/g
const FORMA = /^(?:\s*(?:\(\s*)?\+)?[\d\s().\u2010-\u2015-]*$/

/**
 * Reads a telephone as people write it: with `+` or `00` and the code of any country; or as a number of `pais`, with its
 * code or without.
 * @param pais an ISO 3166-1 code; undefined if a number without + may be of any country
 */
export function interpretar(texto: string, pais?: string | undefined): Lectura {
  const valido = hallarValido(texto)
  if (valido) return { e164: texto, pais: valido.pais, dudoso: false }
  const visible = texto.replace(INVISIBLES, '')
  if (visible.trim() === '') return { error: VACIO }
  const digitos = visible.replace(/\D/g, '')
  if (!FORMA.test(visible) || digitos === '') return { error: CARACTERES }
  if (visible.includes('+')) return leerInternacional(digitos)
  const plan = COMPILADOS.find((uno) => uno.pais === pais)
  if (plan) return leerNacional(plan, digitos)
  return digitos.startsWith('00') ? leerInternacional(digitos.slice(2)) : { error: SIN_PAIS }
}
