import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/** What threads can do: each takes plain data, gives bytes, and stops when the signal says that nobody waits for them. */
export type Tareas = { readonly [tarea: string]: (datos: never, senal: AbortSignal) => Promise<Uint8Array> }

/** What a thread is asked for: a task with its data, or to leave the one that it is at. */
export type Encargo = { tarea: string; datos: unknown } | 'dejarlo'

/** What a thread answers to each task. */
export type Hecho = { bytes: Uint8Array } | { error: unknown }

/** How much less of a busy processor a thread gets than the event loop: a third (Linux's nice value). */
const AMABLE = 5

/** Serves, in a thread, what the thread's pool (`hilos.ts`) asks for, one task at a time. */
export function atender(tareas: Tareas): void {
  // Elsewhere it would be the whole process's.
  if (process.platform === 'linux') setPriority(AMABLE)
  let actual: AbortController | undefined
  parentPort!.on('message', async (encargo: Encargo) => {
    if (encargo === 'dejarlo') return actual?.abort()
    actual = new AbortController()
    let hecho: Hecho
    try {
      hecho = { bytes: await tareas[encargo.tarea]!(encargo.datos as never, actual.signal) }
    } catch (error) {
      hecho = { error }
    }
    actual = undefined
    parentPort!.postMessage(hecho)
  })
}
