import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../server/platform/log.ts'
import { ThreadPool } from '../../server/platform/threads/threads.ts'
import { useDeadlines } from '../deadlines.ts'
import { hasta } from '../factories.ts'
import type { TestTasks } from './tasks.ts'

/** Longest duration of a task, in milliseconds, that passes when a test says so. */
const DEADLINE = 60_000
const deadlines = useDeadlines(DEADLINE)

let abiertos: ThreadPool<TestTasks>[] = []
let lineas: string[] = []

/** A pool of one thread that is patient, unless it is told otherwise. */
function abrir(reglas: Partial<ConstructorParameters<typeof ThreadPool>[1]> = {}): ThreadPool<TestTasks> {
  lineas = []
  const hilos = new ThreadPool<TestTasks>(createLog('warn', { write: (linea) => lineas.push(linea) }), {
    moduleUrl: new URL('tasks.ts', import.meta.url),
    count: 1,
    waiting: 10,
    patience: 120_000,
    timeout: 120_000,
    idleMs: 120_000,
    ...reglas,
  })
  abiertos.push(hilos)
  return hilos
}

const nuevaPuerta = () => new Int32Array(new SharedArrayBuffer(8))
const abrirPuerta = (puerta: Int32Array) => {
  Atomics.store(puerta, 0, 1)
  Atomics.notify(puerta, 0)
}
const ocupado = { codigo: 'no_disponible', details: { cabeceras: { 'Retry-After': '2' } } }

afterEach(async () => {
  for (const hilos of abiertos) await hilos.stop()
  abiertos = []
})

describe('threads', () => {
  it('give what their tasks make, and throw what these throw', async () => {
    const hilos = abrir()
    const bytes = await hilos.run('a', 'eco', 'ñandú')
    expect([Buffer.isBuffer(bytes), bytes.toString()]).toEqual([true, 'ñandú'])
    await expect(hilos.run('a', 'fail', 'así no')).rejects.toThrow(new RangeError('así no'))
    // What can't be told to a thread fails alone.
    await expect(hilos.run('a', 'eco', (() => {}) as unknown as string)).rejects.toThrow(/could not be cloned/)
    expect((await hilos.run('a', 'eco', 'sigue')).toString()).toBe('sigue')
    expect(lineas).toEqual([])
  })

  it('work side by side, as many as there may be', async () => {
    const hilos = abrir({ count: 2 })
    const puerta = nuevaPuerta()
    const primera = hilos.run('a', 'echoAfterDoor', { door: puerta, texto: 'primera' })
    expect((await hilos.run('a', 'eco', 'segunda')).toString()).toBe('segunda')
    abrirPuerta(puerta)
    expect((await primera).toString()).toBe('primera')
  })

  it.each([
    ['ends itself', 'die'],
    ['runs out of memory', 'exhaustMemory'],
  ] as const)('a thread that %s is replaced: its task fails, those that wait are done', async (_como, tarea) => {
    const hilos = abrir()
    const mala = hilos.run('a', tarea, undefined as never)
    const buena = hilos.run('a', 'eco', 'buena')
    await expect(mala).rejects.toMatchObject(ocupado)
    expect((await buena).toString()).toBe('buena')
    expect(lineas.map((linea) => JSON.parse(linea))).toEqual([
      expect.objectContaining({ msg: 'thread lost', task: tarea }),
    ])
  })

  it('a thread that never ends is replaced at the deadline: its task fails, those that wait are done', async () => {
    const hilos = abrir({ timeout: DEADLINE })
    const puerta = nuevaPuerta()
    const mala = hilos.run('a', 'hang', puerta)
    const buena = hilos.run('a', 'eco', 'buena')
    await hasta(async () => Atomics.load(puerta, 1) === 1)
    deadlines.vencer()
    await expect(mala).rejects.toMatchObject(ocupado)
    expect((await buena).toString()).toBe('buena')
    expect(lineas.join('')).toContain('thread lost')
  })

  it('a module that can’t be loaded fails each task, and hangs none', async () => {
    const hilos = abrir({ moduleUrl: new URL('no-hay.ts', import.meta.url) })
    for (const texto of ['una', 'otra']) await expect(hilos.run('a', 'eco', texto)).rejects.toMatchObject(ocupado)
    expect(lineas.join('')).toContain('no-hay.ts')
  })

  it('a thread without work is kept for a while, and then another is started for the next task', async () => {
    const quien = async (hilos: ThreadPool<TestTasks>) => String(await hilos.run('a', 'quien', undefined as never))
    const hilos = abrir()
    expect(await quien(hilos)).toBe(await quien(hilos))
    const breves = abrir({ idleMs: 1 })
    const primera = await quien(breves)
    await hasta(async () => (await quien(breves)) !== primera)
  })

  it('a stop ends what is under way and what waits, and nothing begins after it', async () => {
    const hilos = abrir()
    const todas = [hilos.run('a', 'hang', undefined as never), hilos.run('b', 'eco', 'espera')]
    const fines = Promise.allSettled(todas)
    await hilos.stop()
    for (const fin of await fines) expect(fin).toMatchObject({ status: 'rejected', reason: ocupado })
    await expect(hilos.run('a', 'eco', 'tarde')).rejects.toMatchObject(ocupado)
    expect(lineas).toEqual([])
  })
})

