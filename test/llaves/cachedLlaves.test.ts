import { describe, expect, it } from 'vitest'
import { RowCache } from '../../server/domain/llaves/cachedLlaves.ts'

/**
 * A clock and delays that pass only when a test says so. Fake timers of the whole process would also stop the service
 * that other test files of the worker share, and count its timers.
 */
function crearTiempo() {
  let now = 0
  const pendingDelays = new Set<{ dueAt: number; perform: () => void }>()
  return {
    now: () => now,
    delay: (act: () => void, ms: number) => void pendingDelays.add({ dueAt: now + ms, perform: act }),
    /** Number of delays that have not passed yet. */
    pendingDelays: () => pendingDelays.size,
    /** Moves the clock, and lets everything happen that follows from it. */
    async passTime(ms: number) {
      const end = now + ms
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const [nextTask] = [...pendingDelays]
          .filter(({ dueAt }) => dueAt <= end)
          .sort((one, other) => one.dueAt - other.dueAt)
        if (!nextTask) break
        pendingDelays.delete(nextTask)
        now = nextTask.dueAt
        nextTask.perform()
      }
      now = end
    },
  }
}

/** A table of good texts, whose readings end when they are told to. */
function createCacheWithTable(...goodTexts: string[]) {
  const tiempo = crearTiempo()
  const tableName = new Map(goodTexts.map((text) => [text, `row of ${text}`]))
  const readTexts: string[] = []
  const usages: string[] = []
  let running: { texto: string; fin: PromiseWithResolvers<string | undefined> }[] = []
  const cachedRows = new RowCache<string>(
    tiempo.now,
    (text) => (sentRequest) => {
      readTexts.push(text)
      if (sentRequest) usages.push(text)
      const fin = Promise.withResolvers<string | undefined>()
      running.push({ texto: text, fin })
      return fin.promise
    },
    0,
    tiempo.delay,
  )
  /** Ends readings under way, all unless it is said which, well or not. */
  const endReadings = async (error?: Error, cuales = running) => {
    running = running.filter((one) => !cuales.includes(one))
    for (const { texto: text, fin } of cuales) error ? fin.reject(error) : fin.resolve(tableName.get(text))
    await tiempo.passTime(0)
  }
  const lookedUpTexts: string[] = []
  const request = (text: string) =>
    cachedRows.read(text, (read) => {
      lookedUpTexts.push(text)
      return read()
    })!
  /** What a request gets at once. */
  const requestAtOnce = async (text: string) => {
    const nothing = Symbol('it waits')
    const message = await Promise.race([request(text), tiempo.passTime(0).then(() => nothing)])
    return message === nothing ? 'waits' : message
  }
  const runningReads = () => [...running]
  const sentRequests = (text: string) => usages.filter((usage) => usage === text).length
  return {
    tableName,
    readTexts,
    sentRequests,
    lookedUpTexts,
    cachedRows,
    endReadings,
    request,
    requestAtOnce,
    exists: runningReads,
    passTime: tiempo.passTime,
    pendingDelays: tiempo.pendingDelays,
  }
}

