import type { ExchangeResult } from './response.ts'

/** Counters and histograms of the webhooks that are sent. */
export interface WebhookMetrics {
  intento: (error: ExchangeResult['error'], segundos: number) => void
  aviso: (que: 'deshabilitado' | 'aviso', motivo: string) => void
}
