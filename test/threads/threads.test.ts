import { afterEach, describe, expect, it } from 'vitest'
import { createLog } from '../../server/platform/log.ts'
import { ThreadPool } from '../../server/platform/threads/threads.ts'
import { useDeadlines } from '../deadlines.ts'
import { waitUntil } from '../factories.ts'
import type { TestTasks } from './tasks.ts'

/** Longest duration of a task, in milliseconds, that passes when a test says so. */
const DEADLINE = 60_000
const deadlines = useDeadlines(DEADLINE)

let openResources: ThreadPool<TestTasks>[] = []
let lines: string[] = []

/** A pool of one thread that is patient, unless it is told otherwise. */
function open(rules: Partial<ConstructorParameters<typeof ThreadPool>[1]> = {}): ThreadPool<TestTasks> {
  lines = []
  const threads = new ThreadPool<TestTasks>(createLog('warn', { write: (line) => lines.push(line) }), {
    moduleUrl: new URL('tasks.ts', import.meta.url),
    count: 1,
    waiting: 10,
    patience: 120_000,
    timeout: 120_000,
    idleMs: 120_000,
    ...rules,
  })
  openResources.push(threads)
  return threads
}

const createDoor = () => new Int32Array(new SharedArrayBuffer(8))
const openDoor = (door: Int32Array) => {
  Atomics.store(door, 0, 1)
  Atomics.notify(door, 0)
}
const ocupado = { codigo: 'no_disponible', details: { headers: { 'Retry-After': '2' } } }

afterEach(async () => {
  for (const threads of openResources) await threads.stop()
  openResources = []
})

describe('threads', () => {
  it('give what their tasks make, and throw what these throw', async () => {
    const threads = open()
    const bytes = await threads.run('a', 'eco', 'ñandú')
    expect([Buffer.isBuffer(bytes), bytes.toString()]).toEqual([true, 'ñandú'])
    await expect(threads.run('a', 'fail', 'así no')).rejects.toThrow(new RangeError('así no'))
    // What can't be told to a thread fails alone.
    await expect(threads.run('a', 'eco', (() => {}) as unknown as string)).rejects.toThrow(/could not be cloned/)
    expect((await threads.run('a', 'eco', 'sigue')).toString()).toBe('sigue')
    expect(lines).toEqual([])
  })

  it('work side by side, as many as there may be', async () => {
    const threads = open({ count: 2 })
    const door = createDoor()
    const first = threads.run('a', 'echoAfterDoor', { door, texto: 'primera' })
    expect((await threads.run('a', 'eco', 'segunda')).toString()).toBe('segunda')
    openDoor(door)
    expect((await first).toString()).toBe('primera')
  })

  it.each([
    ['ends itself', 'die'],
    ['runs out of memory', 'exhaustMemory'],
  ] as const)('a thread that %s is replaced: its task fails, those that wait are done', async (_manner, task) => {
    const threads = open()
    const bad = threads.run('a', task, undefined as never)
    const good = threads.run('a', 'eco', 'buena')
    await expect(bad).rejects.toMatchObject(ocupado)
    expect((await good).toString()).toBe('buena')
    expect(lines.map((line) => JSON.parse(line))).toEqual([expect.objectContaining({ msg: 'thread lost', task })])
  })

  it('a thread that never ends is replaced at the deadline: its task fails, those that wait are done', async () => {
    const threads = open({ timeout: DEADLINE })
    const door = createDoor()
    const bad = threads.run('a', 'hang', door)
    const good = threads.run('a', 'eco', 'buena')
    await waitUntil(async () => Atomics.load(door, 1) === 1)
    deadlines.expireAll()
    await expect(bad).rejects.toMatchObject(ocupado)
    expect((await good).toString()).toBe('buena')
    expect(lines.join('')).toContain('thread lost')
  })

  it('a module that can’t be loaded fails each task, and hangs none', async () => {
    const threads = open({ moduleUrl: new URL('no-hay.ts', import.meta.url) })
    for (const text of ['una', 'otra']) await expect(threads.run('a', 'eco', text)).rejects.toMatchObject(ocupado)
    expect(lines.join('')).toContain('no-hay.ts')
  })

  it('a thread without work is kept for a while, and then another is started for the next task', async () => {
    const caller = async (threads: ThreadPool<TestTasks>) => String(await threads.run('a', 'quien', undefined as never))
    const threads = open()
    expect(await caller(threads)).toBe(await caller(threads))
    const breves = open({ idleMs: 1 })
    const first = await caller(breves)
    await waitUntil(async () => (await caller(breves)) !== first)
  })

  it('a stop ends what is under way and what waits, and nothing begins after it', async () => {
    const threads = open()
    const all = [threads.run('a', 'hang', undefined as never), threads.run('b', 'eco', 'espera')]
    const fines = Promise.allSettled(all)
    await threads.stop()
    for (const end of await fines) expect(end).toMatchObject({ status: 'rejected', reason: ocupado })
    await expect(threads.run('a', 'eco', 'tarde')).rejects.toMatchObject(ocupado)
    expect(lines).toEqual([])
  })
})

