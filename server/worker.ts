import { correr } from './startup/process.ts'

/** Starts a process that runs only workers. Any number of these processes may work on the API's database. */
await correr(async () => (await import('./startup/workerProcess.ts')).iniciarWorker)
