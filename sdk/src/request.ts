/** Respuesta entera: los datos, y el estado, las cabeceras y el identificador que vinieron con ellos. */
export interface Respuesta<T> {
  /** Los datos de la respuesta. */
  datos: T
  /** Estado HTTP de la respuesta. */
  estadoHttp: number
  /** Cabeceras HTTP de la respuesta. */
  cabeceras: Headers
  /** Identificador de la solicitud (`X-Request-Id`); cítelo al escribirnos. */
  idSolicitud: string | null
  /**
   * Verdadero si una solicitud igual, con la misma `external_ref` o la misma clave de idempotencia, ya hizo lo que se pide. La
   * respuesta trae lo que aquella hizo.
   */
  repetida: boolean
}

/** Solicitud en curso. Con `await` da los datos; con {@link Solicitud.conRespuesta}, la respuesta entera. */
export class Solicitud<T> extends Promise<T> {
  readonly #response: Promise<Respuesta<T>>

  /**
   * Creates a request in progress; only this package calls it.
   * @internal
   */
  constructor(respuesta: Promise<Respuesta<T>>) {
    super((resolve, reject) => {
      respuesta.then(({ datos }) => resolve(datos), reject)
    })
    this.#response = respuesta
  }

  // `then`, `catch` and `finally` return a plain promise, because this constructor takes no executor.
  /**
   * Class of the promises that `then`, `catch` and `finally` return.
   * @internal
   */
  static override get [Symbol.species](): PromiseConstructor {
    return Promise
  }

  /**
   * Da la respuesta entera de esta solicitud, sin enviar otra.
   *
   * ```ts
   * const { datos, repetida, idSolicitud } = await api.guias.crear(guia).conRespuesta()
   * ```
   */
  conRespuesta(): Promise<Respuesta<T>> {
    // The caller handles the failure through the other promise, so the rejection of this promise must not be reported
    // as unhandled.
    this.catch(() => {})
    return this.#response
  }
}
