import type { TipoDeMensaje } from '../../generated/contract/types/index.ts'
import { createClock } from '../../platform/time/clock.ts'

interface TextData {
  tipo: TipoDeMensaje
  /** Name of the courier company. */
  brand: string
  /** Name of the merchant. */
  comercio: string
  municipio: string
  /** End of the link; null if the message has none yet. */
  vence_en: Date | null
  /** IANA time zone of the guide's destination. */
  zona: string
}

/** Returns the time until which a recipient may decide, as the message says it. */
export const decisionDeadline = (vence_en: Date, zone: string) => createClock(zone).formatLong(vence_en.toISOString())

/**
 * Returns the text of a message, without its link. Each text names the courier company and the merchant, because the
 * recipient does not know the sending number. The texts of the two requests must equal the templates in
 * `docs/operacion/whatsapp.md` that WhatsApp has approved.
 */
export function mensajeTextOf({ tipo, brand, comercio, municipio, vence_en, zona }: TextData): string {
  switch (tipo) {
    case 'solicitud_ubicacion':
      return `Le escribe ${brand}. ${comercio} le envía un paquete a ${municipio}. Díganos dónde entregarlo:`
    case 'solicitud_decision': {
      const until = vence_en ? `, hasta el ${decisionDeadline(vence_en, zona)}` : ''
      return `Le escribe ${brand}. No pudimos entregarle su paquete de ${comercio}. Díganos qué hacemos${until}:`
    }
    case 'peticion_interactiva':
      return `Le escribe ${brand}. Para entregarle su paquete de ${comercio} necesitamos su ubicación. Toque el botón y envíela.`
    case 'acuse':
      return `¡Gracias! En ${brand} ya sabemos dónde entregarle su paquete de ${comercio}.`
  }
}
