import type { WhatsappResult } from './whatsapp.ts'

/** Counters of the message sender. */
export interface MessageMetrics {
  /**
   * Counts an attempt to hand a message to the provider. `fallido`: the provider accepted the message, and delivery
   * failed later.
   */
  mensaje(resultado: WhatsappResult['resultado'] | 'fallido'): void
}
