import { leerTelefono as readWithoutCalling } from '@guias/sdk/telefono'
import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { NUMBERING_PLANS } from '../../server/generated/contract/plans.ts'
import { isLandlineOf, parseTelephone } from '../../server/platform/telephones/interpret.ts'
import { readTelephone } from '../../server/platform/telephones/telephone.ts'
import { FULL_RUN_ONLY } from '../factories.ts'
import { createRandom } from '../random.ts'
import { COPIED_TELEFONOS } from './spellings.ts'

/** Digits that may be a number of a served country, with its code or without, of lengths that fit nearly. */
function* numbers(count: number, seed: number) {
  const next = createRandom(seed)
  const random = (n: number) => Math.floor(next() * n)
  for (let i = 0; i < count; i++) {
    const plan = NUMBERING_PLANS[random(NUMBERING_PLANS.length)]!
    let nationalNumber = ''
    for (let length = 6 + random(7); length > 0; length--) nationalNumber += random(10)
    yield { plan, national: nationalNumber, random }
  }
}

const ESCRITURAS: ((codigo: string, nationalNumber: string) => string)[] = [
  (codigo, nationalNumber) => `+${codigo}${nationalNumber}`,
  (codigo, nationalNumber) => `+${codigo} ${nationalNumber.slice(0, 4)}-${nationalNumber.slice(4)}`,
  (codigo, nationalNumber) => `00${codigo}${nationalNumber}`,
  (codigo, nationalNumber) => `${codigo} ${nationalNumber}`,
  (codigo, nationalNumber) => `(${codigo}) ${nationalNumber}`,
  (_codigo, nationalNumber) => nationalNumber,
  (_codigo, nationalNumber) => `${nationalNumber.slice(0, 4)} ${nationalNumber.slice(4)}`,
]

/** How the library reads E.164 of the served countries, and how we do. */
function compareWithLibrary(count: number, seed: number) {
  let validos = 0
  const distintos: string[] = []
  for (const { plan, national: nationalNumber } of numbers(count, seed)) {
    const text = `+${plan.callingCode}${nationalNumber}`
    const parsed = parsePhoneNumberFromString(text)
    // The old prefixes of Mexico are ours: the library knows them no more.
    if (plan.pais === 'MX' && /^(1|01|04[45])/.test(nationalNumber)) continue
    // What it gives and reads as yet another number is none for us.
    const isReadSame = parsed && parsePhoneNumberFromString(parsed.number)?.number === parsed.number
    const ella = isReadSame && parsed.isPossible() ? { e164: parsed.number, dudoso: !parsed.isValid() } : 'error'
    const projectReading = readTelephone(text)
    if (!('error' in projectReading) && !projectReading.dudoso) validos++
    const same =
      'error' in projectReading
        ? ella === 'error'
        : ella !== 'error' && ella.e164 === projectReading.e164 && ella.dudoso === projectReading.dudoso
    if (!same) distintos.push(text)
  }
  return { validos, distintos: distintos.slice(0, 10) }
}

/** What the SDK's own copy says offline, of any writing, and what the server says. */
function compareWithSdk(count: number, seed: number) {
  const distintos: string[] = []
  let readCount = 0
  for (const { plan, national: nationalNumber, random } of numbers(count, seed)) {
    const text = ESCRITURAS[random(ESCRITURAS.length)]!(plan.callingCode, nationalNumber)
    const pais = [plan.pais, plan.pais, 'GT', undefined][random(4)]
    // Of other countries only the server's library knows the plans.
    if ('foreign' in parseTelephone(text, pais)) continue
    const server = readTelephone(text, pais)
    const sdk = readWithoutCalling(text, pais)
    if ('error' in server || 'error' in sdk) {
      if (JSON.stringify(server) !== JSON.stringify(sdk)) distintos.push(text)
      continue
    }
    readCount++
    if (sdk.pais === null || sdk.e164 !== server.e164 || sdk.dudoso !== server.dudoso) distintos.push(text)
  }
  return { readCount, distintos: distintos.slice(0, 10) }
}

