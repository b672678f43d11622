import { expect, it } from 'vitest'
import { readLsn } from '../../server/data/replica.ts'

it('orders positions of the log whose second part has fewer digits', () => {
  const posiciones = ['0/16B3748', '0/FFFFFFFF', '1/0', '1/9', '1/A0000000', '10/1']
  expect(posiciones.map(readLsn).toSorted((una, otra) => (una < otra ? -1 : 1))).toEqual(posiciones.map(readLsn))
  expect(readLsn('16/B374D848')).toBe(0x16_b374_d848n)
})