describe('a credential that is in use', () => {
  it('is read anew with all others in use, 400 ms after the last time, and no request waits for that', async () => {
    const { endReadings, request, requestAtOnce, readTexts, passTime } = createCacheWithTable('a', 'b')
    for (const text of ['a', 'b']) void request(text)
    await endReadings()
    await passTime(399)
    expect(readTexts).toEqual(['a', 'b'])
    await passTime(1)
    expect(readTexts.slice(2)).toEqual(['a', 'b'])
    expect(await requestAtOnce('a')).toBe('row of a')
    await endReadings()
    await passTime(399)
    expect(await requestAtOnce('a')).toBe('row of a')
    expect(readTexts).toHaveLength(4)
  })

  it('is not believed for longer than 500 ms from when it was read: then requests wait for the look under way', async () => {
    const { tableName, endReadings, request, requestAtOnce, readTexts, passTime } = createCacheWithTable('a')
    void request('a')
    await passTime(50)
    await endReadings()
    expect(await requestAtOnce('a')).toBe('row of a')
    tableName.delete('a')
    await passTime(400)
    expect(readTexts).toEqual(['a', 'a'])
    await passTime(49)
    expect(await requestAtOnce('a')).toBe('row of a')
    await passTime(1)
    expect(await requestAtOnce('a')).toBe('waits')
    const one = request('a')
    await endReadings()
    expect([await one, readTexts.length]).toEqual([undefined, 2])
  })

  it('ends with the round that finds it revoked', async () => {
    const { tableName, endReadings, request, requestAtOnce, cachedRows, passTime } = createCacheWithTable('a')
    void request('a')
    await endReadings()
    await requestAtOnce('a')
    tableName.delete('a')
    await passTime(400)
    await endReadings()
    expect([await requestAtOnce('a'), cachedRows.knows('a')]).toEqual([undefined, false])
  })

  it('goes on for as long as it is believed while rounds fail, and is then read by requests, which are told', async () => {
    const { endReadings, request, requestAtOnce, readTexts, cachedRows, passTime } = createCacheWithTable('a')
    void request('a')
    await endReadings()
    await requestAtOnce('a')
    await passTime(400)
    await endReadings(new Error('the database is away'))
    await passTime(99)
    expect(await requestAtOnce('a')).toBe('row of a')
    await passTime(1)
    const one = request('a')
    const other = expect(request('a')).rejects.toThrow('away')
    expect(readTexts).toHaveLength(3)
    await Promise.all([expect(one).rejects.toThrow('away'), endReadings(new Error('the database is away')), other])
    // It is still a good one's, which strangers can't hold up, and it is read at the next request.
    expect(cachedRows.knows('a')).toBe(true)
    const laterRow = request('a')
    await endReadings()
    expect(await laterRow).toBe('row of a')
  })

  it('waits for the next round when it was read less than 100 ms before one', async () => {
    const { endReadings, request, requestAtOnce, readTexts, passTime } = createCacheWithTable('a', 'b')
    void request('a')
    await endReadings()
    await requestAtOnce('a')
    await passTime(301)
    void request('b')
    await endReadings()
    await requestAtOnce('b')
    await passTime(99)
    expect(readTexts.slice(2)).toEqual(['a'])
    await passTime(400)
    expect(readTexts.slice(3)).toEqual(['b'])
    expect(await requestAtOnce('b')).toBe('row of b')
  })

  it('is what was read last, though an earlier reading ends later', async () => {
    const { tableName, endReadings, request, requestAtOnce, exists: runningReads, passTime } = createCacheWithTable('a')
    void request('a')
    await endReadings()
    await requestAtOnce('a')
    await passTime(900)
    const [slowOne] = runningReads()
    const one = request('a')
    const [, quickRead] = runningReads()
    tableName.delete('a')
    await endReadings(undefined, [quickRead!])
    tableName.set('a', 'row of a')
    await endReadings(undefined, [slowOne!])
    expect([await one, await requestAtOnce('a')]).toEqual([undefined, undefined])
  })

  it('is in the rounds again after one that failed', async () => {
    const { endReadings, request, requestAtOnce, readTexts, passTime } = createCacheWithTable('a')
    void request('a')
    await endReadings()
    await requestAtOnce('a')
    await passTime(400)
    await endReadings(new Error('once'))
    await requestAtOnce('a')
    await passTime(400)
    expect(readTexts).toHaveLength(3)
  })

  it('is read for two seconds after it was asked for, and then no longer', async () => {
    const { endReadings, request, requestAtOnce, readTexts, sentRequests, passTime, pendingDelays } =
      createCacheWithTable('a', 'b')
    for (const text of ['a', 'b']) void request(text)
    await endReadings()
    for (let round = 0; round < 100; round++) {
      if (round === 3) expect(await requestAtOnce('b')).toBe('row of b')
      await passTime(400)
      await endReadings()
    }
    const readsOf = (text: string) => readTexts.filter((read) => read === text).length
    expect([readsOf('a'), readsOf('b'), pendingDelays()]).toEqual([1 + 4, 1 + 8, 0])
    // Once by itself, and once since it was read.
    expect([sentRequests('a'), sentRequests('b')]).toEqual([1, 2])
  })
})

describe('a text that stands for nothing', () => {
  it('is looked up as strangers are, at most once in 500 ms, and never in a round', async () => {
    const { endReadings, request, requestAtOnce, lookedUpTexts, readTexts, passTime } = createCacheWithTable()
    void request('x')
    await endReadings()
    for (let ms = 0; ms < 490; ms += 70) {
      expect(await requestAtOnce('x')).toBe(undefined)
      await passTime(70)
    }
    expect([readTexts, lookedUpTexts]).toEqual([['x'], ['x']])
    await passTime(10)
    void request('x')
    expect([readTexts.length, lookedUpTexts.length]).toEqual([2, 2])
  })

  it('may become good', async () => {
    const { tableName, endReadings, request, cachedRows, passTime } = createCacheWithTable()
    void request('x')
    await endReadings()
    tableName.set('x', 'row of x')
    await passTime(500)
    const one = request('x')
    await endReadings()
    expect([await one, cachedRows.knows('x')]).toEqual(['row of x', true])
  })
})

describe('while the database is away', () => {
  const FUERA = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

  it('believes a good text for as long as it is told, and no other', async () => {
    const tiempo = crearTiempo()
    let away = false
    const cachedRows = new RowCache<string>(
      tiempo.now,
      (text) => async () => {
        if (away) throw FUERA
        return text === 'good' ? 'its row' : undefined
      },
      10_000,
      tiempo.delay,
    )
    const request = (text: string) => cachedRows.read(text, (read) => read())
    expect(await request('good')).toBe('its row')
    away = true
    for (let s = 1; s <= 9; s++) {
      await tiempo.passTime(1_000)
      expect([s, await request('good')]).toEqual([s, 'its row'])
      await expect(request('unknown')).rejects.toThrow(FUERA)
    }
    await tiempo.passTime(1_500)
    await expect(request('good')).rejects.toThrow(FUERA)
    away = false
    expect(await request('good')).toBe('its row')
  })

  it('believes nothing that was read and refused, nor for a fault of another kind', async () => {
    const tiempo = crearTiempo()
    let answer: () => string | undefined = () => 'its row'
    const cachedRows = new RowCache<string>(tiempo.now, () => async () => answer(), 10_000, tiempo.delay)
    const request = () => cachedRows.read('good', (read) => read())
    expect(await request()).toBe('its row')
    answer = () => {
      throw new Error('a bug')
    }
    await tiempo.passTime(3_000)
    await expect(request()).rejects.toThrow('a bug')
    answer = () => undefined
    expect(await request()).toBeUndefined()
    answer = () => {
      throw FUERA
    }
    await tiempo.passTime(1_000)
    await expect(request()).rejects.toThrow(FUERA)
  })
})
