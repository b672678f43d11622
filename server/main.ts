import { correr } from './arranque/proceso.ts'

/** The API's process; its workers run in it, too, unless `WORKERS=0`. */
await correr(async () => (await import('./arranque/servicio.ts')).iniciarServicio)
