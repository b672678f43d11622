import { type Atender, contestar, type OpcionesDeRecepcion } from '@guias/sdk/webhooks'

export type { Atender, OpcionesDeRecepcion } from '@guias/sdk/webhooks'

/**
 * Receptor de webhooks para el App Router de Next.js, y para cualquier servidor que va de `Request` a `Response` (Deno,
 * Bun, Workers). Comprueba cada solicitud, espera a `atender` y contesta. En `app/webhooks/guias/route.ts`:
 *
 * ```ts
 * export const POST = recibirWebhooks(async (aviso) => {
 *   await guardar(aviso) // una vez por aviso.id: puede llegar más de una
 * })
 * ```
 */
export const recibirWebhooks =
  (atender: Atender, opciones?: OpcionesDeRecepcion) =>
  async (solicitud: Request): Promise<Response> =>
    new Response(null, { status: await contestar(solicitud, atender, opciones) })
