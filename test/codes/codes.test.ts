import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readDocument } from '../../server/api/contract/contract.ts'
import { createIdGenerator, newGuideCode, randomBase32, smallestId } from '../../server/platform/codes/codes.ts'
import { checkDigit, normalizeGuideCode } from '../../server/platform/codes/guideCode.ts'

describe('codes of guides', () => {
  it('agree with the vectors of the contract', () => {
    const vectores = readDocument().components.schemas.CodigoDeGuia!['x-vectores'] as {
      escrito: string
      guia: string | null
    }[]
    expect(vectores.length).toBeGreaterThan(5)
    for (const { escrito, guia } of vectores)
      expect([escrito, normalizeGuideCode(escrito) ?? null]).toEqual([escrito, guia])
  })

  it('find any single wrong character', () => {
    fc.assert(
      fc.property(fc.nat({ max: 11 }), fc.nat({ max: 30 }), (place, salto) => {
        const codigo = newGuideCode()
        const alphabet = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
        const other = alphabet[(alphabet.indexOf(codigo[place]!) + 1 + salto) % 32]!
        expect(normalizeGuideCode(codigo.slice(0, place) + other + codigo.slice(place + 1))).toBeUndefined()
        expect(normalizeGuideCode(codigo)).toBe(codigo)
      }),
    )
    expect(checkDigit(randomBase32(11, (n) => Buffer.alloc(n)))).toBe('0')
  })
})

describe('ids', () => {
  it('increase strictly, also within a millisecond and when the clock steps back a little', () => {
    let now = 1_800_000_000_000
    const newId = createIdGenerator(() => new Date(now))
    const hechos = Array.from({ length: 10_000 }, (_, i) => {
      if (i === 5_000) now -= 900
      return newId()
    })
    expect(hechos.map(({ id }) => id)).toEqual([...hechos.map(({ id }) => id)].sort())
    expect(new Set(hechos.map(({ id }) => id)).size).toBe(10_000)
    expect(hechos[0]!.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  })

  it('follow a clock that steps back further', () => {
    let now = 1_800_000_000_000
    const newId = createIdGenerator(() => new Date(now))
    newId()
    now -= 3_600_000
    expect(newId().creado_en).toEqual(new Date(now))
  })

  it('are at or above the lowest of their instant, and below the next', () => {
    const { id, creado_en: createdAt } = createIdGenerator(() => new Date())()
    expect(smallestId(createdAt) <= id && id < smallestId(new Date(createdAt.getTime() + 1))).toBe(true)
    expect(smallestId(new Date(-5))).toBe('00000000-0000-7000-0000-000000000000')
  })
})
