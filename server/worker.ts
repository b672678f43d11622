import { runProcess } from './startup/process.ts'

/** Starts a process that runs only workers. Any number of these processes may work on the API's database. */
await runProcess(async () => (await import('./startup/workerProcess.ts')).startWorkerProcess)
