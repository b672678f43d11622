import { runProcess } from './startup/process.ts'

/**
 * Starts the API's process. Its workers run in it, too, unless `WORKERS=0`. With `API_PROCESSES`, this process is the
 * primary process of several API processes, each of which also starts here.
 */
await runProcess(async ({ apiProcesses }, isOneOfMany) =>
  apiProcesses !== undefined && !isOneOfMany
    ? (await import('./startup/processes/start.ts')).startProcesses
    : (await import('./startup/service.ts')).startService,
)
