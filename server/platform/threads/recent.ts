import { unavailable } from '../errors.ts'

interface CacheRules {
  /** Maximum number of cached documents. */
  count: number
  /** Maximum size of the cache, in bytes. A document that alone is larger is returned but not cached. */
  bytes: number
  /** Time for which a document is cached, in milliseconds. */
  ttl: number
}

/** Document in preparation, and the number of requests that wait for it. */
interface Preparation {
  readonly result: Promise<Buffer>
  readonly control: AbortController
  waiters: number
}

/**
 * Cache of documents that this process made recently, by the data that determine them. Requests for a document in
 * preparation wait for that document. Preparation stops when no request waits any more. A link that is opened many
 * times therefore costs a single drawing.
 */
export class RecentDocuments {
  readonly #rules: CacheRules
  readonly #documents = new Map<string, Buffer>()
  readonly #preparations = new Map<string, Preparation>()
  #bytes = 0

  constructor(rules: CacheRules) {
    this.#rules = rules
  }

  /** Returns the document if it is cached. */
  find(key: string): Buffer | undefined {
    return this.#documents.get(key)
  }

  /**
   * Returns the document, which `work` makes unless it is cached or in preparation.
   * @param signal aborts when the client has disconnected
   * @throws Problema 503 if the signal aborts; any error of `work`
   */
  async get(key: string, work: (signal: AbortSignal) => Promise<Buffer>, signal: AbortSignal): Promise<Buffer> {
    if (signal.aborted) throw abandoned()
    const result = this.#documents.get(key)
    if (result) return result
    const preparation = this.#preparations.get(key) ?? this.#begin(key, work)
    preparation.waiters++
    const departure = Promise.withResolvers<never>()
    const leave = () => departure.reject(abandoned())
    signal.addEventListener('abort', leave)
    try {
      return await Promise.race([preparation.result, departure.promise])
    } finally {
      signal.removeEventListener('abort', leave)
      preparation.waiters--
      if (preparation.waiters === 0) this.#finish(key, preparation)
    }
  }

  #begin(key: string, work: (signal: AbortSignal) => Promise<Buffer>): Preparation {
    const control = new AbortController()
    const result = (async () => {
      const document = await work(control.signal)
      this.#store(key, document)
      return document
    })()
    const nuevo = { result, control, waiters: 0 }
    this.#preparations.set(key, nuevo)
    return nuevo
  }

  #finish(key: string, preparation: Preparation): void {
    if (this.#preparations.get(key) === preparation) this.#preparations.delete(key)
    // All waiting requests already got the error of this document, so it must not be reported as unhandled.
    preparation.result.catch(() => {})
    preparation.control.abort()
  }

  #store(key: string, document: Buffer): void {
    const { count, bytes, ttl } = this.#rules
    if (document.length > bytes) return
    // A document that was abandoned while in preparation may be ready after the document that replaced it. The key then
    // already has a document.
    const previous = this.#documents.get(key)
    if (previous) this.#forget(key, previous)
    this.#documents.set(key, document)
    this.#bytes += document.length
    setTimeout(() => this.#forget(key, document), ttl).unref()
    // A Map keeps insertion order, so its first document is the oldest.
    for (const [otherKey, oldDocument] of this.#documents) {
      if (this.#documents.size <= count && this.#bytes <= bytes) break
      this.#forget(otherKey, oldDocument)
    }
  }

  #forget(key: string, document: Buffer): void {
    if (this.#documents.get(key) !== document) return
    this.#documents.delete(key)
    this.#bytes -= document.length
  }
}

const abandoned = () => unavailable('La solicitud se abandonó.')
