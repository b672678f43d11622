import { describe, expect, it, vi } from 'vitest'
import { RecentDocuments } from '../../server/platform/threads/recent.ts'
import { useDeadlines } from '../deadlines.ts'

/** Milliseconds that no other timer of the process waits. */
const VIGENCIA = 1_013
const plazos = useDeadlines(VIGENCIA)
const nobody = new AbortController().signal
const de = (bytes: number) => Promise.resolve(Buffer.alloc(bytes))
const nuevos = (reglas = {}) => new RecentDocuments({ count: 2, bytes: 100, ttl: VIGENCIA, ...reglas })

describe('documents made lately', () => {
  it('are made once for all who ask, and given up when all of them went away', async () => {
    const recientes = nuevos()
    const listo = Promise.withResolvers<Buffer>()
    let senal = nobody
    const act = vi.fn((suya: AbortSignal) => {
      senal = suya
      return listo.promise
    })
    const [one, other] = [new AbortController(), new AbortController()]
    const pedidos = [one, other].map(({ signal }) => recientes.get('a', act, signal))
    one.abort()
    await expect(pedidos[0]).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect(senal.aborted).toBe(false)
    other.abort()
    await expect(pedidos[1]).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect([senal.aborted, act.mock.calls.length]).toEqual([true, 1])
    // Who comes after that doesn't wait for what was given up, and who has gone starts nothing.
    await expect(recientes.get('a', act, one.signal)).rejects.toMatchObject({ codigo: 'no_disponible' })
    const nuevo = recientes.get('a', act, nobody)
    listo.resolve(Buffer.from('x'))
    expect([String(await nuevo), act.mock.calls.length]).toEqual(['x', 2])
  })

  it('count once when the same document is stored twice', async () => {
    const recientes = nuevos()
    const abandonado = Promise.withResolvers<Buffer>()
    const first = new AbortController()
    const pedido = recientes.get('a', () => abandonado.promise, first.signal)
    first.abort()
    await expect(pedido).rejects.toMatchObject({ codigo: 'no_disponible' })
    await recientes.get('a', () => de(40), nobody)
    // The first preparation did not stop, and ends after the second.
    abandonado.resolve(Buffer.alloc(40))
    await abandonado.promise
    await recientes.get('b', () => de(60), nobody)
    expect(['a', 'b'].map((key) => recientes.find(key)?.length)).toEqual([40, 60])
  })

  it('are kept for a while, within bounds, the newest of them; what fails is made again', async () => {
    const recientes = nuevos()
    for (const key of ['a', 'b', 'c']) await recientes.get(key, () => de(40), nobody)
    expect(['a', 'b', 'c'].map((key) => recientes.find(key)?.length)).toEqual([undefined, 40, 40])
    await recientes.get('d', () => de(90), nobody)
    await recientes.get('e', () => de(101), nobody)
    expect(['b', 'c', 'd', 'e'].map((key) => recientes.find(key)?.length)).toEqual([
      undefined,
      undefined,
      90,
      undefined,
    ])
    plazos.vencer()
    expect(recientes.find('d')).toBeUndefined()
    await expect(recientes.get('d', () => Promise.reject(new Error('no')), nobody)).rejects.toThrow('no')
    expect((await recientes.get('d', () => de(100), nobody)).length).toBe(100)
  })
})
