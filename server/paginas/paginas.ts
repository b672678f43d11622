import type { Express } from 'express'
import type { Deps } from '../deps.ts'
import { servirBuzon } from './buzon/ruta.ts'
import { servirDocumentacion } from './docs/ruta.ts'
import { crearLecturaDeEnvios } from './rastreo/envio.ts'
import { servirRastreo } from './rastreo/ruta.ts'
import { servirRepartidor } from './repartidor/ruta.ts'
import { type OpcionesDeUbicacion, servirUbicacion } from './ubicacion/ruta.ts'
import { servirVerificacion } from './verificar/ruta.ts'

export interface OpcionesDePaginas {
  /** Whether the local mailbox is a page, for whoever tries the service out. */
  buzon: boolean
}

/** All that people see, beside the contract's operations. */
export function servirPaginas(
  app: Express,
  deps: Deps & Pick<OpcionesDeUbicacion, 'solicitudes'>,
  { buzon }: OpcionesDePaginas,
) {
  servirDocumentacion(app)
  servirUbicacion(app, { solicitudes: deps.solicitudes, mosaicos: deps.ajustes.mosaicos })
  servirRepartidor(app)
  servirRastreo(app, { leer: crearLecturaDeEnvios(deps) })
  servirVerificacion(app, deps)
  if (buzon) servirBuzon(app, deps)
}
