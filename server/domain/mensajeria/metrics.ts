import type { WhatsappResult } from './whatsapp.ts'

/**
 * Result of an inbound message or status: `aplicado` to a message or guide, of no message (`sin_mensaje`) or open guide
 * (`sin_guia`) of this service, or `ilegible`.
 */
export type InboundResult = 'aplicado' | 'sin_mensaje' | 'sin_guia' | 'ilegible'

/** Counters of the messages. */
export interface MessageMetrics {
  /**
   * Counts an attempt to hand a message to the provider. `fallido`: the provider accepted the message, and delivery
   * failed later.
   */
  mensaje(result: WhatsappResult['resultado'] | 'fallido'): void
  /** Counts a message or status that WhatsApp sent. */
  entrante(result: InboundResult): void
}
