import { describe, expect, it } from 'vitest'
import { RowCache } from '../../server/domain/llaves/cachedLlaves.ts'

/**
 * A clock and delays that pass only when a test says so. Fake timers of the whole process would also stop the service
 * that other test files of the worker share, and count its timers.
 */
function crearTiempo() {
  let ahora = 0
  const citas = new Set<{ en: number; perform: () => void }>()
  return {
    ahora: () => ahora,
    retrasar: (hacer: () => void, ms: number) => void citas.add({ en: ahora + ms, perform: hacer }),
    /** Number of delays that have not passed yet. */
    citas: () => citas.size,
    /** Moves the clock, and lets everything happen that follows from it. */
    async pasar(ms: number) {
      const fin = ahora + ms
      for (;;) {
        await new Promise((resolve) => setImmediate(resolve))
        const [proxima] = [...citas].filter(({ en }) => en <= fin).sort((una, otra) => una.en - otra.en)
        if (!proxima) break
        citas.delete(proxima)
        ahora = proxima.en
        proxima.perform()
      }
      ahora = fin
    },
  }
}

/** A table of good texts, whose readings end when they are told to. */
function conTabla(...buenos: string[]) {
  const tiempo = crearTiempo()
  const tabla = new Map(buenos.map((texto) => [texto, `row of ${texto}`]))
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
    enCurso = enCurso.filter((una) => !cuales.includes(una))
    for (const { texto, fin } of cuales) error ? fin.reject(error) : fin.resolve(tabla.get(texto))
    await tiempo.pasar(0)
  }
  const averiguadas: string[] = []
  const pedir = (texto: string) =>
    recordadas.leer(texto, (leer) => {
      averiguadas.push(texto)
      return leer()
    })!
  /** What a request gets at once. */
  const alPunto = async (texto: string) => {
    const nada = Symbol('it waits')
    const dicho = await Promise.race([pedir(texto), tiempo.pasar(0).then(() => nada)])
    return dicho === nada ? 'waits' : dicho
  }
  const hay = () => [...enCurso]
  const pedidas = (texto: string) => usos.filter((uso) => uso === texto).length
  return {
    tabla,
    leidas,
    pedidas,
    averiguadas,
    recordadas,
    contestar,
    request: pedir,
    alPunto,
    exists: hay,
    pasar: tiempo.pasar,
    citas: tiempo.citas,
  }
}

describe('a credential that is in use', () => {
  it('is read anew with all others in use, 400 ms after the last time, and no request waits for that', async () => {
    const { contestar, request: pedir, alPunto, leidas, pasar } = conTabla('a', 'b')
    for (const texto of ['a', 'b']) void pedir(texto)
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
    const { tabla, contestar, request: pedir, alPunto, leidas, pasar } = conTabla('a')
    void pedir('a')
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
    const una = pedir('a')
    await contestar()
    expect([await una, leidas.length]).toEqual([undefined, 2])
  })

  it('ends with the round that finds it revoked', async () => {
    const { tabla, contestar, request: pedir, alPunto, recordadas, pasar } = conTabla('a')
    void pedir('a')
    await contestar()
    await alPunto('a')
    tabla.delete('a')
    await pasar(400)
    await contestar()
    expect([await alPunto('a'), recordadas.knows('a')]).toEqual([undefined, false])
  })

  it('goes on for as long as it is believed while rounds fail, and is then read by requests, which are told', async () => {
    const { contestar, request: pedir, alPunto, leidas, recordadas, pasar } = conTabla('a')
    void pedir('a')
    await contestar()
    await alPunto('a')
    await pasar(400)
    await contestar(new Error('the database is away'))
    await pasar(99)
    expect(await alPunto('a')).toBe('row of a')
    await pasar(1)
    const una = pedir('a')
    const otra = expect(pedir('a')).rejects.toThrow('away')
    expect(leidas).toHaveLength(3)
    await Promise.all([expect(una).rejects.toThrow('away'), contestar(new Error('the database is away')), otra])
    // It is still a good one's, which strangers can't hold up, and it is read at the next request.
    expect(recordadas.knows('a')).toBe(true)
    const luego = pedir('a')
    await contestar()
    expect(await luego).toBe('row of a')
  })

  it('waits for the next round when it was read less than 100 ms before one', async () => {
    const { contestar, request: pedir, alPunto, leidas, pasar } = conTabla('a', 'b')
    void pedir('a')
    await contestar()
    await alPunto('a')
    await pasar(301)
    void pedir('b')
    await contestar()
    await alPunto('b')
    await pasar(99)
    expect(leidas.slice(2)).toEqual(['a'])
    await pasar(400)
    expect(leidas.slice(3)).toEqual(['b'])
    expect(await alPunto('b')).toBe('row of b')
  })

  it('is what was read last, though an earlier reading ends later', async () => {
    const { tabla, contestar, request: pedir, alPunto, exists: hay, pasar } = conTabla('a')
    void pedir('a')
    await contestar()
    await alPunto('a')
    await pasar(900)
    const [lenta] = hay()
    const una = pedir('a')
    const [, pronta] = hay()
    tabla.delete('a')
    await contestar(undefined, [pronta!])
    tabla.set('a', 'row of a')
    await contestar(undefined, [lenta!])
    expect([await una, await alPunto('a')]).toEqual([undefined, undefined])
  })

  it('is in the rounds again after one that failed', async () => {
    const { contestar, request: pedir, alPunto, leidas, pasar } = conTabla('a')
    void pedir('a')
    await contestar()
    await alPunto('a')
    await pasar(400)
    await contestar(new Error('once'))
    await alPunto('a')
    await pasar(400)
    expect(leidas).toHaveLength(3)
  })

  it('is read for two seconds after it was asked for, and then no longer', async () => {
    const { contestar, request: pedir, alPunto, leidas, pedidas, pasar, citas } = conTabla('a', 'b')
    for (const texto of ['a', 'b']) void pedir(texto)
    await contestar()
    for (let ronda = 0; ronda < 100; ronda++) {
      if (ronda === 3) expect(await alPunto('b')).toBe('row of b')
      await pasar(400)
      await contestar()
    }
    const de = (texto: string) => leidas.filter((leida) => leida === texto).length
    expect([de('a'), de('b'), citas()]).toEqual([1 + 4, 1 + 8, 0])
    // Once by itself, and once since it was read.
    expect([pedidas('a'), pedidas('b')]).toEqual([1, 2])
  })
})

