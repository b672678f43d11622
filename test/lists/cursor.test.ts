import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCursors } from '../../server/api/lists/cursor.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

describe('cursors', () => {
  const viejo = randomBytes(32)
  const cursores = createCursors(createSecrets([viejo]))
  const ambito = { operacion: 'listar', dueno: 'uno', filters: { estado: ['a'], nada: undefined } }

  it('come back as they went, and survive a new master key', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 4 }), (posicion) => {
        expect(cursores.decrypt(ambito, cursores.encrypt(ambito, posicion))).toEqual(posicion)
      }),
    )
    const despues = createCursors(createSecrets([randomBytes(32), viejo]))
    expect(despues.decrypt(ambito, cursores.encrypt(ambito, [1]))).toEqual([1])
    expect(() =>
      createCursors(createSecrets([randomBytes(32)])).decrypt(ambito, cursores.encrypt(ambito, [1])),
    ).toThrow()
  })

  it('are the same for the same position in the same list, and for no other', () => {
    const hechos = [
      cursores.encrypt(ambito, [1]),
      cursores.encrypt(ambito, [2]),
      cursores.encrypt({ ...ambito, dueno: 'dos' }, [1]),
      cursores.encrypt({ ...ambito, filters: {} }, [1]),
    ]
    expect(cursores.encrypt({ ...ambito }, [1])).toBe(hechos[0])
    // After the key's name come twelve bytes that AES-GCM must never see twice with other texts.
    expect(new Set(hechos.map((cursor) => Buffer.from(cursor, 'base64url').subarray(4, 16).toString('hex'))).size).toBe(
      4,
    )
  })

  it('open as before once they are remembered, and for nothing else, however many there are', () => {
    const suyos = createCursors(createSecrets([viejo]))
    const dados = Array.from({ length: 2_500 }, (_, i) => suyos.encrypt(ambito, [i]))
    expect(dados[0]).toBe(cursores.encrypt(ambito, [0]))
    for (let vuelta = 0; vuelta < 2; vuelta++) {
      for (const i of [0, 1, 1_250, 2_498, 2_499]) {
        const cursor = dados[i]!
        expect(suyos.decrypt(ambito, cursor)).toEqual([i])
        expect(suyos.encrypt(ambito, [i])).toBe(cursor)
        expect(() => suyos.decrypt({ ...ambito, dueno: 'dos' }, cursor)).toThrow()
        const alterado = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')
        expect(() => suyos.decrypt(ambito, alterado)).toThrow()
      }
    }
  })

  it('open for nobody and nothing else', () => {
    const cursor = cursores.encrypt(ambito, ['secreto'])
    for (const otro of [
      { ...ambito, dueno: 'dos' },
      { ...ambito, operacion: 'otra' },
      { ...ambito, filters: { estado: ['b'] } },
      { ...ambito, filters: {} },
    ]) {
      expect(() => cursores.decrypt(otro, cursor)).toThrow()
    }
    fc.assert(fc.property(fc.string(), (texto) => void expect(() => cursores.decrypt(ambito, texto)).toThrow()))
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('secreto')
  })
})
