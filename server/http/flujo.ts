import type { Readable } from 'node:stream'

/** Bytes as an answer, sent as they are read. */
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
