import { parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max'
import { esFijo as esFijoDeAqui, interpretar } from './interpretar.ts'

/** A telephone that could be read, or why it couldn't. */
export type Telefono = { e164: string; dudoso: boolean } | { error: string }

/** The numbers of other countries that were read lately: a validator and a handler read each, and the library takes 20 µs. */
const recientes = new Map<string, Telefono>()
const RECIENTES = 2_000

const LONGITUDES: Record<string, string> = {
  TOO_SHORT: 'le faltan dígitos para su código de país; escriba el número completo, por ejemplo +50255551234',
  TOO_LONG: 'le sobran dígitos para su código de país; escriba solo el número, por ejemplo +50255551234',
  INVALID_LENGTH: 'no tiene un largo posible para su código de país; revise los dígitos, por ejemplo +50255551234',
  INVALID_COUNTRY: 'no empieza por un código de país conocido; por ejemplo, el de Guatemala es +502',
}

/**
 * Reads a telephone as people write it, into E.164 (ITU-T): of the served countries by their plans, of others, which need +,
 * by libphonenumber's. One that is possible but not known to be valid is `dudoso`, for plans move faster than metadata.
 * @param pais the country of what is written without +; undefined or null if there is none
 */
export function leerTelefono(texto: string, pais?: string | null): Telefono {
  const lectura = interpretar(texto, pais ?? undefined)
  if (!('ajeno' in lectura)) return lectura
  const recordado = recientes.get(lectura.ajeno)
  if (recordado) return recordado
  const telefono = leerAjeno(lectura.ajeno)
  if (recientes.size >= RECIENTES) recientes.delete(recientes.keys().next().value!)
  recientes.set(lectura.ajeno, telefono)
  return telefono
}

function leerAjeno(compacto: string): Telefono {
  const numero = parsePhoneNumberFromString(compacto)
  if (!numero?.isPossible() || !esE164(numero.number)) {
    const largo = validatePhoneNumberLength(compacto) ?? 'INVALID_LENGTH'
    return { error: LONGITUDES[largo] ?? LONGITUDES.INVALID_LENGTH! }
  }
  return { e164: numero.number, dudoso: !numero.isValid() }
}

/**
 * The library's metadata know possible numbers of more digits than any may have; and behind a prefix that it takes away
 * another one may stand, so that what it gives would be read as another number.
 */
const esE164 = (numero: string) =>
  /^\+[1-9]\d{6,14}$/.test(numero) && parsePhoneNumberFromString(numero)?.number === numero

/** Whether a number in E.164 is a landline's, which gets no message; where its plan doesn't tell, it isn't. */
export const esFijo = (e164: string): boolean =>
  'ajeno' in interpretar(e164) ? parsePhoneNumberFromString(e164)?.getType() === 'FIXED_LINE' : esFijoDeAqui(e164)

/** A number in E.164 as people read it, such as `+502 2345 6789`. */
export const mostrarTelefono = (e164: string): string => parsePhoneNumberFromString(e164)?.formatInternational() ?? e164
