/** Clave pública de Ed25519 (JWK: RFC 7517, RFC 8037). */
export interface ClavePublica {
  /** Tipo de clave: `OKP`. */
  kty: string
  /** Curva de la clave: `Ed25519`. */
  crv: string
  /** La clave pública: 32 bytes en base64url. */
  x: string
  /** Nombre con que los manifiestos citan la clave: su huella (RFC 7638). */
  kid: string
  /** Uso de la clave: `sig`, firmar. */
  use?: string
  /** Algoritmo con que firma la clave: `EdDSA`. */
  alg?: string
}

/**
 * Claves con que se firman las pruebas de entrega: un JWK Set, como lo publica `/.well-known/jwks.json`. Las da
 * `api.guias.clavesPublicas()`, o el archivo que usted guardó. Una clave retirada sigue sirviendo para comprobar lo que
 * firmó.
 */
export interface ClavesPublicas {
  /** La clave actual y las retiradas. */
  keys: readonly ClavePublica[]
}
