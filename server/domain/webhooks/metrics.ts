import type { ExchangeResult } from './attempt.ts'

/** Counters and histograms about sent webhooks. */
export interface WebhookMetrics {
  /** @param trace id of the trace of the attempt; undefined if it is not traced */
  intento: (error: ExchangeResult['error'], seconds: number, trace?: string) => void
  aviso: (kind: 'deshabilitado' | 'aviso', motivo: string) => void
}
