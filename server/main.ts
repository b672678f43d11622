import { correr } from './arranque/proceso.ts'

/**
 * Starts the API's process. Its workers run in it, too, unless `WORKERS=0`. With `API_PROCESSES`, this process is the
 * primary process of several API processes, each of which also starts here.
 */
await correr(async ({ procesosDeApi }, deVarios) =>
  procesosDeApi !== undefined && !deVarios
    ? (await import('./arranque/procesos/iniciar.ts')).iniciarProcesos
    : (await import('./arranque/servicio.ts')).iniciarServicio,
)
