import { expect, it } from 'vitest'
import { withSoftHyphens } from '../../server/platform/softHyphens.ts'

it.each([
  ['Electrodomésticos', 'Elec-tro-do-més-ti-cos'],
  ['Comercializadora', 'Comer-cia-li-za-dora'],
  ['Quetzaltenango', 'Quet-zal-te-nango'],
  ['Huehuetenango', 'Hue-hue-te-nango'],
  ['construcciones', 'cons-truc-cio-nes'],
  ['otorrinolaringólogo', 'oto-rri-no-la-rin-gó-logo'],
  ['EXTRAORDINARIA', 'EXTRAOR-DI-NA-RIA'],
])('divides %s between its syllables', (word, divided) => {
  expect(withSoftHyphens(word).replaceAll('\u00AD', '-')).toBe(divided)
})

it.each(['Zapatería El Caminante', 'P-1234567890123456', '7K3M9QX2A1B4', '김민수', ''])(
  'leaves %j as it is',
  (text) => {
    expect(withSoftHyphens(text)).toBe(text)
  },
)
