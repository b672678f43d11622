import { type Atender, contestar, type OpcionesDeRecepcion, type SolicitudDeNode } from '@guias/sdk/webhooks'

export type { Atender, OpcionesDeRecepcion } from '@guias/sdk/webhooks'

/** Parte de la solicitud de Fastify que se usa. */
export interface SolicitudDeFastify {
  readonly body: unknown
  readonly headers: SolicitudDeNode['headers']
}

/** Parte de la respuesta de Fastify que se usa. */
export interface RespuestaDeFastify {
  code(estado: number): { send(cuerpo?: unknown): unknown }
}

/** Parte de Fastify que se usa. */
export interface AplicacionDeFastify {
  removeAllContentTypeParsers(): void
  addContentTypeParser(
    tipo: string,
    opciones: { parseAs: 'buffer'; bodyLimit?: number },
    leer: (solicitud: never, cuerpo: never, listo: never) => unknown,
  ): unknown
  post(
    ruta: string,
    opciones: { bodyLimit?: number },
    atender: (solicitud: SolicitudDeFastify, respuesta: RespuestaDeFastify) => Promise<unknown>,
  ): unknown
}

const BODY_LIMIT_BYTES = 1024 * 1024

/**
 * Receptor de webhooks para Fastify, como complemento. Comprueba cada solicitud, espera a `atender` y contesta. Va en un
 * contexto propio: solo ahí el cuerpo llega como bytes.
 *
 * ```ts
 * app.register(recibirWebhooks(async (aviso) => {
 *   await guardar(aviso) // una vez por aviso.id: puede llegar más de una
 * }), { prefix: '/webhooks/guias' })
 * ```
 */
export const recibirWebhooks =
  (atender: Atender, opciones?: OpcionesDeRecepcion) =>
  async (app: AplicacionDeFastify): Promise<void> => {
    const bodyLimit = opciones?.limite ?? BODY_LIMIT_BYTES
    app.removeAllContentTypeParsers()
    app.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, keepBytes)
    app.post('/', { bodyLimit }, async ({ headers, body }, respuesta) =>
      respuesta.code(await contestar(toReceivedRequest(headers, body), atender, opciones)).send(),
    )
  }

/** Parser of Fastify that leaves the bytes as they came. */
const keepBytes = (_request: unknown, cuerpo: unknown, listo: (error: null, cuerpo: unknown) => void) =>
  listo(null, cuerpo)

/** Returns a request whose body Fastify has read: its bytes, or none. */
const toReceivedRequest = (headers: SolicitudDeNode['headers'], body: unknown): SolicitudDeNode => ({
  headers,
  body: body ?? new Uint8Array(),
  async *[Symbol.asyncIterator]() {},
})
