// Result of an attempt. It is stored, and described for the merchant.

/** Kind of error of an exchange. */
export type SendError =
  | 'http'
  | 'redireccion'
  | 'tiempo_agotado'
  | 'dns'
  | 'conexion'
  | 'tls'
  | 'destino_no_permitido'
  | 'respuesta_invalida'

export interface ExchangeResult {
  status: number | null
  /** Kind of error; null exactly if the status is 2xx. */
  error: SendError | null
  /** Description of the error in words for the merchant; null on success. */
  detalle: string | null
  /**
   * Headers of the response with names in lower case, at most 40 headers and 4 KB in all. A value that may be a secret
   * is '***'.
   */
  cabeceras: Record<string, string> | null
  /** First bytes of the response as UTF-8, without NUL; U+FFFD stands for invalid bytes. Null if no response came. */
  cuerpo: string | null
  /** True if the body continues after `cuerpo`: it was longer, or the deadline or the receiver cut it. */
  cuerpo_truncado: boolean
  retry_after: string | null
  /** IP address of the connection. */
  ip: string | null
  /** Duration of the DNS look-up, in milliseconds. Null on a reused connection, as are the durations of TCP and TLS. */
  dns_ms: number | null
  conexion_ms: number | null
  tls_ms: number | null
  /** Milliseconds from the start of the attempt to the first byte of the response. */
  primer_byte_ms: number | null
  total_ms: number
}
