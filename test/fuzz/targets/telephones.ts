import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { NUMBERING_PLANS } from '../../../server/generated/contract/plans.ts'
import { readTelephone } from '../../../server/platform/telephones/telephone.ts'
import { type FuzzTarget, requireHolds } from '../target.ts'

const COUNTRIES = [undefined, ...NUMBERING_PLANS.map(({ pais }) => pais)]

/** What is read is a number that the phone library knows, of the same validity, and reads again as itself. */
export const target: FuzzTarget = {
  // The first character says the country.
  seeds: [
    '0+50255551234',
    '131481676',
    '1502 3148-1676',
    '1(502) 3148-1676',
    '100502 3148 1676',
    '0+1 (212) 555-0100',
    '0+34 612 34 56 78',
    '0+52 1 55 1234 5678',
    '2+503 7123 4567',
    '50448112345678',
    '0\u202a+502 3148-1676\u202c',
    '0+447911123456',
    '0+4930123456',
    '0+8613800138000',
    '0+390612345678',
    '3+57 310 123 4567',
    '0+5491123456789',
  ],
  words: [
    '+',
    '00',
    '(',
    ')',
    '-',
    '.',
    ' ',
    '\u2013',
    '\u200b',
    '\u202a',
    '\ufeff',
    '٤',
    '９',
    'ext',
    ';',
    'tel:',
    ',',
    ...NUMBERING_PLANS.map(({ callingCode }) => callingCode),
    '1',
    '7',
    '34',
    '39',
    '44',
    '49',
    '54',
    '55',
    '61',
    '86',
    '91',
    '211',
    '878',
    '979',
    '800',
    '0',
    '521',
    '044',
  ],
  probar(input) {
    const [countryCharacter = '0', ...numberCharacters] = input.toString('utf8')
    const pais = COUNTRIES[countryCharacter.codePointAt(0)! % COUNTRIES.length]
    const reading = readTelephone(numberCharacters.join(''), pais)
    if ('error' in reading) {
      requireHolds(reading.error.length > 10, 'it says why')
      return
    }
    const { e164, dudoso } = reading
    requireHolds(/^\+[1-9]\d{6,14}$/.test(e164), `${e164} is E.164`)
    const libraryNumber = parsePhoneNumberFromString(e164)
    requireHolds(libraryNumber?.isPossible() && libraryNumber.number === e164, `${e164} is possible, and itself`)
    requireHolds(dudoso === !libraryNumber?.isValid(), `${e164} is as valid as the library says`)
    const readAgain = readTelephone(e164)
    requireHolds(
      'e164' in readAgain && readAgain.e164 === e164 && readAgain.dudoso === dudoso,
      `${e164} is read again as itself`,
    )
  },
}
