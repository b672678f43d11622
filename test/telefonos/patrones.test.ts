import { parsePhoneNumberFromString } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { esValidoSinDuda } from '../../server/telefonos/patrones.ts'
import { azarDe } from '../azar.ts'
import { COMPLETO } from '../fabricas.ts'

const CODIGOS = ['502', '503', '504', '505', '506', '507', '57', '52', '521']

/** Numbers of the served countries, of every length that may be one, and what the library says of each. */
function comparar(cuantos: number, semilla: number) {
  const siguiente = azarDe(semilla)
  const azar = (n: number) => Math.floor(siguiente() * n)
  let validos = 0
  const distintos: string[] = []
  for (let i = 0; i < cuantos; i++) {
    let texto = `+${CODIGOS[azar(CODIGOS.length)]}`
    for (let largo = 7 + azar(6); largo > 0; largo--) texto += azar(10)
    const numero = parsePhoneNumberFromString(texto)
    const vale = numero?.isValid() === true && numero.number === texto
    if (vale) validos++
    if (vale !== esValidoSinDuda(texto)) distintos.push(texto)
  }
  return { validos, distintos: distintos.slice(0, 10) }
}

describe('the patterns of the served countries', () => {
  it('say what the library says', () => {
    const { validos, distintos } = comparar(30_000, 1)
    expect(distintos).toEqual([])
    expect(validos).toBeGreaterThan(1_000)
  })

  it('say what the library says, of a million numbers', COMPLETO, () => {
    expect(comparar(1_000_000, 2).distintos).toEqual([])
  })

  it('know no other writing and no other country', () => {
    for (const texto of ['+502 5555 1234', '50255551234', '+12125550100', '+34600000000', '+5025555123', '', '+'])
      expect(esValidoSinDuda(texto)).toBe(false)
  })
})
