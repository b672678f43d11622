import type { Express } from 'express'
import type { Deps } from '../domain/deps.ts'
import { crearDecisiones } from '../domain/resoluciones/decidir.ts'
import { crearSolicitudes } from '../domain/ubicacion/solicitud.ts'
import { serveAssets } from './assets.ts'
import { servirBuzon } from './buzon/route.ts'
import { servirConsola } from './consola/route.ts'
import { servirDecision } from './decidir/route.ts'
import { servirDocumentacion } from './docs/route.ts'
import { Front } from './front.ts'
import { servirInicio } from './inicio/route.ts'
import { crearLecturaDeEnvios } from './rastreo/envio.ts'
import { servirRastreo } from './rastreo/route.ts'
import { servirRepartidor } from './repartidor/route.ts'
import { serveSecurityContact } from './securityTxt.ts'
import { servirUbicacion } from './ubicacion/route.ts'
import { serveComponentSheet } from './ui/route.ts'
import { servirVerificacion } from './verificar/route.ts'

/** Options of the pages that the composition root sets. */
export interface PageOptions {
  /** True to serve the local mailbox and the sheet of components, for trying the service out on this machine. */
  buzon: boolean
}

/**
 * Serves everything that people see, besides the contract's operations.
 * @returns the brand as the pages show it
 */
export function servePages(app: Express, deps: Deps, { buzon }: PageOptions): Front {
  const fachada = new Front(deps.ajustes.marca, deps.ajustes.urlPublica)
  servirDocumentacion(app, fachada, deps.ajustes.urlPublica)
  serveAssets(app, fachada.archivos)
  servirInicio(app, fachada)
  servirConsola(app, fachada)
  const { mosaicos, retencionDeUbicaciones: retencion } = deps.ajustes
  servirDecision(app, {
    fachada,
    decisiones: crearDecisiones(deps),
    retencion: Math.max(retencion, deps.ajustes.retencionDePersonas),
  })
  servirUbicacion(app, { fachada, solicitudes: crearSolicitudes(deps), mosaicos, retencion })
  servirRepartidor(app, fachada, deps.ajustes.retencionDePruebas)
  servirRastreo(app, { fachada, leer: crearLecturaDeEnvios(deps) })
  servirVerificacion(app, fachada, deps)
  serveSecurityContact(app, deps)
  if (buzon) {
    servirBuzon(app, fachada, deps)
    serveComponentSheet(app, fachada)
  }
  return fachada
}
