import { type Atender, contestar, type OpcionesDeRecepcion } from '@guias/sdk/webhooks'

export type { Atender, OpcionesDeRecepcion } from '@guias/sdk/webhooks'

/** Parte del contexto de Hono que se usa. */
export interface ContextoDeHono {
  readonly req: { readonly raw: Request }
  readonly env?: unknown
}

/**
 * Receptor de webhooks para Hono, en Node, Deno, Bun y Workers. Comprueba cada solicitud, espera a `atender` y contesta.
 * En Workers toma el secreto de `c.env.GUIAS_SECRETO`.
 *
 * ```ts
 * app.post('/webhooks/guias', recibirWebhooks(async (aviso) => {
 *   await guardar(aviso) // una vez por aviso.id: puede llegar más de una
 * }))
 * ```
 */
export const recibirWebhooks =
  (atender: Atender, opciones?: OpcionesDeRecepcion) =>
  async ({ req, env }: ContextoDeHono): Promise<Response> => {
    const { GUIAS_SECRETO } = Object(env) as { GUIAS_SECRETO?: string }
    const secreto = opciones?.secreto ?? GUIAS_SECRETO?.split(',')
    return new Response(null, { status: await contestar(req.raw, atender, { ...opciones, secreto }) })
  }