describe('numbers of the served countries', () => {
  it('are in E.164 what they are for the library', () => {
    const { validos, distintos } = compareWithLibrary(30_000, 1)
    expect(distintos).toEqual([])
    expect(validos).toBeGreaterThan(1_000)
  })

  it('are in E.164 what they are for the library, a million of them', FULL_RUN_ONLY, () => {
    expect(compareWithLibrary(1_000_000, 2).distintos).toEqual([])
  })

  it('are in any writing for the SDK, offline, what they are for the server', () => {
    const { readCount, distintos } = compareWithSdk(30_000, 3)
    expect(distintos).toEqual([])
    expect(readCount).toBeGreaterThan(5_000)
  })

  it('are in any writing for the SDK what they are for the server, a million of them', FULL_RUN_ONLY, () => {
    expect(compareWithSdk(1_000_000, 4).distintos).toEqual([])
  })

  it('are landlines where the library says so', () => {
    let fijos = 0
    const distintos: string[] = []
    for (const { plan, national: nationalNumber } of numbers(30_000, 5)) {
      const text = `+${plan.callingCode}${nationalNumber}`
      const number = parsePhoneNumberFromString(text)
      if (!number?.isValid() || number.number !== text) continue
      const fijo = number.getType() === 'FIXED_LINE'
      if (fijo) fijos++
      if (fijo !== isLandlineOf(text)) distintos.push(text)
    }
    expect(distintos).toEqual([])
    expect(fijos).toBeGreaterThan(300)
  })
})

