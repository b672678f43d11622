import { noDisponible } from '../errores.ts'

interface Reglas {
  /** Documents kept at most. */
  cuantos: number
  /** Bytes kept at most; what is larger alone is given and not kept. */
  bytes: number
  /** How long one is kept, in milliseconds. */
  vigencia: number
}

/** A document in the making, and how many wait for it. */
interface EnCurso {
  readonly hecho: Promise<Buffer>
  readonly control: AbortController
  esperan: number
}

/**
 * Documents of this process that were made lately, by what they are made of. Whoever asks for one that is being made waits
 * for that one, and it is given up when nobody waits for it any more: a link that is opened over and over costs one drawing.
 */
export class Recientes {
  readonly #reglas: Reglas
  readonly #hechos = new Map<string, Buffer>()
  readonly #enCurso = new Map<string, EnCurso>()
  #bytes = 0

  constructor(reglas: Reglas) {
    this.#reglas = reglas
  }

  /** The document, if it is kept. */
  hallar(clave: string): Buffer | undefined {
    return this.#hechos.get(clave)
  }

  /**
   * Gives the document, made by `hacer` unless it is there or being made.
   * @param senal aborts when whoever asks has gone
   * @throws Problema 503 if it aborts; whatever `hacer` throws
   */
  async dar(clave: string, hacer: (senal: AbortSignal) => Promise<Buffer>, senal: AbortSignal): Promise<Buffer> {
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
    // Whoever waited was told already.
    suyo.hecho.catch(() => {})
    suyo.control.abort()
  }

  #guardar(clave: string, documento: Buffer): void {
    const { cuantos, bytes, vigencia } = this.#reglas
    if (documento.length > bytes) return
    this.#hechos.set(clave, documento)
    this.#bytes += documento.length
    setTimeout(() => this.#olvidar(clave, documento), vigencia).unref()
    // A Map keeps the order of insertion: the first is the oldest.
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

const abandonada = () => noDisponible('La solicitud se abandonó.')
