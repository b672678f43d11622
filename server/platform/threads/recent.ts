import { unavailable } from '../errors.ts'

interface Reglas {
  /** Maximum number of cached documents. */
  cuantos: number
  /** Maximum size of the cache, in bytes. A document that alone is larger is returned but not cached. */
  bytes: number
  /** Time for which a document is cached, in milliseconds. */
  vigencia: number
}

/** Document in preparation, and the number of requests that wait for it. */
interface EnCurso {
  readonly hecho: Promise<Buffer>
  readonly control: AbortController
  esperan: number
}

/**
 * Cache of documents that this process made recently, by the data that determine them. Requests for a document in
 * preparation wait for that document. Preparation stops when no request waits any more. A link that is opened many
 * times therefore costs a single drawing.
 */
export class RecentDocuments {
  readonly #reglas: Reglas
  readonly #hechos = new Map<string, Buffer>()
  readonly #enCurso = new Map<string, EnCurso>()
  #bytes = 0

  constructor(reglas: Reglas) {
    this.#reglas = reglas
  }

  /** Returns the document if it is cached. */
  find(clave: string): Buffer | undefined {
    return this.#hechos.get(clave)
  }

  /**
   * Returns the document, which `hacer` makes unless it is cached or in preparation.
   * @param senal aborts when the client has disconnected
   * @throws Problema 503 if the signal aborts; any error of `hacer`
   */
  async get(clave: string, hacer: (senal: AbortSignal) => Promise<Buffer>, senal: AbortSignal): Promise<Buffer> {
    if (senal.aborted) throw abandonada()
    const hecho = this.#hechos.get(clave)
    if (hecho) return hecho
    const suyo = this.#enCurso.get(clave) ?? this.#empezar(clave, hacer)
    suyo.esperan++
    const ido = Promise.withResolvers<never>()
    const irse = () => ido.reject(abandonada())
    senal.addEventListener('abort', irse)
    try {
      return await Promise.race([suyo.hecho, ido.promise])
    } finally {
      senal.removeEventListener('abort', irse)
      suyo.esperan--
      if (suyo.esperan === 0) this.#terminar(clave, suyo)
    }
  }

  #empezar(clave: string, hacer: (senal: AbortSignal) => Promise<Buffer>): EnCurso {
    const control = new AbortController()
    const hecho = (async () => {
      const documento = await hacer(control.signal)
      this.#guardar(clave, documento)
      return documento
    })()
    const nuevo = { hecho, control, esperan: 0 }
    this.#enCurso.set(clave, nuevo)
    return nuevo
  }

  #terminar(clave: string, suyo: EnCurso): void {
    if (this.#enCurso.get(clave) === suyo) this.#enCurso.delete(clave)
    // All waiting requests already got the error of this document, so it must not be reported as unhandled.
    suyo.hecho.catch(() => {})
    suyo.control.abort()
  }

  #guardar(clave: string, documento: Buffer): void {
    const { cuantos, bytes, vigencia } = this.#reglas
    if (documento.length > bytes) return
    // A document that was abandoned while in preparation may be ready after the document that replaced it. The key then
    // already has a document.
    const anterior = this.#hechos.get(clave)
    if (anterior) this.#olvidar(clave, anterior)
    this.#hechos.set(clave, documento)
    this.#bytes += documento.length
    setTimeout(() => this.#olvidar(clave, documento), vigencia).unref()
    // A Map keeps insertion order, so its first document is the oldest.
    for (const [otra, viejo] of this.#hechos) {
      if (this.#hechos.size <= cuantos && this.#bytes <= bytes) break
      this.#olvidar(otra, viejo)
    }
  }

  #olvidar(clave: string, documento: Buffer): void {
    if (this.#hechos.get(clave) !== documento) return
    this.#hechos.delete(clave)
    this.#bytes -= documento.length
  }
}

const abandonada = () => unavailable('La solicitud se abandonó.')
