import { type Atender, contestar, type OpcionesDeRecepcion, type SolicitudDeNode } from '@guias/sdk/webhooks'

export type { Atender, OpcionesDeRecepcion } from '@guias/sdk/webhooks'

/** Parte de la respuesta de Express que se usa. */
export interface RespuestaDeExpress {
  setHeader(nombre: string, valor: string): unknown
  sendStatus(estado: number): unknown
}

/**
 * Receptor de webhooks para Express 4 y 5. Comprueba cada solicitud, espera a `atender` y contesta. No necesita
 * `express.raw`; si usa `express.json()`, ponga esta ruta antes.
 *
 * ```ts
 * app.post('/webhooks/guias', recibirWebhooks(async (aviso) => {
 *   await guardar(aviso) // una vez por aviso.id: puede llegar más de una
 * }))
 * ```
 */
export const recibirWebhooks =
  (atender: Atender, opciones?: OpcionesDeRecepcion) =>
  async (solicitud: SolicitudDeNode, respuesta: RespuestaDeExpress): Promise<void> => {
    const estado = await contestar(solicitud, atender, opciones)
    // The rest of the body stays unread, so the connection cannot serve another request.
    if (estado === 413) respuesta.setHeader('Connection', 'close')
    respuesta.sendStatus(estado)
  }
