import { correr } from './proceso.ts'

/** The API's process; its workers run in it, too, unless `WORKERS=0`. */
await correr(async () => (await import('./servicio.ts')).iniciarServicio)
