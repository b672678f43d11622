import { correr } from './arranque/proceso.ts'

/**
 * The API's process; its workers run in it, too, unless `WORKERS=0`. With `API_PROCESSES` it looks after so many of them, each
 * of which begins here as well.
 */
await correr(async ({ procesosDeApi }, deVarios) =>
  procesosDeApi !== undefined && !deVarios
    ? (await import('./arranque/procesos/iniciar.ts')).iniciarProcesos
    : (await import('./arranque/servicio.ts')).iniciarServicio,
)
