import { describe, expect, it } from 'vitest'
import { addDays } from '../../server/platform/time/day.ts'
import { easterOf, GUATEMALAN_REST_DAYS, isRestDay, readRestDays } from '../../server/platform/time/restDays.ts'

const daysOfYear = (year: number) =>
  Array.from({ length: 366 }, (_, i) => addDays(`${year}-01-01`, i)).filter((day) => day.startsWith(`${year}`))
const guatemala = readRestDays('guatemala')!

describe('Easter', () => {
  it.each([
    '1818-03-22',
    '1943-04-25',
    '1954-04-18',
    '2000-04-23',
    '2024-03-31',
    '2025-04-20',
    '2026-04-05',
    '2027-03-28',
    '2038-04-25',
    '2049-04-18',
    '2285-03-22',
  ])('is on %s', (day) => {
    expect(easterOf(Number(day.slice(0, 4)))).toBe(day)
  })

  it('is a Sunday from 22 March to 25 April in every year', () => {
    for (let year = 1970; year < 2400; year++) {
      const easter = easterOf(year)
      expect([year, new Date(easter).getUTCDay()]).toEqual([year, 0])
      expect(easter.slice(5) >= '03-22' && easter.slice(5) <= '04-25').toBe(true)
    }
  })
})

describe('the holidays of Guatemala', () => {
  it('are those of the labour code, whole days that the whole country has', () => {
    expect(daysOfYear(2026).filter((day) => isRestDay(guatemala, day))).toEqual(
      ['01-01', '04-02', '04-03', '04-04', '05-01', '06-29', '09-15', '10-20', '11-01', '12-25'].map(
        (day) => `2026-${day}`,
      ),
    )
  })

  it.each([
    [2021, 'Wednesday', '06-28'],
    [2022, 'Thursday', '07-04'],
    [2023, 'Friday', '07-03'],
    [2029, 'Saturday', '07-02'],
    [2024, 'Sunday', '07-01'],
    [2025, 'Monday', '06-30'],
    [2026, 'Tuesday', '06-29'],
  ])('in %i have 30 June, a %s, on %s', (year, _weekday, taken) => {
    const around = daysOfYear(year).filter((day) => day >= `${year}-06-01` && day <= `${year}-08-01`)
    expect(around.filter((day) => isRestDay(guatemala, day))).toEqual([`${year}-${taken}`])
  })

  it.each([2019, 2021, 2022])('in %i leave 1 May and 20 October where they are', (year) => {
    for (const day of [`${year}-05-01`, `${year}-10-20`]) expect(isRestDay(guatemala, day)).toBe(true)
  })
})

describe('a list of rest days', () => {
  it('has days of the week, of every year and of one year', () => {
    const restDays = readRestDays(' Domingo, sábado,12-24 , 2026-12-31,02-29')!
    const found = (year: number, month: string) =>
      daysOfYear(year).filter((day) => day.startsWith(`${year}-${month}`) && isRestDay(restDays, day))
    expect(found(2026, '12')).toEqual(
      ['05', '06', '12', '13', '19', '20', '24', '26', '27', '31'].map((day) => `2026-12-${day}`),
    )
    expect(found(2027, '12').map((day) => day.slice(8))).toEqual(['04', '05', '11', '12', '18', '19', '24', '25', '26'])
    expect(isRestDay(restDays, '2028-02-29')).toBe(true)
  })

  it('is empty by a word', () => {
    expect(daysOfYear(2026).filter((day) => isRestDay(readRestDays('none')!, day))).toEqual([])
  })

  it('is Sundays and the holidays of Guatemala by default', () => {
    expect(readRestDays('domingo,guatemala')).toEqual(GUATEMALAN_REST_DAYS)
  })

  it.each([
    '',
    'domingos',
    'none,domingo',
    'domingo,',
    '12-32',
    '2026-02-29',
    '24-12-2026',
    'lunes,martes,miércoles,jueves,viernes,sábado,domingo',
  ])('is not %j', (text) => {
    expect(readRestDays(text)).toBeUndefined()
  })
})
