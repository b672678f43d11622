import { threadId } from 'node:worker_threads'
import { serveTasks } from '../../server/platform/threads/serve.ts'

/** What a test's thread does; a door is an Int32Array over shared memory that the test opens. */
const TAREAS = {
  quien: async () => Buffer.from(`${threadId}`),
  eco: async (texto: string) => Buffer.from(texto),
  /** Does nothing until its door is opened, and then what `eco` does. */
  tras: async ({ door: puerta, texto }: { door: Int32Array; texto: string }) => {
    Atomics.wait(puerta, 0, 0)
    return Buffer.from(texto)
  },
  /** Says in its door that it has begun. Never ends, and never lets anything else of its thread run. */
  colgarse: async (puerta: Int32Array) => {
    Atomics.store(puerta, 1, 1)
    for (;;);
  },
  morir: async () => process.exit(7),
  /** Takes all the memory that it gets. */
  hincharse: async () => {
    const allocations: unknown[] = []
    for (;;) allocations.push(Array(100_000).fill(allocations.length))
  },
  fallar: async (mensaje: string): Promise<Buffer> => {
    throw new RangeError(mensaje)
  },
  /** Ends when nobody waits for it any more, and tells so by opening the door. */
  hastaQueLoDejen: async (puerta: Int32Array, senal: AbortSignal) => {
    Atomics.store(puerta, 1, 1)
    while (!senal.aborted) await new Promise(setImmediate)
    Atomics.store(puerta, 0, 1)
    return Buffer.alloc(0)
  },
}

export type TestTasks = typeof TAREAS

serveTasks(TAREAS)