describe('a request that waits for a thread', () => {
  it('gets it in turn with the other owners, however much one of them asks for', async () => {
    const hilos = abrir()
    const puerta = nuevaPuerta()
    const orden: string[] = []
    const pedir = (dueno: string, texto: string) =>
      hilos.run(dueno, 'eco', texto).then((bytes) => orden.push(bytes.toString()))
    const primera = hilos.run('a', 'echoAfterDoor', { door: puerta, texto: 'primera' })
    const todas = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((texto) => pedir(texto[0]!, texto))
    abrirPuerta(puerta)
    await Promise.all([primera, ...todas])
    expect(orden).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('is told to come back where too many wait: of the owner with most of them, the last', async () => {
    const hilos = abrir({ waiting: 3 })
    const puerta = nuevaPuerta()
    const primera = hilos.run('a', 'echoAfterDoor', { door: puerta, texto: 'primera' })
    const deA = ['a1', 'a2', 'a3', 'a4'].map((texto) => hilos.run('a', 'eco', texto))
    await expect(deA[3]).rejects.toMatchObject(ocupado)
    const deB = hilos.run('b', 'eco', 'b1')
    await expect(deA[2]).rejects.toMatchObject(ocupado)
    abrirPuerta(puerta)
    expect((await Promise.all([primera, deA[0], deA[1], deB])).map(String)).toEqual(['primera', 'a1', 'a2', 'b1'])
  })

  it('is told to come back when its patience ends', async () => {
    const hilos = abrir({ patience: 50 })
    const puerta = nuevaPuerta()
    const primera = hilos.run('a', 'echoAfterDoor', { door: puerta, texto: 'primera' })
    await expect(hilos.run('b', 'eco', 'tarde')).rejects.toMatchObject(ocupado)
    abrirPuerta(puerta)
    // Whose turn has come is no longer waiting.
    expect((await primera).toString()).toBe('primera')
  })

  it('gives up its place when nobody wants it any more', async () => {
    const hilos = abrir({ waiting: 1 })
    const puerta = nuevaPuerta()
    const control = new AbortController()
    const primera = hilos.run('a', 'echoAfterDoor', { door: puerta, texto: 'primera' })
    const dejada = hilos.run('a', 'eco', 'dejada', control.signal)
    control.abort()
    await expect(dejada).rejects.toMatchObject(ocupado)
    const otra = hilos.run('a', 'eco', 'otra')
    abrirPuerta(puerta)
    expect((await Promise.all([primera, otra])).map(String)).toEqual(['primera', 'otra'])
    await expect(hilos.run('a', 'eco', 'ya no', control.signal)).rejects.toMatchObject(ocupado)
  })

  it('stops its task when nobody wants it any more', async () => {
    const hilos = abrir()
    const puerta = nuevaPuerta()
    const control = new AbortController()
    const dejada = hilos.run('a', 'runUntilAbandoned', puerta, control.signal)
    await hasta(async () => Atomics.load(puerta, 1) === 1)
    control.abort()
    await expect(dejada).rejects.toMatchObject(ocupado)
    expect((await hilos.run('b', 'eco', 'otra')).toString()).toBe('otra')
    expect(Atomics.load(puerta, 0)).toBe(1)
  })
})
