/** Next.js, con el enrutador de `app`: guárdelo como `app/webhooks/guias/route.ts`. */
import { ErrorFirma, verificarWebhook } from '@guias/sdk'
import { atender, esNuevo } from './atender.ts'

export async function POST(request: Request): Promise<Response> {
  try {
    const aviso = await verificarWebhook(await request.text(), request.headers, process.env.GUIAS_SECRETO!)
    if (esNuevo(aviso)) console.log(atender(aviso))
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof ErrorFirma)) throw error
    console.error(error.motivo, error.message)
    return new Response(null, { status: 400 })
  }
}
