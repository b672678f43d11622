import type { Respuesta } from './respuesta.ts'

/** The counters and histograms of sending webhooks. */
export interface MetricasDeWebhooks {
  intento: (error: Respuesta['error'], segundos: number) => void
  aviso: (que: 'deshabilitado' | 'aviso', motivo: string) => void
}
