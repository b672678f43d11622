// Entry of a thread that makes documents.

import { TAREAS } from '../domain/threadTasks.ts'
import { atender } from '../platform/threads/serve.ts'

atender(TAREAS)
