import { threadId } from 'node:worker_threads'
import { serveTasks } from '../../server/platform/threads/serve.ts'

/** What a test's thread does; a door is an Int32Array over shared memory that the test opens. */
const TASKS = {
  quien: async () => Buffer.from(`${threadId}`),
  eco: async (text: string) => Buffer.from(text),
  /** Does nothing until its door is opened, and then what `eco` does. */
  echoAfterDoor: async ({ door, texto: text }: { door: Int32Array; texto: string }) => {
    Atomics.wait(door, 0, 0)
    return Buffer.from(text)
  },
  /** Says in its door that it has begun. Never ends, and never lets anything else of its thread run. */
  hang: async (door: Int32Array) => {
    Atomics.store(door, 1, 1)
    for (;;);
  },
  die: async () => process.exit(7),
  /** Takes all the memory that it gets. */
  exhaustMemory: async () => {
    const allocations: unknown[] = []
    for (;;) allocations.push(Array(100_000).fill(allocations.length))
  },
  fail: async (mensaje: string): Promise<Buffer> => {
    throw new RangeError(mensaje)
  },
  /** Ends when nobody waits for it any more, and tells so by opening the door. */
  runUntilAbandoned: async (door: Int32Array, signal: AbortSignal) => {
    Atomics.store(door, 1, 1)
    while (!signal.aborted) await new Promise(setImmediate)
    Atomics.store(door, 0, 1)
    return Buffer.alloc(0)
  },
}

export type TestTasks = typeof TASKS

serveTasks(TASKS)
