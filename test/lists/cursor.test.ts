import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCursors } from '../../server/api/lists/cursor.ts'
import { createSecrets } from '../../server/platform/secrets.ts'

describe('cursors', () => {
  const old = randomBytes(32)
  const cursores = createCursors(createSecrets([old]))
  const scope = { operacion: 'listar', dueno: 'uno', filters: { estado: ['a'], nada: undefined } }

  it('come back as they went, and survive a new master key', () => {
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.integer()), { maxLength: 4 }), (posicion) => {
        expect(cursores.decrypt(scope, cursores.encrypt(scope, posicion))).toEqual(posicion)
      }),
    )
    const after = createCursors(createSecrets([randomBytes(32), old]))
    expect(after.decrypt(scope, cursores.encrypt(scope, [1]))).toEqual([1])
    expect(() => createCursors(createSecrets([randomBytes(32)])).decrypt(scope, cursores.encrypt(scope, [1]))).toThrow()
  })

  it('are the same for the same position in the same list, and for no other', () => {
    const hechos = [
      cursores.encrypt(scope, [1]),
      cursores.encrypt(scope, [2]),
      cursores.encrypt({ ...scope, dueno: 'dos' }, [1]),
      cursores.encrypt({ ...scope, filters: {} }, [1]),
    ]
    expect(cursores.encrypt({ ...scope }, [1])).toBe(hechos[0])
    // After the key's name come twelve bytes that AES-GCM must never see twice with other texts.
    expect(new Set(hechos.map((cursor) => Buffer.from(cursor, 'base64url').subarray(4, 16).toString('hex'))).size).toBe(
      4,
    )
  })

  it('open as before once they are remembered, and for nothing else, however many there are', () => {
    const cursors = createCursors(createSecrets([old]))
    const written = Array.from({ length: 2_500 }, (_, i) => cursors.encrypt(scope, [i]))
    expect(written[0]).toBe(cursores.encrypt(scope, [0]))
    for (let round = 0; round < 2; round++) {
      for (const i of [0, 1, 1_250, 2_498, 2_499]) {
        const cursor = written[i]!
        expect(cursors.decrypt(scope, cursor)).toEqual([i])
        expect(cursors.encrypt(scope, [i])).toBe(cursor)
        expect(() => cursors.decrypt({ ...scope, dueno: 'dos' }, cursor)).toThrow()
        const altered = cursor.slice(0, -1) + (cursor.endsWith('A') ? 'B' : 'A')
        expect(() => cursors.decrypt(scope, altered)).toThrow()
      }
    }
  })

  it('open for nobody and nothing else', () => {
    const cursor = cursores.encrypt(scope, ['secreto'])
    for (const other of [
      { ...scope, dueno: 'dos' },
      { ...scope, operacion: 'otra' },
      { ...scope, filters: { estado: ['b'] } },
      { ...scope, filters: {} },
    ]) {
      expect(() => cursores.decrypt(other, cursor)).toThrow()
    }
    fc.assert(fc.property(fc.string(), (text) => void expect(() => cursores.decrypt(scope, text)).toThrow()))
    expect(Buffer.from(cursor, 'base64url').toString('latin1')).not.toContain('secreto')
  })
})
