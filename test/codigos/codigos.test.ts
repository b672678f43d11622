import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { leerDocumento } from '../../server/api/contract/contract.ts'
import {
  base32AlAzar,
  crearGeneradorDeIds,
  menorId,
  normalizarCodigoDeGuia,
  nuevoCodigoDeGuia,
  verificador,
} from '../../server/platform/codes/codes.ts'

describe('codes of guides', () => {
  it('agree with the vectors of the contract', () => {
    const vectores = leerDocumento().components.schemas.CodigoDeGuia!['x-vectores'] as {
      escrito: string
      guia: string | null
    }[]
    expect(vectores.length).toBeGreaterThan(5)
    for (const { escrito, guia } of vectores)
      expect([escrito, normalizarCodigoDeGuia(escrito) ?? null]).toEqual([escrito, guia])
  })

  it('find any single wrong character', () => {
    fc.assert(
      fc.property(fc.nat({ max: 11 }), fc.nat({ max: 30 }), (lugar, salto) => {
        const codigo = nuevoCodigoDeGuia()
        const alfabeto = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
        const otra = alfabeto[(alfabeto.indexOf(codigo[lugar]!) + 1 + salto) % 32]!
        expect(normalizarCodigoDeGuia(codigo.slice(0, lugar) + otra + codigo.slice(lugar + 1))).toBeUndefined()
        expect(normalizarCodigoDeGuia(codigo)).toBe(codigo)
      }),
    )
    expect(verificador(base32AlAzar(11, (n) => Buffer.alloc(n)))).toBe('0')
  })
})

describe('ids', () => {
  it('increase strictly, also within a millisecond and when the clock steps back a little', () => {
    let ahora = 1_800_000_000_000
    const nuevoId = crearGeneradorDeIds(() => new Date(ahora))
    const hechos = Array.from({ length: 10_000 }, (_, i) => {
      if (i === 5_000) ahora -= 900
      return nuevoId()
    })
    expect(hechos.map(({ id }) => id)).toEqual([...hechos.map(({ id }) => id)].sort())
    expect(new Set(hechos.map(({ id }) => id)).size).toBe(10_000)
    expect(hechos[0]!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('follow a clock that steps back further', () => {
    let ahora = 1_800_000_000_000
    const nuevoId = crearGeneradorDeIds(() => new Date(ahora))
    nuevoId()
    ahora -= 3_600_000
    expect(nuevoId().creado_en).toEqual(new Date(ahora))
  })

  it('are at or above the lowest of their instant, and below the next', () => {
    const { id, creado_en } = crearGeneradorDeIds(() => new Date())()
    expect(menorId(creado_en) <= id && id < menorId(new Date(creado_en.getTime() + 1))).toBe(true)
    expect(menorId(new Date(-5))).toBe('00000000-0000-7000-0000-000000000000')
  })
})