describe('a text that stands for nothing', () => {
  it('is looked up as strangers are, at most once in 500 ms, and never in a round', async () => {
    const { contestar, request: pedir, alPunto, averiguadas, leidas, pasar } = conTabla()
    void pedir('x')
    await contestar()
    for (let ms = 0; ms < 490; ms += 70) {
      expect(await alPunto('x')).toBe(undefined)
      await pasar(70)
    }
    expect([leidas, averiguadas]).toEqual([['x'], ['x']])
    await pasar(10)
    void pedir('x')
    expect([leidas.length, averiguadas.length]).toEqual([2, 2])
  })

  it('may become good', async () => {
    const { tabla, contestar, request: pedir, recordadas, pasar } = conTabla()
    void pedir('x')
    await contestar()
    tabla.set('x', 'row of x')
    await pasar(500)
    const una = pedir('x')
    await contestar()
    expect([await una, recordadas.knows('x')]).toEqual(['row of x', true])
  })
})

describe('while the database is away', () => {
  const FUERA = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })

  it('believes a good text for as long as it is told, and no other', async () => {
    const tiempo = crearTiempo()
    let away = false
    const recordadas = new RowCache<string>(
      tiempo.ahora,
      (texto) => async () => {
        if (away) throw FUERA
        return texto === 'good' ? 'its row' : undefined
      },
      10_000,
      tiempo.retrasar,
    )
    const pedir = (texto: string) => recordadas.leer(texto, (leer) => leer())
    expect(await pedir('good')).toBe('its row')
    away = true
    for (let s = 1; s <= 9; s++) {
      await tiempo.pasar(1_000)
      expect([s, await pedir('good')]).toEqual([s, 'its row'])
      await expect(pedir('unknown')).rejects.toThrow(FUERA)
    }
    await tiempo.pasar(1_500)
    await expect(pedir('good')).rejects.toThrow(FUERA)
    away = false
    expect(await pedir('good')).toBe('its row')
  })

  it('believes nothing that was read and refused, nor for a fault of another kind', async () => {
    const tiempo = crearTiempo()
    let answer: () => string | undefined = () => 'its row'
    const recordadas = new RowCache<string>(tiempo.ahora, () => async () => answer(), 10_000, tiempo.retrasar)
    const pedir = () => recordadas.leer('good', (leer) => leer())
    expect(await pedir()).toBe('its row')
    answer = () => {
      throw new Error('a bug')
    }
    await tiempo.pasar(3_000)
    await expect(pedir()).rejects.toThrow('a bug')
    answer = () => undefined
    expect(await pedir()).toBeUndefined()
    answer = () => {
      throw FUERA
    }
    await tiempo.pasar(1_000)
    await expect(pedir()).rejects.toThrow(FUERA)
  })
})
