import { describe, expect, it } from 'vitest'
import { RowCache } from '../../server/domain/llaves/cachedLlaves.ts'

/**
 * A clock and delays that pass only when a test says so. Fake timers of the whole process would also stop the service
 * that other test files of the worker share, and count its timers.
 */
function crearTiempo() {
  let now = 0
  const citas = new Set<{ en: number; perform: () => void }>()
  return {
    ahora: () => now,
    retrasar: (act: () => void, ms: number) => void citas.add({ en: now + ms, perform: act }),
    /** Number of delays that have not passed yet. */
    citas: () => citas.size,
    /** Moves the clock, and lets everything happen that follows from it. */
    async pasar(ms: number) {
      const end = now + ms
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const [proxima] = [...citas].filter(({ en }) => en <= end).sort((one, other) => one.en - other.en)
        if (!proxima) break
        citas.delete(proxima)
        now = proxima.en
        proxima.perform()
      }
      now = end
    },
  }
}

/** A table of good texts, whose readings end when they are told to. */
function conTabla(...buenos: string[]) {
  const tiempo = crearTiempo()
  const tabla = new Map(buenos.map((text) => [text, `row of ${text}`]))
  const leidas: string[] = []
  const usos: string[] = []
  let enCurso: { texto: string; fin: PromiseWithResolvers<string | undefined> }[] = []
  const recordadas = new RowCache<string>(
    tiempo.ahora,
    (texto) => (pedida) => {
      leidas.push(texto)
      if (pedida) usos.push(texto)
      const fin = Promise.withResolvers<string | undefined>()
      enCurso.push({ texto, fin })
      return fin.promise
    },
    0,
    tiempo.retrasar,
  )
  /** Ends readings under way, all unless it is said which, well or not. */
  const contestar = async (error?: Error, cuales = enCurso) => {
    enCurso = enCurso.filter((one) => !cuales.includes(one))
    for (const { texto, fin } of cuales) error ? fin.reject(error) : fin.resolve(tabla.get(texto))
    await tiempo.pasar(0)
  }
  const averiguadas: string[] = []
  const request = (text: string) =>
    recordadas.leer(text, (read) => {
      averiguadas.push(text)
      return read()
    })!
  /** What a request gets at once. */
  const alPunto = async (text: string) => {
    const nothing = Symbol('it waits')
    const dicho = await Promise.race([request(text), tiempo.pasar(0).then(() => nothing)])
    return dicho === nothing ? 'waits' : dicho
  }
  const hay = () => [...enCurso]
  const pedidas = (text: string) => usos.filter((uso) => uso === text).length
  return {
    tabla,
    leidas,
    pedidas,
    averiguadas,
    recordadas,
    contestar,
    request,
    alPunto,
    exists: hay,
    pasar: tiempo.pasar,
    citas: tiempo.citas,
  }
}

