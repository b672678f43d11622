import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/**
 * Tasks of a thread. Each task takes plain data, returns bytes, and stops when the signal says that no request waits
 * for the bytes.
 */
export type ThreadTasks = { readonly [tarea: string]: (datos: never, senal: AbortSignal) => Promise<Uint8Array> }

/** Message to a thread: a task with its data, or `dejarlo` to abort the current task. */
export type ThreadOrder = { tarea: string; datos: unknown } | 'dejarlo'

/** Answer of a thread to each task. */
export type TaskResult = { bytes: Uint8Array } | { error: unknown }

/** Nice value of a thread (Linux). On a busy processor, a thread gets a third of the event loop's share. */
const AMABLE = 5

/** Executes the tasks that the pool (`threads.ts`) sends, one at a time. Must run in a thread. */
export function serveTasks(tareas: ThreadTasks): void {
  // On other systems, setting the priority would affect the whole process.
  if (process.platform === 'linux') setPriority(AMABLE)
  let actual: AbortController | undefined
  parentPort!.on('message', async (encargo: ThreadOrder) => {
    if (encargo === 'dejarlo') return actual?.abort()
    actual = new AbortController()
    let hecho: TaskResult
    try {
      hecho = { bytes: await tareas[encargo.tarea]!(encargo.datos as never, actual.signal) }
    } catch (error) {
      hecho = { error }
    }
    actual = undefined
    parentPort!.postMessage(hecho)
  })
}
