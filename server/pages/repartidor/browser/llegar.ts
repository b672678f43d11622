// Ways to reach the next destination: by telephone, by message and with a map.
import { inGroups } from '../../../platform/codes/guideCode.ts'
import type { GuiaDeReparto } from './dominio.ts'
import { puntoDe } from './paradas.ts'
import type { Rumbo } from './rumbo.ts'

/** HTML attributes of a link that opens another app or site. */
export const FUERA = { target: '_blank', rel: 'noopener noreferrer' }

/** Addresses that open apps of the phone. If the app is missing, a web site opens. */
export interface Llegar {
  /** Address that calls; null without a telephone. */
  llamar: string | null
  /** Address that opens WhatsApp with a greeting; null without a telephone. */
  escribir: string | null
  /** Address of the route in Google Maps, or of a search for the address if no point is known. */
  google: string
  /** Address of the route in Waze; null if no point is known. */
  waze: string | null
  /** True if the map gets a point, and does not search for the address. */
  conLugar: boolean
}

/**
 * Returns the addresses that lead to a guide's next destination.
 * @param quien courier's name, for the greeting
 */
export function llegarA(datos: GuiaDeReparto, rumbo: Rumbo, quien: string): Llegar {
  const { lugar, direccion, telefono } = rumbo
  const punto = puntoDe(lugar)
  const destino = encodeURIComponent(punto ? `${punto.lat},${punto.lng}` : direccion)
  const enMapa = !punto && /^(https|geo):/i.test(lugar.maps_url ?? '') ? lugar.maps_url : null
  const saludo = encodeURIComponent(saludoDe(datos, rumbo, quien))
  return {
    llamar: telefono && `tel:${telefono}`,
    escribir: telefono && `https://wa.me/${telefono.replace(/\D/g, '')}?text=${saludo}`,
    google: enMapa ?? `https://www.google.com/maps/dir/?api=1&destination=${destino}`,
    waze: punto && `https://waze.com/ul?ll=${destino}&navigate=yes`,
    conLugar: punto !== null || enMapa !== null,
  }
}

function saludoDe({ destinatario, recogida, nombre_comercio, guia }: GuiaDeReparto, { hacia }: Rumbo, quien: string) {
  const de = nombre_comercio ? ` de ${nombre_comercio}` : ''
  const aQuien = hacia === 'destinatario' ? destinatario : recogida?.contacto
  const aQue = {
    recogida: `vengo a recoger un paquete${de}`,
    destinatario: `traigo su paquete${de}`,
    comercio: `vengo a devolver un paquete${de}`,
  }[hacia]
  return `Hola${aQuien ? `, ${aQuien}` : ''}. Soy ${quien}, ${aQue} (guía ${inGroups(guia)}). `
}
