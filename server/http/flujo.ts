import type { Readable } from 'node:stream'

/** An answer's body that is sent as it is read from a stream. */
export class Flujo {
  readonly mime: string
  /** Undefined: nobody made it, for nobody asked for more than its headers. */
  readonly bytes: number | undefined
  readonly contenido: Readable
  constructor(mime: string, bytes: number | undefined, contenido: Readable) {
    this.mime = mime
    this.bytes = bytes
    this.contenido = contenido
  }
}
