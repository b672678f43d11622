import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  type CorrectionChanges,
  decryptChanges,
  encryptChanges,
  type ReadCorreccion,
  valuesBefore,
} from '../../server/domain/records/correccionCipher.ts'
import { CORRECTABLE_COLUMNS, type GuiaRow } from '../../server/domain/records/guiaFields.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

const secrets = createSecrets([Buffer.alloc(32, 1)])
const GUIA_ID = '01990000-0000-7000-8000-000000000001'

const value = fc.oneof(fc.constant(null), fc.string(), fc.double({ noNaN: true, noDefaultInfinity: true }))
/** Corrections of a guide: new values of some columns, one correction after the other. */
const correcciones = fc.array(fc.dictionary(fc.constantFrom(...CORRECTABLE_COLUMNS), value, { minKeys: 1 }), {
  maxLength: 6,
})

describe('a guide before its corrections', () => {
  it('has the values of each instant, regardless of later corrections', () => {
    fc.assert(
      fc.property(correcciones, (all) => {
        const moments = [Object.fromEntries(CORRECTABLE_COLUMNS.map((column) => [column, `first ${column}`]))]
        const readCorrecciones: ReadCorreccion[] = []
        for (const [i, changes] of all.entries()) {
          const before = moments.at(-1)!
          const cambios = Object.fromEntries(
            Object.entries(changes).map(([column, despues]) => [column, { antes: before[column], despues }]),
          ) as CorrectionChanges
          const secuencia = 2 * i + 5
          const cifrado = encryptChanges(secrets, { guia_id: GUIA_ID, secuencia }, cambios)
          readCorrecciones.push([secuencia, cifrado.toString('base64')])
          moments.push({ ...before, ...(changes as Record<string, string>) })
        }
        const now = moments.at(-1) as unknown as GuiaRow
        for (const [i, moment] of moments.entries())
          expect(toJson(valuesBefore(secrets, now, GUIA_ID, readCorrecciones.slice(i)))).toBe(toJson(moment as object))
      }),
    )
  })
})

/** Compared as JSON, because a body is JSON: it does not tell -0 from 0. */
const toJson = (guia: object): string => JSON.stringify(guia, [...CORRECTABLE_COLUMNS].sort())

describe('the values of a correction', () => {
  const evento = { guia_id: GUIA_ID, secuencia: 3 }
  const cambios: CorrectionChanges = { telefono: { antes: '+50255550001', despues: '+50255550002' } }

  it('are encrypted, each time differently', () => {
    const [one, other] = [1, 2].map(() => encryptChanges(secrets, evento, cambios))
    expect(one!.includes('+50255550001') || one!.includes('telefono')).toBe(false)
    expect(one).not.toEqual(other)
    expect(decryptChanges(secrets, evento, one!)).toEqual(cambios)
  })

  it.each([
    ['another guide', { ...evento, guia_id: '01990000-0000-7000-8000-000000000002' }, secrets],
    ['another event', { ...evento, secuencia: 4 }, secrets],
    ['another master key', evento, createSecrets([Buffer.alloc(32, 2)])],
  ])('cannot be read with %s', (_description, place, otherSecrets) => {
    expect(() => decryptChanges(otherSecrets, place, encryptChanges(secrets, evento, cambios))).toThrow()
  })

  it('cannot be read after a change', () => {
    const cifrado = encryptChanges(secrets, evento, cambios)
    for (const i of [4, 20, cifrado.length - 1]) {
      const other = Buffer.from(cifrado)
      other[i]! ^= 1
      expect(() => decryptChanges(secrets, evento, other)).toThrow()
    }
  })
})
