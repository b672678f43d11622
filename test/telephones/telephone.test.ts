import { describe, expect, it } from 'vitest'
import { readTelephone, showTelephone } from '../../server/platform/telephones/telephone.ts'

describe('phones', () => {
  it.each([
    ['+502 5555-1234', '+50255551234', false],
    ['+503 7123 4567', '+50371234567', false],
    ['+1 (212) 555-0100', '+12125550100', false],
    ['+5215512345678', '+525512345678', false],
    ['+50211111111', '+50211111111', true],
    ['tel:+50255551234', '+50255551234', false],
    ['\uff0b50255551234', '+50255551234', false],
    ['\u202d+44 20 7946\u22120958\u202c', '+442079460958', false],
  ])('reads %s', (text, e164, dudoso) => expect(readTelephone(text)).toMatchObject({ e164, dudoso }))

  it.each([
    ['+50231481676', '3148 1676'],
    ['+50211111111', '1111 1111'],
    ['+50371234567', '+503 7123 4567'],
    ['+12125550100', '+1 212 555 0100'],
    ['sin teléfono', 'sin teléfono'],
  ])('shows %s as %s', (e164, visible) => expect(showTelephone(e164)).toBe(visible))

  it.each([
    '55551234',
    '+',
    '+502',
    '+50255',
    // Possible for the library's metadata, and longer than any number is (E.164).
    '+4930123456123456',
    '+8100138123456000',
    // What it gives of these is yet another number when it is read again.
    '+234006734567899',
    '+502555512345678',
    '+999 1234567',
    '+502 5555 1234 ext 5',
    '+502٥٥٥٥١٢٣٤',
  ])('refuses %s', (text) => expect(readTelephone(text)).toHaveProperty('error'))
})
