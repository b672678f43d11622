import { parsePhoneNumberFromString, validatePhoneNumberLength } from 'libphonenumber-js/max'
import { remembering } from '../remember.ts'
import { isLandlineOf as isLocalLandline, parseTelephone } from './interpret.ts'

/** Telephone number that was read, or the reason, in Spanish, why it could not be read. */
export type Telephone = { e164: string; dudoso: boolean } | { error: string }

const LONGITUDES: Record<string, string> = {
  TOO_SHORT: 'le faltan dígitos para su código de país; escriba el número completo, por ejemplo +50255551234',
  TOO_LONG: 'le sobran dígitos para su código de país; escriba solo el número, por ejemplo +50255551234',
  INVALID_LENGTH: 'no tiene un largo posible para su código de país; revise los dígitos, por ejemplo +50255551234',
  INVALID_COUNTRY: 'no empieza por un código de país conocido; por ejemplo, el de Guatemala es +502',
}

/**
 * Reads a telephone number as people write it and converts it to E.164 (ITU-T).
 * Numbers of the served countries follow their plans. Numbers of other countries need `+` and follow libphonenumber's
 * plans. A possible number that is not known to be valid is `dudoso`, because plans change faster than metadata.
 * @param country country of a number without `+`; undefined or null if there is none
 */
export function readTelephone(text: string, country?: string | null): Telephone {
  const reading = parseTelephone(text, country ?? undefined)
  return 'foreign' in reading ? readForeign(reading.foreign) : reading
}

/** Reads a number of another country. A validator and a handler both read each number, and the library takes 20 µs. */
const readForeign = remembering(2_000, (compactText): Telephone => {
  const number = parsePhoneNumberFromString(compactText)
  if (!number?.isPossible() || !isE164(number.number)) {
    const length = validatePhoneNumberLength(compactText) ?? 'INVALID_LENGTH'
    return { error: LONGITUDES[length] ?? LONGITUDES.INVALID_LENGTH! }
  }
  return { e164: number.number, dudoso: !number.isValid() }
})

/**
 * Reports whether a number from the library is valid E.164. The library accepts some numbers that have too many digits.
 * It may also remove a prefix that another prefix follows; the result would then be read as a different number.
 */
const isE164 = (number: string) =>
  /^\+[1-9]\d{6,14}$/.test(number) && parsePhoneNumberFromString(number)?.number === number

/**
 * Reports whether an E.164 number is a landline, which receives no messages; false if its plan does not distinguish
 * landlines.
 */
export const isLandline = (e164: string): boolean =>
  'foreign' in parseTelephone(e164)
    ? parsePhoneNumberFromString(e164)?.getType() === 'FIXED_LINE'
    : isLocalLandline(e164)

/**
 * Formats an E.164 number as people in Guatemala write it: `3148 1676` for a Guatemalan number, and `+503 7123 4567`
 * for a number of another country. Returns other texts unchanged.
 */
export function showTelephone(e164: string): string {
  const guatemalan = /^\+502(\d{4})(\d{4})$/.exec(e164)
  if (guatemalan) return `${guatemalan[1]} ${guatemalan[2]}`
  return parsePhoneNumberFromString(e164)?.formatInternational() ?? e164
}
