import type { Express } from 'express'
import type { CallOperation } from '../api/contract/calls.ts'
import { companyDay } from '../domain/asignaciones/asignacion.ts'
import { createDecisiones } from '../domain/decisiones/decidir.ts'
import type { Deps } from '../domain/deps.ts'
import type { NetworkNotice } from '../domain/equipo/sessions/otherNetwork.ts'
import { createUbicacionRequests } from '../domain/ubicacion/request.ts'
import { serveAssets } from './assets.ts'
import { serveOffice } from './central/route.ts'
import { serveConsole } from './console/route.ts'
import { serveRepartidor } from './courier/route.ts'
import { serveDecision } from './decide/route.ts'
import { serveDocumentation } from './docs/route.ts'
import type { Front } from './front.ts'
import { serveHome } from './home/route.ts'
import { serveUbicacion } from './location/route.ts'
import { serveBuzon } from './mailbox/route.ts'
import { serveAssistants } from './mcp/route.ts'
import { serveSecurityContact } from './securityTxt.ts'
import { serveSignIn } from './signIn/route.ts'
import { serveRastreo } from './tracking/route.ts'
import { createShipmentReader } from './tracking/shipment.ts'
import { serveComponentSheet } from './ui/route.ts'
import { serveVerification } from './verify/route.ts'

/** Options of the pages that the composition root sets. */
export interface PageOptions {
  /** Brand that all pages show. */
  front: Front
  /** True to serve the local mailbox and the sheet of components, for trying the service out on this machine. */
  buzon: boolean
  call: CallOperation
  onSesionUse: NetworkNotice
}

/** Serves everything that people see, besides the contract's operations. */
export function servePages(app: Express, deps: Deps, { front, buzon, call, onSesionUse }: PageOptions): void {
  const today = () => companyDay(deps)
  serveDocumentation(app, front, deps.settings.publicUrl, today)
  serveAssets(app, front.archivos)
  serveHome(app, front)
  serveConsole(app, front, today)
  serveSignIn(app, front, { ...deps, onSesionUse })
  serveOffice(app, front, deps, call)
  serveAssistants(app, deps, call)
  const { tiles, ubicacionRetention: retentionDays } = deps.settings
  const readShipment = createShipmentReader(deps)
  serveDecision(app, {
    front,
    decisiones: createDecisiones(deps),
    readShipment,
    tiles,
    retentionDays: Math.max(retentionDays, deps.settings.personaRetention),
  })
  serveUbicacion(app, { front, solicitudes: createUbicacionRequests(deps), readShipment, tiles, retentionDays })
  serveRepartidor(app, front, deps.settings.pruebaRetention)
  serveRastreo(app, { front, read: readShipment })
  serveVerification(app, front, deps)
  serveSecurityContact(app, deps)
  if (buzon) {
    serveBuzon(app, front, deps)
    serveComponentSheet(app, front)
  }
}
