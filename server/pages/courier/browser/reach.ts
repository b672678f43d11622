// Ways to reach the next destination: by telephone, by message and with a map.
import { inGroups } from '../../../platform/codes/guideCode.ts'
import type { Heading } from './heading.ts'
import { pointOf } from './stops.ts'
import type { GuiaDeReparto } from './vocabulary.ts'

/** HTML attributes of a link that opens another app or site. */
export const EXTERNAL_LINK = { target: '_blank', rel: 'noopener noreferrer' }

/** Addresses that open apps of the phone. If the app is missing, a web site opens. */
export interface Links {
  /** Address that calls; null without a telephone. */
  callUrl: string | null
  /** Address that opens WhatsApp with a greeting; null without a telephone. */
  messageUrl: string | null
  /** Address of the route in Google Maps, or of a search for the address if no point is known. */
  google: string
  /** Address of the route in Waze; null if no point is known. */
  waze: string | null
  /** True if the map gets a point, and does not search for the address. */
  hasPlace: boolean
}

/**
 * Returns the addresses that lead to a guide's next destination.
 * @param caller courier's name, for the greeting
 */
export function linksTo(datos: GuiaDeReparto, heading: Heading, caller: string): Links {
  const { lugar, direccion, telefono } = heading
  const point = pointOf(lugar)
  const destino = encodeURIComponent(point ? `${point.lat},${point.lng}` : direccion)
  const mapUrl = !point && /^(https|geo):/i.test(lugar.maps_url ?? '') ? lugar.maps_url : null
  const greeting = encodeURIComponent(greetingFor(datos, heading, caller))
  return {
    callUrl: telefono && `tel:${telefono}`,
    messageUrl: telefono && `https://wa.me/${telefono.replace(/\D/g, '')}?text=${greeting}`,
    google: mapUrl ?? `https://www.google.com/maps/dir/?api=1&destination=${destino}`,
    waze: point && `https://waze.com/ul?ll=${destino}&navigate=yes`,
    hasPlace: point !== null || mapUrl !== null,
  }
}

function greetingFor(
  { destinatario, recogida, nombre_comercio, guia }: GuiaDeReparto,
  { target }: Heading,
  caller: string,
) {
  const de = nombre_comercio ? ` de ${nombre_comercio}` : ''
  const addressee = target === 'destinatario' ? destinatario : recogida?.contacto
  const purpose = {
    recogida: `vengo a recoger un paquete${de}`,
    destinatario: `traigo su paquete${de}`,
    comercio: `vengo a devolver un paquete${de}`,
  }[target]
  return `Hola${addressee ? `, ${addressee}` : ''}. Soy ${caller}, ${purpose} (guía ${inGroups(guia)}). `
}
