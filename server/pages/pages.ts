import type { Express } from 'express'
import type { CallOperation } from '../api/contract/calls.ts'
import { diaDeLaEmpresa } from '../domain/asignaciones/asignacion.ts'
import { crearDecisiones } from '../domain/decisiones/decidir.ts'
import type { Deps } from '../domain/deps.ts'
import type { AvisoDeRed } from '../domain/equipo/otraRed.ts'
import { crearSolicitudes } from '../domain/ubicacion/solicitud.ts'
import { serveAssets } from './assets.ts'
import { servirBuzon } from './buzon/route.ts'
import { serveOffice } from './central/route.ts'
import { servirConsola } from './consola/route.ts'
import { servirDecision } from './decidir/route.ts'
import { servirDocumentacion } from './docs/route.ts'
import { servirEntrada } from './entrar/route.ts'
import type { Front } from './front.ts'
import { servirInicio } from './inicio/route.ts'
import { serveAssistants } from './mcp/route.ts'
import { crearLecturaDeEnvios } from './rastreo/envio.ts'
import { servirRastreo } from './rastreo/route.ts'
import { servirRepartidor } from './repartidor/route.ts'
import { serveSecurityContact } from './securityTxt.ts'
import { servirUbicacion } from './ubicacion/route.ts'
import { serveComponentSheet } from './ui/route.ts'
import { servirVerificacion } from './verificar/route.ts'

/** Options of the pages that the composition root sets. */
export interface PageOptions {
  /** Brand that all pages show. */
  fachada: Front
  /** True to serve the local mailbox and the sheet of components, for trying the service out on this machine. */
  buzon: boolean
  call: CallOperation
  alUsarSesion: AvisoDeRed
}

/** Serves everything that people see, besides the contract's operations. */
export function servePages(app: Express, deps: Deps, { fachada, buzon, call, alUsarSesion }: PageOptions): void {
  const today = () => diaDeLaEmpresa(deps)
  servirDocumentacion(app, fachada, deps.ajustes.urlPublica, today)
  serveAssets(app, fachada.archivos)
  servirInicio(app, fachada)
  servirConsola(app, fachada, today)
  servirEntrada(app, fachada, { ...deps, alUsarSesion })
  serveOffice(app, fachada, deps, call)
  serveAssistants(app, deps, call)
  const { mosaicos, retencionDeUbicaciones: retencion } = deps.ajustes
  servirDecision(app, {
    fachada,
    decisiones: crearDecisiones(deps),
    mosaicos,
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
}
