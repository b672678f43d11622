import { parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max'
import { esValidoSinDuda } from './patrones.ts'

/** A telephone that could be read, or why it couldn't. */
export type Telefono = { e164: string; dudoso: boolean } | { error: string }

/**
 * The validator reads a phone and the handler reads it again: the last ones are remembered (libphonenumber costs 20 µs).
 */
const recientes = new Map<string, Telefono>()
const RECIENTES = 2_000

const LONGITUDES: Record<string, string> = {
  TOO_SHORT: 'le faltan dígitos para su código de país; escriba el número completo, por ejemplo +50255551234',
  TOO_LONG: 'le sobran dígitos para su código de país; escriba solo el número, por ejemplo +50255551234',
  INVALID_LENGTH: 'no tiene un largo posible para su código de país; revise los dígitos, por ejemplo +50255551234',
  INVALID_COUNTRY: 'no empieza por un código de país conocido; por ejemplo, el de Guatemala es +502',
}

/**
 * Reads a telephone in international format (ITU-T E.164) by libphonenumber's numbering plans. One that is possible but not
 * known to be valid is `dudoso`, for plans move faster than metadata; Mexico's old +521 and 10 digits becomes +52.
 */
export function leerTelefono(texto: string): Telefono {
  if (esValidoSinDuda(texto)) return { e164: texto, dudoso: false }
  const recordado = recientes.get(texto)
  if (recordado) return recordado
  const telefono = leer(texto)
  if (recientes.size >= RECIENTES) recientes.delete(recientes.keys().next().value!)
  recientes.set(texto, telefono)
  return telefono
}

function leer(texto: string): Telefono {
  if (!texto.startsWith('+')) return { error: 'debe empezar con + y el código de país, por ejemplo +50255551234' }
  if (!/^\+[\d\s().-]+$/.test(texto)) {
    return { error: 'solo puede llevar +, dígitos, espacios, puntos, guiones y paréntesis, por ejemplo +50255551234' }
  }
  const compacto = texto.replace(/[^\d+]/g, '').replace(/^\+521(\d{10})$/, '+52$1')
  const numero = parsePhoneNumberFromString(compacto)
  if (!numero?.isPossible()) {
    const largo = validatePhoneNumberLength(compacto) ?? 'INVALID_LENGTH'
    return { error: LONGITUDES[largo] ?? LONGITUDES.INVALID_LENGTH! }
  }
  return { e164: numero.number, dudoso: !numero.isValid() }
}
