import { correr } from './proceso.ts'

/** Workers alone: any number of these processes, over the API's database. */
await correr(async () => (await import('./obrero.ts')).iniciarObrero)
