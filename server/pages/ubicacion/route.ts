import type { Express } from 'express'
import { NetworkLimit } from '../../api/limits/networkLimit.ts'
import type { Solicitudes } from '../../domain/ubicacion/solicitud.ts'
import { serveAssets } from '../assets.ts'
import { FormError } from '../form.ts'
import type { Front } from '../front.ts'
import { servePage } from '../page.ts'
import { privacidadDelLugar } from '../privacidad.ts'
import { FALLO_DE_UBICACION, MAL_PEDIDA, SOLICITUD_DESCONOCIDA } from './despues.ts'
import { createLinkLimits, LINK_TOKEN } from './enlace.ts'
import { leerFormulario } from './formulario.ts'
import { crearHojas } from './hojas.ts'
import { locationFiles, type Mosaicos, mapOf, tileOrigin } from './mosaicos.ts'
import { PREGUNTA } from './partes.ts'
import { cabezaDeUbicacion } from './view.ts'

export interface OpcionesDeUbicacion {
  fachada: Front
  solicitudes: Solicitudes
  /** Source of the map tiles; null if the service offers no map. */
  mosaicos: Mosaicos | null
  /** Days that locations are kept after the guide ends. */
  retencion: number
  /** Clock of the rate limits, in milliseconds; only differences count. */
  reloj?: () => number
}

/**
 * Rate of new links that one network may request, for all guides together; a network may be a whole mobile network.
 * Each guide and each telephone has a lower limit of its own.
 */
const OTROS = { porSegundo: 1 / 60, rafaga: 30 }

/** Link preview of the page. It says nothing about the parcel, because messaging apps keep previews. */
const VISTA_PREVIA = {
  titulo: PREGUNTA,
  descripcion: 'Díganos el lugar exacto para que el repartidor lo encuentre.',
}

/**
 * Serves `/u/{token}`, where the recipient says where to deliver. The token is the only authorization, and is never
 * logged.
 */
export function servirUbicacion(
  app: Express,
  { fachada, solicitudes, mosaicos, retencion, reloj }: OpcionesDeUbicacion,
) {
  const recursos = locationFiles()
  const otros = new NetworkLimit(OTROS, reloj ? { reloj } : {})
  const { ver, recibir } = crearHojas(solicitudes, {
    mapaDe: mapOf(mosaicos),
    porOtro: (red) => otros.take(red),
  })
  serveAssets(app, recursos.archivos)
  servePage(app, '/u', {
    metodos: ['POST'],
    cabeceras: politica(fachada, mosaicos),
    cabeza: ({ raiz }) => cabezaDeUbicacion((archivo) => raiz + recursos.ruta(archivo)),
    fachada,
    previa: VISTA_PREVIA,
    nota: privacidadDelLugar(retencion),
    fallo: FALLO_DE_UBICACION,
    esperar: createLinkLimits(reloj),
    async atender({ req, resto: token, raiz, red, leyendo }) {
      if (!LINK_TOKEN.test(token)) return { status: 404, ...SOLICITUD_DESCONOCIDA }
      const abierto = { token, raiz, red }
      if (leyendo) return ver(abierto, req.query.cambiar === undefined ? {} : { cambiar: '1' })
      try {
        return await recibir(abierto, await leerFormulario(req))
      } catch (error) {
        if (error instanceof FormError) return { status: error.status, ...MAL_PEDIDA }
        throw error
      }
    },
  })
}

/**
 * Returns the policy headers of the page. The page loads its own files and the map tiles, its form posts only to this
 * service, and no site may frame it.
 */
function politica(fachada: Front, mosaicos: Mosaicos | null) {
  const origen = tileOrigin(mosaicos)
  return fachada.permisos(
    {
      'script-src': "'self'",
      'style-src': "'self'",
      ...(origen ? { 'img-src': origen } : {}),
      'connect-src': "'self'",
      'form-action': "'self'",
    },
    ['geolocation'],
  )
}
