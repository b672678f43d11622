import { setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'

/**
 * Tasks of a thread. Each task takes plain data, returns bytes, and stops when the signal says that no request waits
 * for the bytes.
 */
export type ThreadTasks = { readonly [task: string]: (datos: never, signal: AbortSignal) => Promise<Uint8Array> }

/** Message to a thread: a task with its data, or `dejarlo` to abort the current task. */
export type ThreadOrder = { task: string; datos: unknown } | 'dejarlo'

/** Answer of a thread to each task. */
export type TaskResult = { bytes: Uint8Array } | { error: unknown }

/** Nice value of a thread (Linux). On a busy processor, a thread gets a third of the event loop's share. */
const NICE_PRIORITY = 5

/** Executes the tasks that the pool (`threads.ts`) sends, one at a time. Must run in a thread. */
export function serveTasks(tasks: ThreadTasks): void {
  // On other systems, setting the priority would affect the whole process.
  if (process.platform === 'linux') setPriority(NICE_PRIORITY)
  let current: AbortController | undefined
  parentPort!.on('message', async (order: ThreadOrder) => {
    if (order === 'dejarlo') return current?.abort()
    current = new AbortController()
    let taskResult: TaskResult
    try {
      taskResult = { bytes: await tasks[order.task]!(order.datos as never, current.signal) }
    } catch (error) {
      taskResult = { error }
    }
    current = undefined
    parentPort!.postMessage(taskResult)
  })
}