describe('a credential that is in use', () => {
  it('is read anew with all others in use, 400 ms after the last time, and no request waits for that', async () => {
    const { contestar, request, alPunto, leidas, pasar } = conTabla('a', 'b')
    for (const text of ['a', 'b']) void request(text)
    await contestar()
    await pasar(399)
    expect(leidas).toEqual(['a', 'b'])
    await pasar(1)
    expect(leidas.slice(2)).toEqual(['a', 'b'])
    expect(await alPunto('a')).toBe('row of a')
    await contestar()
    await pasar(399)
    expect(await alPunto('a')).toBe('row of a')
    expect(leidas).toHaveLength(4)
  })

  it('is not believed for longer than 500 ms from when it was read: then requests wait for the look under way', async () => {
    const { tabla, contestar, request, alPunto, leidas, pasar } = conTabla('a')
    void request('a')
    await pasar(50)
    await contestar()
    expect(await alPunto('a')).toBe('row of a')
    tabla.delete('a')
    await pasar(400)
    expect(leidas).toEqual(['a', 'a'])
    await pasar(49)
    expect(await alPunto('a')).toBe('row of a')
    await pasar(1)
    expect(await alPunto('a')).toBe('waits')
    const one = request('a')
    await contestar()
    expect([await one, leidas.length]).toEqual([undefined, 2])
  })

  it('ends with the round that finds it revoked', async () => {
    const { tabla, contestar, request, alPunto, recordadas, pasar } = conTabla('a')
    void request('a')
    await contestar()
    await alPunto('a')
    tabla.delete('a')
    await pasar(400)
    await contestar()
    expect([await alPunto('a'), recordadas.knows('a')]).toEqual([undefined, false])
  })

  it('goes on for as long as it is believed while rounds fail, and is then read by requests, which are told', async () => {
    const { contestar, request, alPunto, leidas, recordadas, pasar } = conTabla('a')
    void request('a')
    await contestar()
    await alPunto('a')
    await pasar(400)
    await contestar(new Error('the database is away'))
    await pasar(99)
    expect(await alPunto('a')).toBe('row of a')
    await pasar(1)
    const one = request('a')
    const other = expect(request('a')).rejects.toThrow('away')
    expect(leidas).toHaveLength(3)
    await Promise.all([expect(one).rejects.toThrow('away'), contestar(new Error('the database is away')), other])
    // It is still a good one's, which strangers can't hold up, and it is read at the next request.
    expect(recordadas.knows('a')).toBe(true)
    const luego = request('a')
    await contestar()
    expect(await luego).toBe('row of a')
  })

  it('waits for the next round when it was read less than 100 ms before one', async () => {
    const { contestar, request, alPunto, leidas, pasar } = conTabla('a', 'b')
    void request('a')
    await contestar()
    await alPunto('a')
    await pasar(301)
    void request('b')
    await contestar()
    await alPunto('b')
    await pasar(99)
    expect(leidas.slice(2)).toEqual(['a'])
    await pasar(400)
    expect(leidas.slice(3)).toEqual(['b'])
    expect(await alPunto('b')).toBe('row of b')
  })

  it('is what was read last, though an earlier reading ends later', async () => {
    const { tabla, contestar, request, alPunto, exists: hay, pasar } = conTabla('a')
    void request('a')
    await contestar()
    await alPunto('a')
    await pasar(900)
    const [lenta] = hay()
    const one = request('a')
    const [, pronta] = hay()
    tabla.delete('a')
    await contestar(undefined, [pronta!])
    tabla.set('a', 'row of a')
    await contestar(undefined, [lenta!])
    expect([await one, await alPunto('a')]).toEqual([undefined, undefined])
  })

  it('is in the rounds again after one that failed', async () => {
    const { contestar, request, alPunto, leidas, pasar } = conTabla('a')
    void request('a')
    await contestar()
    await alPunto('a')
    await pasar(400)
    await contestar(new Error('once'))
    await alPunto('a')
    await pasar(400)
    expect(leidas).toHaveLength(3)
  })

  it('is read for two seconds after it was asked for, and then no longer', async () => {
    const { contestar, request, alPunto, leidas, pedidas, pasar, citas } = conTabla('a', 'b')
    for (const text of ['a', 'b']) void request(text)
    await contestar()
    for (let ronda = 0; ronda < 100; ronda++) {
      if (ronda === 3) expect(await alPunto('b')).toBe('row of b')
      await pasar(400)
      await contestar()
    }
    const de = (text: string) => leidas.filter((read) => read === text).length
    expect([de('a'), de('b'), citas()]).toEqual([1 + 4, 1 + 8, 0])
    // Once by itself, and once since it was read.
    expect([pedidas('a'), pedidas('b')]).toEqual([1, 2])
  })
})

describe('a text that stands for nothing', () => {
  it('is looked up as strangers are, at most once in 500 ms, and never in a round', async () => {
    const { contestar, request, alPunto, averiguadas, leidas, pasar } = conTabla()
    void request('x')
    await contestar()
    for (let ms = 0; ms < 490; ms += 70) {
      expect(await alPunto('x')).toBe(undefined)
      await pasar(70)
    }
    expect([leidas, averiguadas]).toEqual([['x'], ['x']])
    await pasar(10)
    void request('x')
    expect([leidas.length, averiguadas.length]).toEqual([2, 2])
  })

  it('may become good', async () => {
    const { tabla, contestar, request, recordadas, pasar } = conTabla()
    void request('x')
    await contestar()
    tabla.set('x', 'row of x')
    await pasar(500)
    const one = request('x')
    await contestar()
    expect([await one, recordadas.knows('x')]).toEqual(['row of x', true])
  })
})

describe('while the database is away', () => {
  const FUERA = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

  it('believes a good text for as long as it is told, and no other', async () => {
    const tiempo = crearTiempo()
    let away = false
    const recordadas = new RowCache<string>(
      tiempo.ahora,
      (text) => async () => {
        if (away) throw FUERA
        return text === 'good' ? 'its row' : undefined
      },
      10_000,
      tiempo.retrasar,
    )
    const request = (text: string) => recordadas.leer(text, (read) => read())
    expect(await request('good')).toBe('its row')
    away = true
    for (let s = 1; s <= 9; s++) {
      await tiempo.pasar(1_000)
      expect([s, await request('good')]).toEqual([s, 'its row'])
      await expect(request('unknown')).rejects.toThrow(FUERA)
    }
    await tiempo.pasar(1_500)
    await expect(request('good')).rejects.toThrow(FUERA)
    away = false
    expect(await request('good')).toBe('its row')
  })

  it('believes nothing that was read and refused, nor for a fault of another kind', async () => {
    const tiempo = crearTiempo()
    let answer: () => string | undefined = () => 'its row'
    const recordadas = new RowCache<string>(tiempo.ahora, () => async () => answer(), 10_000, tiempo.retrasar)
    const request = () => recordadas.leer('good', (read) => read())
    expect(await request()).toBe('its row')
    answer = () => {
      throw new Error('a bug')
    }
    await tiempo.pasar(3_000)
    await expect(request()).rejects.toThrow('a bug')
    answer = () => undefined
    expect(await request()).toBeUndefined()
    answer = () => {
      throw FUERA
    }
    await tiempo.pasar(1_000)
    await expect(request()).rejects.toThrow(FUERA)
  })
})