describe('a number in every writing', () => {
  it.each([
    '3148 1676',
    '31481676',
    '3148-1676',
    '3148.1676',
    '3148–1676',
    '502 31481676',
    '50231481676',
    '(502) 3148-1676',
    '00502 3148 1676',
    '+502 3148 1676',
    '(+502) 3148-1676',
    ' +50231481676 ',
    ...COPIED_TELEFONOS,
  ])('%j is one of Guatemala, for the service and for the SDK', (text) => {
    expect(parseTelephone(text, 'GT')).toEqual({ e164: '+50231481676', pais: 'GT', dudoso: false })
    expect(readWithoutCalling(text, 'GT')).toEqual({ e164: '+50231481676', pais: 'GT', dudoso: false, fijo: false })
  })

  it('has any character of its class', () => {
    // Characters of the basic plane, without the surrogates.
    const clase = (pattern: RegExp) =>
      Array.from({ length: 0x10000 }, (_, i) => String.fromCharCode(i)).filter((one) => pattern.test(one))
    const cases: [string[], (one: string) => string][] = [
      [
        clase(/[\p{Cf}\p{Variation_Selector}]/u).filter((one) => one !== '\u202e'),
        (one) => `${one}3148${one}1676${one}`,
      ],
      [clase(/\p{Pd}/u), (one) => `3148${one}1676`],
      [clase(/\p{Zs}/u), (one) => `${one}3148${one}1676${one}`],
    ]
    for (const [characters, write] of cases) {
      expect(characters.length).toBeGreaterThan(10)
      const ilegibles = characters.filter((one) => !('e164' in parseTelephone(write(one), 'GT')))
      expect(ilegibles.map((one) => one.charCodeAt(0).toString(16))).toEqual([])
    }
  })

  it.each([
    ['7723 4567', 'SV', '+50377234567'],
    ['7723 4567', 'GT', '+50277234567'],
    ['310 123 4567', 'CO', '+573101234567'],
    ['03 310 123 4567', 'CO', '+573101234567'],
    ['55 1234 5678', 'MX', '+525512345678'],
    ['044 55 1234 5678', 'MX', '+525512345678'],
    ['+52 1 55 1234 5678', 'GT', '+525512345678'],
    ['+503 7123 4567', 'GT', '+50371234567'],
    ['00503 7123 4567', 'GT', '+50371234567'],
  ])('%s from %s is %s', (text, pais, e164) =>
    expect(parseTelephone(text, pais)).toMatchObject({ e164, dudoso: false }),
  )

  it('that is in no plan is doubtful, if it has the length of a mobile there', () => {
    for (const text of ['1111 1111', '502 1111 1111', '+502 1111 1111'])
      expect(parseTelephone(text, 'GT')).toEqual({ e164: '+50211111111', pais: 'GT', dudoso: true })
  })

  it.each([
    ['', /está vacío: escriba el número/],
    [' \u200b ', /está vacío/],
    ['3148 167', /le faltan dígitos: un número de Guatemala tiene 8/],
    ['3148 16766', /le sobran dígitos: un número de Guatemala tiene 8; uno de otro país va con \+/],
    ['503 7123 4567', /le sobran dígitos.*uno de otro país va con \+/],
    ['+502 3148 167', /le faltan dígitos.*después de \+502/],
    ['3148 1676 / 3148 1677', /solo puede llevar/],
    ['3148 1676 ext 5', /solo puede llevar/],
    ['no tiene', /solo puede llevar/],
    ['+', /solo puede llevar/],
    ['5512345.0', /es un número con decimales/],
    ['50231481676.0', /es un número con decimales/],
    ['31+481676', /solo puede llevar/],
    ['\u202e67618413', /solo puede llevar/],
    ['3148 1676\u00b2', /solo puede llevar/],
    ['3148 167\u2465', /solo puede llevar/],
    ['+502\u0665\u0665\u0665\u0665\u0661\u0662\u0663\u0664', /solo puede llevar/],
    ['tel: ', /está vacío/],
    ['tel:3148 1676;ext=5', /solo puede llevar/],
    ['hotel:3148 1676', /solo puede llevar/],
    ['https://wa.me/message/ABC31481676', /solo puede llevar/],
    ['https://example.com/50231481676', /solo puede llevar/],
  ])('%o says why it is none', (text, explanation) =>
    expect(parseTelephone(text, 'GT')).toEqual({ error: expect.stringMatching(explanation) }),
  )

  it.each([
    ['+57 00776234567', 'GT', /le sobran dígitos/],
    ['0551235678', 'CO', /le faltan dígitos: un número de Colombia tiene 10/],
  ])('%s is none, for what would be kept of it would read as another number', (text, pais, explanation) =>
    expect(parseTelephone(text, pais)).toEqual({ error: expect.stringMatching(explanation) }),
  )

  it('is looked for in time that grows with its length alone', () => {
    for (const padding of [' ', '(', ' (', '1', '-'])
      expect(parseTelephone(`${padding.repeat(100_000)}x`, 'GT')).toEqual({
        error: expect.stringMatching(/solo puede/),
      })
  })

  it('needs + or 00 where no country is known', () => {
    for (const pais of [undefined, 'US', 'gt', ''])
      expect(parseTelephone('3148 1676', pais)).toEqual({
        error: expect.stringMatching(/con \+ y su código.*diga el pais/),
      })
    expect(parseTelephone('00502 3148 1676')).toMatchObject({ e164: '+50231481676' })
  })
})

describe('@guias/sdk/telefono', () => {
  it('takes a number of another country with + for what it looks like', () => {
    const foreign = { pais: null, dudoso: false, fijo: false }
    expect(readWithoutCalling('+1 (212) 555-0100', 'GT')).toEqual({ e164: '+12125550100', ...foreign })
    expect(readWithoutCalling('001 212 555 0100', 'GT')).toEqual({ e164: '+12125550100', ...foreign })
    for (const text of ['+0123456789', '+1 23', '+4912345678901234567'])
      expect(readWithoutCalling(text)).toEqual({ error: expect.stringMatching(/de 7 a 15 dígitos/) })
  })

  it('tells landlines', () => {
    expect(readWithoutCalling('2222 2222', 'GT')).toEqual({
      e164: '+50222222222',
      pais: 'GT',
      dudoso: false,
      fijo: true,
    })
    expect(readWithoutCalling('3148 1676', 'GT')).toMatchObject({ fijo: false })
  })
})
