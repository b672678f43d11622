import type { Express } from 'express'
import type { CallOperation } from '../api/contract/calls.ts'
import { empresaDay } from '../domain/asignaciones/asignacion.ts'
import { createDecisiones } from '../domain/decisiones/decidir.ts'
import type { Deps } from '../domain/deps.ts'
import type { AvisoDeRed } from '../domain/equipo/otraRed.ts'
import { createUbicacionRequests } from '../domain/ubicacion/solicitud.ts'
import { serveAssets } from './assets.ts'
import { serveBuzon } from './buzon/route.ts'
import { serveOffice } from './central/route.ts'
import { serveConsole } from './consola/route.ts'
import { serveDecision } from './decidir/route.ts'
import { serveDocumentation } from './docs/route.ts'
import { serveSignIn } from './entrar/route.ts'
import type { Front } from './front.ts'
import { serveHome } from './inicio/route.ts'
import { serveAssistants } from './mcp/route.ts'
import { createShipmentReader } from './rastreo/envio.ts'
import { serveRastreo } from './rastreo/route.ts'
import { serveRepartidor } from './repartidor/route.ts'
import { serveSecurityContact } from './securityTxt.ts'
import { serveUbicacion } from './ubicacion/route.ts'
import { serveComponentSheet } from './ui/route.ts'
import { serveVerification } from './verificar/route.ts'

/** Options of the pages that the composition root sets. */
export interface PageOptions {
  /** Brand that all pages show. */
  front: Front
  /** True to serve the local mailbox and the sheet of components, for trying the service out on this machine. */
  buzon: boolean
  call: CallOperation
  onSesionUse: AvisoDeRed
}

/** Serves everything that people see, besides the contract's operations. */
export function servePages(app: Express, deps: Deps, { front, buzon, call, onSesionUse }: PageOptions): void {
  const today = () => empresaDay(deps)
  serveDocumentation(app, front, deps.settings.publicUrl, today)
  serveAssets(app, front.archivos)
  serveHome(app, front)
  serveConsole(app, front, today)
  serveSignIn(app, front, { ...deps, onSesionUse })
  serveOffice(app, front, deps, call)
  serveAssistants(app, deps, call)
  const { tiles, ubicacionRetention: retentionDays } = deps.settings
  serveDecision(app, {
    front,
    decisiones: createDecisiones(deps),
    tiles,
    retentionDays: Math.max(retentionDays, deps.settings.personaRetention),
  })
  serveUbicacion(app, { front, solicitudes: createUbicacionRequests(deps), tiles, retentionDays })
  serveRepartidor(app, front, deps.settings.pruebaRetention)
  serveRastreo(app, { front, leer: createShipmentReader(deps) })
  serveVerification(app, front, deps)
  serveSecurityContact(app, deps)
  if (buzon) {
    serveBuzon(app, front, deps)
    serveComponentSheet(app, front)
  }
}
