import { correr } from './arranque/proceso.ts'

/** Workers alone: any number of these processes, over the API's database. */
await correr(async () => (await import('./arranque/worker.ts')).iniciarWorker)
