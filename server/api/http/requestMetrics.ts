import type { NetworkClass } from '../limits/limits.ts'

/** Counts of the requests that a process answers. */
export interface RequestMetrics {
  /**
   * Counts an answer.
   * @param operation operationId; `pagina` for pages and unknown paths, `en_vivo` for streams that stay open
   * @param trace id of the request's trace; undefined if it is not traced
   */
  solicitud(operation: string, status: number, seconds: number, trace?: string): void
  /** Counts a request that was refused with 503 because too many were under way. */
  countSaturated(): void
  /** Counts a request that the network gate refused. */
  rechazo(networkClass: NetworkClass): void
}