describe('a request that waits for a thread', () => {
  it('gets it in turn with the other owners, however much one of them asks for', async () => {
    const threads = open()
    const door = createDoor()
    const command: string[] = []
    const request = (owner: string, text: string) =>
      threads.run(owner, 'eco', text).then((bytes) => command.push(bytes.toString()))
    const first = threads.run('a', 'echoAfterDoor', { door, texto: 'primera' })
    const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map((text) => request(text[0]!, text))
    openDoor(door)
    await Promise.all([first, ...all])
    expect(command).toEqual(['a1', 'b1', 'c1', 'a2', 'b2', 'a3', 'a4'])
  })

  it('is told to come back where too many wait: of the owner with most of them, the last', async () => {
    const threads = open({ waiting: 3 })
    const door = createDoor()
    const first = threads.run('a', 'echoAfterDoor', { door, texto: 'primera' })
    const ofA = ['a1', 'a2', 'a3', 'a4'].map((text) => threads.run('a', 'eco', text))
    await expect(ofA[3]).rejects.toMatchObject(ocupado)
    const ofB = threads.run('b', 'eco', 'b1')
    await expect(ofA[2]).rejects.toMatchObject(ocupado)
    openDoor(door)
    expect((await Promise.all([first, ofA[0], ofA[1], ofB])).map(String)).toEqual(['primera', 'a1', 'a2', 'b1'])
  })

  it('is told to come back when its patience ends', async () => {
    const threads = open({ patience: 50 })
    const door = createDoor()
    const first = threads.run('a', 'echoAfterDoor', { door, texto: 'primera' })
    await expect(threads.run('b', 'eco', 'tarde')).rejects.toMatchObject(ocupado)
    openDoor(door)
    // Whose turn has come is no longer waiting.
    expect((await first).toString()).toBe('primera')
  })

  it('gives up its place when nobody wants it any more', async () => {
    const threads = open({ waiting: 1 })
    const door = createDoor()
    const control = new AbortController()
    const first = threads.run('a', 'echoAfterDoor', { door, texto: 'primera' })
    const abandonedTask = threads.run('a', 'eco', 'dejada', control.signal)
    control.abort()
    await expect(abandonedTask).rejects.toMatchObject(ocupado)
    const other = threads.run('a', 'eco', 'otra')
    openDoor(door)
    expect((await Promise.all([first, other])).map(String)).toEqual(['primera', 'otra'])
    await expect(threads.run('a', 'eco', 'ya no', control.signal)).rejects.toMatchObject(ocupado)
  })

  it('stops its task when nobody wants it any more', async () => {
    const threads = open()
    const door = createDoor()
    const control = new AbortController()
    const abandonedTask = threads.run('a', 'runUntilAbandoned', door, control.signal)
    await waitUntil(async () => Atomics.load(door, 1) === 1)
    control.abort()
    await expect(abandonedTask).rejects.toMatchObject(ocupado)
    expect((await threads.run('b', 'eco', 'otra')).toString()).toBe('otra')
    expect(Atomics.load(door, 0)).toBe(1)
  })
})
