import type { Express } from 'express'
import type { Deps } from '../deps.ts'
import { crearSolicitudes } from '../ubicacion/solicitud.ts'
import { servirArchivos } from './archivos.ts'
import { servirBuzon } from './buzon/ruta.ts'
import { servirConsola } from './consola/ruta.ts'
import { servirDocumentacion } from './docs/ruta.ts'
import { Fachada } from './fachada.ts'
import { servirInicio } from './inicio/ruta.ts'
import { crearLecturaDeEnvios } from './rastreo/envio.ts'
import { servirRastreo } from './rastreo/ruta.ts'
import { servirRepartidor } from './repartidor/ruta.ts'
import { servirContactoDeSeguridad } from './seguridad.ts'
import { servirUbicacion } from './ubicacion/ruta.ts'
import { servirVerificacion } from './verificar/ruta.ts'

/** Options of the pages that the composition root sets. */
export interface OpcionesDePaginas {
  /** True to serve the local mailbox, for trying the service out. */
  buzon: boolean
}

/**
 * Serves everything that people see, besides the contract's operations.
 * @returns the brand as the pages show it
 */
export function servirPaginas(app: Express, deps: Deps, { buzon }: OpcionesDePaginas): Fachada {
  const fachada = new Fachada(deps.ajustes.marca, deps.ajustes.urlPublica)
  servirDocumentacion(app, fachada, deps.ajustes.urlPublica)
  servirArchivos(app, fachada.archivos)
  servirInicio(app, fachada)
  servirConsola(app, fachada)
  const { mosaicos, retencionDeUbicaciones: retencion } = deps.ajustes
  servirUbicacion(app, { fachada, solicitudes: crearSolicitudes(deps), mosaicos, retencion })
  servirRepartidor(app, fachada, deps.ajustes.retencionDePruebas)
  servirRastreo(app, { fachada, leer: crearLecturaDeEnvios(deps) })
  servirVerificacion(app, fachada, deps)
  servirContactoDeSeguridad(app, deps)
  if (buzon) servirBuzon(app, fachada, deps)
  return fachada
}
