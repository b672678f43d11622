// Entry of a thread that makes documents.

import { THREAD_TASKS } from '../domain/threadTasks.ts'
import { serveTasks } from '../platform/threads/serve.ts'

serveTasks(THREAD_TASKS)
