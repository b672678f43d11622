import { correr } from './arranque/proceso.ts'

/** Starts a process that runs only workers. Any number of these processes may work on the API's database. */
await correr(async () => (await import('./arranque/worker.ts')).iniciarWorker)
