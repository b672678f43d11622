import type { Readable } from 'node:stream'

/** Body of an answer that is read from a stream while it is sent. */
export class ByteStream {
  readonly mime: string
  /** Size in bytes; undefined for a HEAD request whose content was not produced. */
  readonly bytes: number | undefined
  readonly content: Readable
  constructor(mime: string, bytes: number | undefined, content: Readable) {
    this.mime = mime
    this.bytes = bytes
    this.content = content
  }
}
