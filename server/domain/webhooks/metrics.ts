import type { Respuesta } from './response.ts'

/** Counters and histograms of the webhooks that are sent. */
export interface MetricasDeWebhooks {
  intento: (error: Respuesta['error'], segundos: number) => void
  aviso: (que: 'deshabilitado' | 'aviso', motivo: string) => void
}
