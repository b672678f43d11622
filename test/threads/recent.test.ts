import { describe, expect, it, vi } from 'vitest'
import { RecentDocuments } from '../../server/platform/threads/recent.ts'
import { useDeadlines } from '../deadlines.ts'

/** Milliseconds that no other timer of the process waits. */
const TTL_MS = 1_013
const deadlines = useDeadlines(TTL_MS)
const nobody = new AbortController().signal
const bytesOf = (bytes: number) => Promise.resolve(Buffer.alloc(bytes))
const createRecentDocuments = (rules = {}) => new RecentDocuments({ count: 2, bytes: 100, ttl: TTL_MS, ...rules })

describe('documents made lately', () => {
  it('are made once for all who ask, and given up when all of them went away', async () => {
    const recentDocuments = createRecentDocuments()
    const listo = Promise.withResolvers<Buffer>()
    let abortSignal = nobody
    const act = vi.fn((signal: AbortSignal) => {
      abortSignal = signal
      return listo.promise
    })
    const [one, other] = [new AbortController(), new AbortController()]
    const requests = [one, other].map(({ signal }) => recentDocuments.get('a', act, signal))
    one.abort()
    await expect(requests[0]).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect(abortSignal.aborted).toBe(false)
    other.abort()
    await expect(requests[1]).rejects.toMatchObject({ codigo: 'no_disponible' })
    expect([abortSignal.aborted, act.mock.calls.length]).toEqual([true, 1])
    // Who comes after that doesn't wait for what was given up, and who has gone starts nothing.
    await expect(recentDocuments.get('a', act, one.signal)).rejects.toMatchObject({ codigo: 'no_disponible' })
    const fresh = recentDocuments.get('a', act, nobody)
    listo.resolve(Buffer.from('x'))
    expect([String(await fresh), act.mock.calls.length]).toEqual(['x', 2])
  })

  it('count once when the same document is stored twice', async () => {
    const recentDocuments = createRecentDocuments()
    const abandonedResult = Promise.withResolvers<Buffer>()
    const first = new AbortController()
    const requestData = recentDocuments.get('a', () => abandonedResult.promise, first.signal)
    first.abort()
    await expect(requestData).rejects.toMatchObject({ codigo: 'no_disponible' })
    await recentDocuments.get('a', () => bytesOf(40), nobody)
    // The first preparation did not stop, and ends after the second.
    abandonedResult.resolve(Buffer.alloc(40))
    await abandonedResult.promise
    await recentDocuments.get('b', () => bytesOf(60), nobody)
    expect(['a', 'b'].map((key) => recentDocuments.find(key)?.length)).toEqual([40, 60])
  })

  it('are kept for a while, within bounds, the newest of them; what fails is made again', async () => {
    const recentDocuments = createRecentDocuments()
    for (const key of ['a', 'b', 'c']) await recentDocuments.get(key, () => bytesOf(40), nobody)
    expect(['a', 'b', 'c'].map((key) => recentDocuments.find(key)?.length)).toEqual([undefined, 40, 40])
    await recentDocuments.get('d', () => bytesOf(90), nobody)
    await recentDocuments.get('e', () => bytesOf(101), nobody)
    expect(['b', 'c', 'd', 'e'].map((key) => recentDocuments.find(key)?.length)).toEqual([
      undefined,
      undefined,
      90,
      undefined,
    ])
    deadlines.expireAll()
    expect(recentDocuments.find('d')).toBeUndefined()
    await expect(recentDocuments.get('d', () => Promise.reject(new Error('no')), nobody)).rejects.toThrow('no')
    expect((await recentDocuments.get('d', () => bytesOf(100), nobody)).length).toBe(100)
  })
})
