import type { Readable } from 'node:stream'

/** An answer's body that is sent as it is read from a stream. */
export class Flujo {
  readonly mime: string
  readonly bytes: number
  readonly contenido: Readable
  constructor(mime: string, bytes: number, contenido: Readable) {
    this.mime = mime
    this.bytes = bytes
    this.contenido = contenido
  }
}
